//go:build linux

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/dbtest"
)

// everyday are the scenarios that run with all other tests.
var everyday = regexp.MustCompile(`^(sqlite (killed|disk full)|postgres (three instances with redis, one killed at a time|fail-over, primary silent))$`)

// The service keeps what it promises while what it stands on fails. With the other tests only
// some scenarios run, shortly, and with more time for answers, since the machine is busy; the
// long form is the whole of `make chaos`.
func TestChaos(t *testing.T) {
	t.Parallel()
	o := options{seed: 1, length: 0.3, only: everyday, databases: []string{sqlite}, limits: limits{answer: 10 * time.Second, recover: 10 * time.Second}}
	if dbtest.Rounds(0, 1) == 1 {
		o.length, o.only, o.limits = 1, regexp.MustCompile(""), promised
	}
	if slices.Contains(dbtest.Dialects(t), sqldb.Postgres) {
		o.databases = both
	}
	dir := t.TempDir()
	for folder := dir; strings.HasPrefix(folder, os.TempDir()+"/"); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o711); err != nil { // PostgreSQL's user has to get through
			t.Fatal(err)
		}
	}
	o.binary, o.root = os.Getenv("TENANTRY_BIN"), ".."
	if err := o.build(t.Context(), dir, t.Output()); err != nil {
		t.Fatal(err)
	}
	for _, database := range o.databases {
		for _, s := range scenarios() {
			name := database + " " + s.name
			if slices.Contains(s.databases, database) && o.only.MatchString(name) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					holds(t, o, s, database, filepath.Join(dir, strings.ReplaceAll(name, " ", "-")))
				})
			}
		}
	}
}

// holds runs a scenario and fails t if the service breaks a promise.
func holds(t *testing.T, o options, s scenario, database, dir string) {
	t.Helper()
	r, err := runScenario(t.Context(), o, s, database, dir)
	switch {
	case err != nil:
		t.Fatal(err)
	case r.LeftOut != "":
		t.Skip(r.LeftOut)
	case r.broken():
		t.Errorf("%s: %s", r.verdict(), strings.Join(r.Examples, "\n"))
	case r.Acknowledged < 50:
		t.Errorf("only %d were acknowledged", r.Acknowledged)
	}
	t.Logf("%d acknowledged, back after %v ms, not answered 2xx: %s", r.Acknowledged, r.Recovered, r.others())
}

// What is lost and doubled is seen, in figures that nobody made while something ran.
func TestReportsTellWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row    row
		broken bool
	}{
		"well":           {row{Acknowledged: 10}, false},
		"lost":           {row{Lost: 1}, true},
		"doubled":        {row{Doubled: 1}, true},
		"wrong":          {row{Wrong: 1}, true},
		"slow":           {row{slow: true}, true},
		"left out":       {row{LeftOut: "no disk"}, false},
		"mails repeated": {row{Repeated: 3}, false},
	} {
		if c.row.broken() != c.broken {
			t.Errorf("%s: broken is %v", name, !c.broken)
		}
	}
}

// What an answer should not have been is taken down.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status     int
		retryAfter string
		took       time.Duration
		expected   []int
		wrong      bool
	}{
		"success":             {200, "", time.Second, nil, false},
		"accident":            {500, "", 0, nil, true},
		"expected accident":   {500, "", 0, []int{409}, true},
		"refused":             {503, "1", time.Second, nil, false},
		"refused late":        {503, "1", 3 * time.Second, nil, true},
		"without a time":      {503, "", time.Second, nil, true},
		"duplicate":           {409, "", 0, []int{409}, false},
		"unexpected":          {409, "", 0, nil, true},
		"of the fault":        {502, "", 0, nil, false},
		"cut off":             {cut, "", time.Second, nil, false},
		"not answered at all": {cut, "", answerPatience, nil, true},
	} {
		client := newClient("127.0.0.1:1", promised)
		client.may = []int{502}
		client.note("GET /", answer{status: c.status}, c.retryAfter, c.took, c.expected)
		if wrong := client.wrongs > 0; wrong != c.wrong {
			t.Errorf("%s: wrong is %v", name, wrong)
		}
	}
}

// The same seed draws the same, and another one or another scenario something else.
func TestSeeds(t *testing.T) {
	t.Parallel()
	all := scenarios()
	first := all[0].chance(1, sqlite).Uint64()
	if all[0].chance(1, sqlite).Uint64() != first {
		t.Error("the same seed draws something else")
	}
	if all[0].chance(2, sqlite).Uint64() == first || all[0].chance(1, postgres).Uint64() == first || all[1].chance(1, sqlite).Uint64() == first {
		t.Error("something else draws the same")
	}
}

// Wrong flags are refused by name.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--databases", "oracle"}, "--databases"},
		{[]string{"--length", "0"}, "--length"},
		{[]string{"more"}, `"more"`},
		{[]string{"--only", "("}, "missing closing"},
	} {
		if _, err := parse(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.args, err)
		}
	}
}
