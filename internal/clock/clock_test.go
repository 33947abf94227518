package clock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

func TestSystemIsUTCInMicroseconds(t *testing.T) {
	t.Parallel()
	first := clock.System().Now()
	if first.Location() != time.UTC || first.Nanosecond()%1000 != 0 {
		t.Errorf("%v", first)
	}
	time.Sleep(time.Millisecond)
	if second := clock.System().Now(); !second.After(first) {
		t.Errorf("%v is not after %v", second, first)
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	c := clock.NewFixed(time.Date(2026, 3, 1, 13, 0, 0, 1999, time.FixedZone("", 3600)))
	want := time.Date(2026, 3, 1, 12, 0, 0, 1000, time.UTC)
	if got := c.Now(); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	c.Set(want.Add(-time.Hour + 1))
	if got := c.Now(); got != want.Add(-time.Hour) {
		t.Errorf("%v", got)
	}
}

func TestAdjustable(t *testing.T) {
	t.Parallel()
	base := clock.NewFixed(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := clock.NewAdjustable(base, time.Hour)
	var told []time.Time
	c.OnAdvance(func(now time.Time) {
		if c.Now() != now { // a listener may ask the clock itself
			t.Errorf("told %v at %v", now, c.Now())
		}
		told = append(told, now)
	})
	if got := c.Advance(30 * 24 * time.Hour); got != base.Now().Add(721*time.Hour) || c.Now() != got {
		t.Errorf("%v", got)
	}
	base.Set(base.Now().Add(time.Minute))
	if got := c.Now(); got != base.Now().Add(721*time.Hour) {
		t.Errorf("it stands still: %v", got)
	}
	before := c.Now()
	if got := c.Advance(-time.Hour); got != before || c.Offset() != 721*time.Hour {
		t.Errorf("it went back to %v", got)
	}
	if len(told) != 2 || told[0] != base.Now().Add(721*time.Hour-time.Minute) || told[1] != before {
		t.Errorf("told %v", told)
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
