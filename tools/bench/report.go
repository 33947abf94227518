package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// reportRow is the result of a kind of work with a number of connections. Rates are per second and
// latencies in milliseconds. CPU and DatabaseCPU are the CPU times of the service and of PostgreSQL
// per response, in microseconds.
type reportRow struct {
	Database    string  `json:"database"`
	Work        string  `json:"work"`
	Connections int     `json:"connections"`
	Rate        float64 `json:"rate"`
	P50         float64 `json:"p50_ms"`
	P99         float64 `json:"p99_ms"`
	CPU         float64 `json:"cpu_us"`
	DatabaseCPU float64 `json:"database_cpu_us,omitempty"`
	Others      int     `json:"other_answers"`
	Limit       string  `json:"limit,omitempty"`
	LimitRate   float64 `json:"limit_rate,omitempty"`
	LimitCPU    float64 `json:"limit_cpu_us,omitempty"`
	Ratio       float64 `json:"ratio,omitempty"`
	WantRate    float64 `json:"want_rate,omitempty"`
	WantP99     float64 `json:"want_p99_ms,omitempty"`
	// Mixed means that background work ran at a fixed rate. BackgroundShare is the completed share
	// of this work, the minimum over all rounds.
	Mixed           bool    `json:"mixed,omitempty"`
	BackgroundShare float64 `json:"beside,omitempty"`
	Missed          bool    `json:"missed"`
}

// minBackgroundShare is the minimum share of completed background work in a valid mixed load.
const minBackgroundShare = 0.9

// reportNumber is a single value with its upper limit.
type reportNumber struct {
	Database string  `json:"database"`
	Name     string  `json:"name"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	AtMost   float64 `json:"at_most"`
	Missed   bool    `json:"missed"`
}

// reporter prints results immediately and collects them.
type reporter struct {
	out     io.Writer
	CPUs    int            `json:"cpus"`
	Go      string         `json:"go"`
	Rows    []reportRow    `json:"rows"`
	Figures []reportNumber `json:"figures"`
	LeftOut []string       `json:"left_out"`
}

// newReporter returns a reporter that prints to out.
func newReporter(out io.Writer) *reporter {
	r := &reporter{out: out, CPUs: runtime.NumCPU(), Go: runtime.Version()}
	r.print("%d cores, shared with the load; %s\n", r.CPUs, r.Go)
	r.print("%-8s %-19s %5s %9s %8s %8s %8s %8s  %s\n", "database", "work", "conns", "rate/s", "p50 ms", "p99 ms", "cpu µs", "db µs", "beside")
	return r
}

func (r *reporter) print(format string, args ...any) { _, _ = fmt.Fprintf(r.out, format, args...) }

// Say prints a remark about a skipped measurement.
func (r *reporter) Say(format string, args ...any) {
	r.LeftOut = append(r.LeftOut, fmt.Sprintf(format, args...))
	r.print(format+"\n", args...)
}

// Row prints a row and whether it met the targets.
func (r *reporter) Row(w reportRow) {
	var notes []string
	verdict := func(met bool, format string, args ...any) {
		w.Missed = w.Missed || !met
		word := "met"
		if !met {
			word = "MISSED"
		}
		notes = append(notes, fmt.Sprintf(format, args...)+" "+word)
	}
	if w.LimitRate > 0 {
		notes = append(notes, fmt.Sprintf("%.2f of %s of %s", w.Ratio, thousands(w.LimitRate), w.Limit))
	}
	if w.LimitCPU > 0 {
		notes = append(notes, fmt.Sprintf("at %.0f µs", w.LimitCPU))
	}
	// The targets are for many concurrent connections.
	if w.Connections >= 16 {
		if w.WantRate > 0 {
			verdict(w.Rate >= w.WantRate, "want %s/s", thousands(w.WantRate))
		}
		if w.WantP99 > 0 {
			verdict(w.P99 < w.WantP99, "want p99 below %.0f ms", w.WantP99)
		}
	}
	if w.Mixed {
		verdict(w.BackgroundShare >= minBackgroundShare, "%.2f of the parallel work", w.BackgroundShare)
	}
	if w.Others > 0 {
		notes = append(notes, fmt.Sprintf("%d OTHER ANSWERS", w.Others))
	}
	r.Rows = append(r.Rows, w)
	r.print("%-8s %-19s %5d %9s %8.2f %8.2f %8.0f %8.0f  %s\n",
		w.Database, w.Work, w.Connections, thousands(w.Rate), w.P50, w.P99, w.CPU, w.DatabaseCPU, strings.Join(notes, "; "))
}

// PrintNumber prints a single value and whether it met its limit.
func (r *reporter) PrintNumber(database, name string, value float64, unit string, atMost float64) {
	f := reportNumber{database, name, value, unit, atMost, value > atMost}
	r.Figures = append(r.Figures, f)
	word := "met"
	if f.Missed {
		word = "MISSED"
	}
	r.print("%-8s %-25s %9.0f %s; want at most %.0f %s\n", database, name, value, unit, atMost, word)
}

// Write writes the results as JSON, unless file is empty.
func (r *reporter) Write(file string) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o600)
}

// thousands formats a number as 12,345.
func thousands(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
