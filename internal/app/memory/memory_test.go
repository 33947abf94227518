package memory

import (
	"context"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// collectedAt returns the percentage at which garbage is collected.
func collectedAt() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

// The process holds a block beside its own memory. GOGC wins over both.
func TestPercentages(t *testing.T) {
	before := collectedAt()
	defer debug.SetGCPercent(before)
	for _, c := range []struct {
		name, variable string
		percent, block int
	}{
		{"unset", "", percent, block},
		{"GOGC", "123", 77, 0}, // what was set before stays
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOGC", c.variable)
			debug.SetGCPercent(77)
			held := Start()
			if got := collectedAt(); got != c.percent || len(held.block) != c.block {
				t.Errorf("%d percent and a block of %d, want %d and %d", got, len(held.block), c.percent, c.block)
			}
		})
	}
}

// childVariable makes TestBlockTakesNothing the process that it looks at.
const childVariable = "TENANTRY_TEST_MEMORY_CHILD"

// The block takes none of the machine's memory in a process that has just begun.
func TestBlockTakesNothing(t *testing.T) {
	if os.Getenv(childVariable) == "" {
		t.Parallel()
		child := exec.Command(os.Args[0], "-test.run=^TestBlockTakesNothing$")
		child.Env = append(os.Environ(), childVariable+"=1", "GOGC=")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const most = block / 4
	was := resident(t)
	held := Start()
	if is := resident(t); is-was > most || len(held.block) != block {
		t.Errorf("the process took %d bytes more with a block of %d", is-was, len(held.block))
	}
}

// resident is how much of the machine's memory the process takes, in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("no such figure on this system")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// It settles until the process stops, also where that is during its start.
func TestSettlesUntilItStops(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, 2 * settleAfter} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			began := clock.System().Now()
			if err := (Held{}).Settle(ctx); err != nil || clock.System().Now().Sub(began) != d {
				t.Errorf("%v after %s, want none after %s", err, clock.System().Now().Sub(began), d)
			}
		})
	}
}
