//go:build linux

package main

import (
	"strings"
	"testing"
	"time"
)

// Lost and duplicated operations are reported. The rows are constructed, not measured.
func TestReportsShowLossesAndDuplicates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		row      row
		isBroken bool
	}{
		"well":           {row{Acknowledged: 10}, false},
		"lost":           {row{Lost: 1}, true},
		"doubled":        {row{Doubled: 1}, true},
		"wrong":          {row{Wrong: 1}, true},
		"slow":           {row{slow: true}, true},
		"left out":       {row{LeftOut: "no disk"}, false},
		"mails repeated": {row{Repeated: 3}, false},
	} {
		if c.row.isBroken() != c.isBroken {
			t.Errorf("%s: broken is %v", name, !c.isBroken)
		}
	}
}

// Unexpected responses are recorded.
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
		"not answered at all": {cut, "", answerTimeout, nil, true},
	} {
		client := newClient("127.0.0.1:1")
		client.may = []int{502}
		client.note("GET /", answer{status: c.status}, c.retryAfter, c.took, c.expected)
		if wrong := client.wrongs > 0; wrong != c.wrong {
			t.Errorf("%s: wrong is %v", name, wrong)
		}
	}
}

// The same seed gives the same numbers; another seed or scenario gives different numbers.
func TestSeeds(t *testing.T) {
	t.Parallel()
	all := scenarios()
	first := all[0].chance(1, sqlite).Uint64()
	if all[0].chance(1, sqlite).Uint64() != first {
		t.Error("the same seed gives different numbers")
	}
	if all[0].chance(2, sqlite).Uint64() == first || all[0].chance(1, postgres).Uint64() == first || all[1].chance(1, sqlite).Uint64() == first {
		t.Error("another seed or scenario gives the same numbers")
	}
}

// Invalid flags are reported by name.
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
