//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// row is the result of a scenario on a database.
type row struct {
	Database     string         `json:"database"`
	Scenario     string         `json:"scenario"`
	LeftOut      string         `json:"left_out,omitempty"` // why it was skipped
	Acknowledged int            `json:"acknowledged"`       // acknowledged operations
	Lost         int            `json:"lost"`
	Doubled      int            `json:"doubled"`
	Answers      map[string]int `json:"answers"` // by status; "none" if there was no response
	Slowest      float64        `json:"slowest_refusal_ms"`
	Recovered    []float64      `json:"recovered_ms"`
	Repeated     int            `json:"mails_repeated"` // with the same id, which is allowed
	Wrong        int            `json:"wrong"`
	Examples     []string       `json:"examples,omitempty"` // examples of unexpected behavior
	Took         float64        `json:"seconds"`

	slow bool // whether a recovery took too long
}

// isBroken reports whether the service broke a guarantee.
func (r row) isBroken() bool { return r.Lost > 0 || r.Doubled > 0 || r.Wrong > 0 || r.slow }

func now() time.Time { return clock.System().Now() }

// run runs the selected scenarios, each in its own world, and prints their results.
func run(ctx context.Context, o options, dir string, out io.Writer) (rows []row, err error) {
	for _, database := range o.databases {
		for n, s := range scenarios() {
			if !slices.Contains(s.databases, database) || !o.only.MatchString(database+" "+s.name) {
				continue
			}
			began := now()
			r, err := runScenario(ctx, o, s, database, filepath.Join(dir, fmt.Sprintf("%s-%d", database, n)))
			if err != nil {
				return rows, fmt.Errorf("%s, %s: %w", database, s.name, err)
			}
			r.Took = now().Sub(began).Seconds()
			rows = append(rows, r)
			_, _ = fmt.Fprintf(out, "%s, %s: %s\n", database, s.name, r.verdict())
			for _, e := range r.Examples {
				_, _ = fmt.Fprintf(out, "    %s\n", e)
			}
		}
	}
	return rows, nil
}

func (r row) verdict() string {
	switch {
	case r.LeftOut != "":
		return "left out: " + r.LeftOut
	case r.isBroken():
		return fmt.Sprintf("FAILED: %d lost, %d doubled, %d wrong", r.Lost, r.Doubled, r.Wrong)
	default:
		return fmt.Sprintf("ok, %d acknowledged in %.0f s", r.Acknowledged, r.Took)
	}
}

// runScenario runs one scenario. It returns an error if the scenario could not be completed.
func runScenario(ctx context.Context, o options, s scenario, database, dir string) (r row, err error) {
	r = row{Database: database, Scenario: s.name, Answers: map[string]int{}}
	if s.disk {
		if err := canMount(ctx); err != nil {
			r.LeftOut = err.Error()
			return r, nil
		}
	}
	w, err := newWorld(ctx, o, s, database, dir)
	defer func() { err = errors.Join(err, w.close()) }()
	if errors.Is(err, errNoPostgres) || errors.Is(err, errNoRedis) || errors.Is(err, errNoCitus) {
		r.LeftOut = err.Error()
		return r, nil
	}
	if err != nil {
		return r, err
	}
	w.load.start(ctx)
	select { // until the provider has sent the events about the sales, which invalidate the catalog cache
	case <-ctx.Done():
	case <-time.After(3 * time.Second):
	}
	err = s.faults(ctx, w)
	w.pause(ctx, time.Second, time.Second)
	w.load.stop()
	if err := errors.Join(err, ctx.Err()); err != nil {
		return r, err
	}
	t, err := w.load.settle(ctx, w.mails, w.meter)
	if err != nil {
		return r, err
	}
	w.report(&r, t)
	return r, nil
}

// report fills in the results.
func (w *world) report(r *row, t *tally) {
	c := w.load.client
	r.Acknowledged, r.Lost, r.Doubled = t.acknowledged, t.lost, t.doubled
	for status, n := range c.answers {
		name := strconv.Itoa(status)
		if status == cut {
			name = "none"
		}
		r.Answers[name] = n
		if w.scenario.unnoticed && (status == cut || status == 503) {
			c.recordFault("%d requests returned %s, but all should have succeeded", n, name)
		}
	}
	r.Slowest = milliseconds(c.slowest)
	for _, d := range w.recovered {
		r.Recovered = append(r.Recovered, milliseconds(d))
		if d > maxRecovery {
			r.slow = true
			c.recordFault("it took %s to come back", d)
		}
	}
	if w.mail != nil {
		r.Repeated = w.mail.countRepeated()
	}
	for _, i := range w.instances {
		text, _ := os.ReadFile(i.log)
		if n := strings.Count(string(text), `"msg":"panic"`); n > 0 {
			c.recordFault("%d panics in %s", n, i.log)
		}
	}
	r.Wrong, r.Examples = c.wrongs, slices.Concat(t.examples, c.wrong)
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond) / time.Millisecond)
}

// printTable prints all rows.
func printTable(out io.Writer, seed uint64, rows []row) error {
	_, _ = fmt.Fprintf(out, "\nseed %d\n\n", seed)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "database\tscenario\tacknowledged\tlost\tdoubled\twrong\tnot answered 2xx\tslowest 503\tback after\tresult")
	for _, r := range rows {
		if r.LeftOut != "" {
			_, _ = fmt.Fprintf(t, "%s\t%s\t\t\t\t\t\t\t\tleft out\n", r.Database, r.Scenario)
			continue
		}
		result := "ok"
		if r.isBroken() {
			result = "FAILED"
		}
		back := "-"
		if len(r.Recovered) > 0 {
			back = fmt.Sprintf("%.0f ms", slices.Max(r.Recovered))
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%s\t%.0f ms\t%s\t%s\n", r.Database, r.Scenario,
			r.Acknowledged, r.Lost, r.Doubled, r.Wrong, r.otherStatuses(), r.Slowest, back, result)
	}
	return t.Flush()
}

// otherStatuses lists the numbers of unsuccessful responses by status.
func (r row) otherStatuses() string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(r.Answers)) {
		if !strings.HasPrefix(status, "2") {
			parts = append(parts, fmt.Sprintf("%s: %d", status, r.Answers[status]))
		}
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, ", ")
}

// writeJSON writes the rows to a file.
func writeJSON(path string, seed uint64, rows []row) error {
	text, err := json.MarshalIndent(map[string]any{"seed": seed, "rows": rows}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
