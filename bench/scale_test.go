//go:build linux

package main

import (
	"testing"
	"time"
)

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
