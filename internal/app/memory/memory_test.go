package memory

import (
	"context"
	"runtime/debug"
	"testing"
	"testing/synctest"

	"github.com/tenantry/tenantry/internal/clock"
)

// collectedAt returns the percentage at which garbage is collected.
func collectedAt() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

// A start collects garbage late, and a second after it the process does so as usual. GOGC wins over
// both.
func TestPercentages(t *testing.T) {
	before := collectedAt()
	defer debug.SetGCPercent(before)
	for _, c := range []struct {
		name, variable  string
		during, settled int
	}{
		{"unset", "", startPercent, percent},
		{"GOGC", "123", 77, 77}, // what was set before stays
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOGC", c.variable)
			debug.SetGCPercent(77)
			synctest.Test(t, func(t *testing.T) {
				Start()
				if got := collectedAt(); got != c.during {
					t.Errorf("during the start: %d, want %d", got, c.during)
				}
				began := clock.System().Now()
				if err := Settle(t.Context()); err != nil {
					t.Error(err)
				}
				if took := clock.System().Now().Sub(began); took != settleAfter {
					t.Errorf("it settled after %s", took)
				}
				if got := collectedAt(); got != c.settled {
					t.Errorf("after the start: %d, want %d", got, c.settled)
				}
			})
		})
	}
}

// A process that stops during its start does not wait for it to settle.
func TestStoppedDuringTheStart(t *testing.T) {
	before := collectedAt()
	defer debug.SetGCPercent(before)
	debug.SetGCPercent(77)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	synctest.Test(t, func(t *testing.T) {
		began := clock.System().Now()
		if err := Settle(ctx); err != nil || clock.System().Now().Sub(began) > 0 {
			t.Errorf("%v after %s", err, clock.System().Now().Sub(began))
		}
	})
	if got := collectedAt(); got != 77 {
		t.Errorf("garbage is collected at %d", got)
	}
}
