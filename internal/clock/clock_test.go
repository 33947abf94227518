package clock_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/testkit"
)

func TestSystemIsUTCInMicroseconds(t *testing.T) {
	t.Parallel()
	first := clock.System().Now()
	if first.Location() != time.UTC || first.Nanosecond()%1000 != 0 {
		t.Errorf("%v", first)
	}
	testkit.Eventually(t, "a later time", func() bool { return clock.System().Now().After(first) })
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
