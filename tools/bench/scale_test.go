//go:build linux

package main

import (
	"testing"
	"time"
)

// A route grows too much if its median more than doubles or exceeds 20 ms. If the response grows,
// the time may grow with its size, as long as it starts early. Routes that scan rows may take up to
// 20 ms. Differences below the noise level are ignored.
func TestGrows(t *testing.T) {
	t.Parallel()
	of := func(p50 float64, bytes int) cost {
		return cost{p50: time.Duration(p50 * float64(time.Millisecond)), bytes: bytes}
	}
	late := func(c cost) cost {
		c.first = c.p50
		return c
	}
	for name, c := range map[string]struct {
		first, before, last cost
		most                time.Duration
		want                bool
	}{
		"flat":                    {of(3, 100), of(3, 100), of(3.2, 100), 0, false},
		"twice and more":          {of(3, 100), of(3, 100), of(6.1, 100), 0, true},
		"beneath":                 {of(0.1, 100), of(0.1, 100), of(1.9, 100), 0, false},
		"slow":                    {of(3, 100), of(15, 100), of(21, 100), 0, true},
		"slow from the beginning": {of(40, 100), of(41, 100), of(42, 100), 0, false},
		"a list with its bytes":   {of(1, 1_000), of(1, 1_000), of(18, 10_000), 0, false},
		"a list beyond its bytes": {of(1, 1_000), of(1, 1_000), of(31, 10_000), 0, true},
		"a list that begins late": {of(1, 1_000), of(1, 1_000), late(of(29, 20_000)), 0, true},
		"a walk":                  {of(1, 100), of(1, 100), of(19, 300), mostMedian, false},
		"a long walk":             {of(1, 100), of(1, 100), of(21, 300), mostMedian, true},
	} {
		if got := growsTooMuch(c.most, c.first, c.before, c.last); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
