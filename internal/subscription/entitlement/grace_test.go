package entitlement

import (
	"testing"
	"time"
)

// The grace period ends at its time, without a job, and only for late payments.
func TestGracePeriod(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	terms := Terms{Status: "past_due", FeaturesUntil: &end, planFeatures: planFeatures{features: []Feature{{Code: "calls", Type: "boolean"}}}}
	for at, want := range map[time.Time]int{end.Add(-time.Microsecond): 1, end: 0} {
		if got := len(terms.rows(at)); got != want {
			t.Errorf("%d features at %s, want %d", got, at, want)
		}
	}
	if next := terms.ChangesAt(end.Add(-time.Hour)); next == nil || !next.Equal(end) {
		t.Errorf("the features change at %v, want %s", next, end)
	}
	if next := terms.ChangesAt(end); next != nil {
		t.Errorf("after the end the features change at %s", next)
	}
}
