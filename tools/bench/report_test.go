package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A row shows which targets were met. The targets apply only to many connections.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	promised := reportRow{
		Database: "sqlite", Work: "record", Connections: 64, Rate: 6000, P99: 20, Limit: "POST /decode/record", LimitRate: 60_000, Ratio: 0.1,
		WantRate: 10_000, WantP99: 12,
	}
	alone, better, mixed := promised, promised, promised
	alone.Connections = 1
	mixed.Rate, mixed.P99, mixed.Mixed, mixed.BackgroundShare = 10_000, 1, true, 0.5
	better.Rate, better.P99, better.Others = 10_001, 11.9, 2
	for name, c := range map[string]struct {
		reportRow
		missed bool
		words  []string
	}{
		"missed":        {promised, true, []string{"0.10 of 60,000", "want 10,000/s MISSED", "want p99 below 12 ms MISSED"}},
		"met":           {better, false, []string{"want 10,000/s met", "want p99 below 12 ms met", "2 OTHER ANSWERS"}},
		"too few":       {mixed, true, []string{"want 10,000/s met", "0.50 of the parallel work MISSED"}},
		"no promise":    {alone, false, []string{"0.10 of 60,000 of POST /decode/record\n"}},
		"rate promised": {reportRow{Connections: 16, Rate: 59_999, WantRate: 60_000}, true, []string{"want 60,000/s MISSED"}},
	} {
		var out strings.Builder
		r := newReporter(&out)
		r.Row(c.reportRow)
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

// The file contains the printed results.
func TestReportFile(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReporter(&out)
	r.PrintNumber("postgres", "start", 91, "ms", 90)
	r.PrintNumber("postgres", "memory, idle", 45, "MiB", 45)
	r.Say("%s is left out", "pgbench")
	file := filepath.Join(t.TempDir(), "figures.json")
	if err := r.Write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var back reporter
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Figures) != 2 || !back.Figures[0].Missed || back.Figures[1].Missed || back.LeftOut[0] != "pgbench is left out" {
		t.Errorf("%+v", back)
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
