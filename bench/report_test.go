//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A line says what was promised and missed; the promises are for many connections.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	promised := row{
		Database: "sqlite", Work: "record", Connections: 64, Rate: 6000, P99: 20, Limit: "POST /decode/record", LimitRate: 60_000, Ratio: 0.1,
		WantRatio: 0.3, WantP99: 12,
	}
	alone, better := promised, promised
	alone.Connections = 1
	better.Ratio, better.P99, better.Others = 0.31, 11.9, 2
	for name, c := range map[string]struct {
		row
		missed bool
		words  []string
	}{
		"missed":        {promised, true, []string{"0.10 of 60,000", "want 0.30 MISSED", "want p99 below 12 ms MISSED"}},
		"met":           {better, false, []string{"want 0.30 met", "want p99 below 12 ms met", "2 OTHER ANSWERS"}},
		"no promise":    {alone, false, []string{"0.10 of 60,000 of POST /decode/record\n"}},
		"rate promised": {row{Connections: 16, Rate: 59_999, WantRate: 60_000}, true, []string{"want 60,000/s MISSED"}},
	} {
		var out strings.Builder
		r := newReport(&out)
		r.row(c.row)
		if r.Rows[0].Missed != c.missed {
			t.Errorf("%s: missed is %v", name, r.Rows[0].Missed)
		}
		for _, words := range c.words {
			if !strings.Contains(out.String(), words) {
				t.Errorf("%s: no %q in\n%s", name, words, out.String())
			}
		}
	}
}

// The file has what was printed.
func TestReportFile(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReport(&out)
	r.figure("postgres", "start", 91, "ms", 90)
	r.figure("postgres", "memory, idle", 45, "MiB", 45)
	r.say("%s is left out", "pgbench")
	file := filepath.Join(t.TempDir(), "figures.json")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var back report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Figures) != 2 || !back.Figures[0].Missed || back.Figures[1].Missed || back.Left[0] != "pgbench is left out" {
		t.Errorf("%+v", back)
	}
}

// A route grows when its median more than doubles or passes 20 ms; a whole list may take
// longer with its bytes, and what is beneath the noise of a machine is no growth.
func TestGrows(t *testing.T) {
	t.Parallel()
	of := func(p50 float64, bytes int) cost {
		return cost{p50: time.Duration(p50 * float64(time.Millisecond)), bytes: bytes}
	}
	for name, c := range map[string]struct {
		first, before, last cost
		want                bool
	}{
		"flat":                    {of(3, 100), of(3, 100), of(3.2, 100), false},
		"twice and more":          {of(3, 100), of(3, 100), of(6.1, 100), true},
		"beneath":                 {of(0.1, 100), of(0.1, 100), of(1.9, 100), false},
		"slow":                    {of(3, 100), of(15, 100), of(21, 100), true},
		"slow from the beginning": {of(40, 100), of(41, 100), of(42, 100), false},
		"a list with its bytes":   {of(1, 1_000), of(1, 1_000), of(18, 10_000), false},
		"a list beyond its bytes": {of(1, 1_000), of(1, 1_000), of(31, 10_000), true},
	} {
		if got := grows(c.first, c.before, c.last); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestThousands(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.4: "1,234,567"} {
		if got := thousands(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
