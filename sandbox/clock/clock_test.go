package clock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/clock"
)

func TestAdjustable(t *testing.T) {
	t.Parallel()
	base := testkit.NewClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := clock.NewAdjustable(base, time.Hour)
	var told []time.Time
	c.OnAdvance(func(now time.Time) {
		if c.Now() != now { // a listener may call Now
			t.Errorf("listener got %v, but Now is %v", now, c.Now())
		}
		told = append(told, now)
	})
	if got := c.Advance(30 * 24 * time.Hour); got != base.Now().Add(721*time.Hour) || c.Now() != got {
		t.Errorf("%v", got)
	}
	base.Set(base.Now().Add(time.Minute))
	if got := c.Now(); got != base.Now().Add(721*time.Hour) {
		t.Errorf("clock stands still: %v", got)
	}
	before := c.Now()
	if got := c.Advance(-time.Hour); got != before || c.Offset() != 721*time.Hour {
		t.Errorf("the clock went back to %v", got)
	}
	if len(told) != 2 || told[0] != base.Now().Add(721*time.Hour-time.Minute) || told[1] != before {
		t.Errorf("listener got %v", told)
	}
}

func TestAdjustableIsSafe(t *testing.T) {
	t.Parallel()
	c := clock.NewAdjustable(clock.System(), 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			last := c.Now()
			for range 100 {
				c.OnAdvance(func(time.Time) {})
				c.Advance(time.Second)
				now := c.Now()
				if now.Before(last) {
					t.Errorf("%v after %v", now, last)
				}
				last = now
			}
		})
	}
	wg.Wait()
	if c.Offset() != 800*time.Second {
		t.Errorf("%v", c.Offset())
	}
}
