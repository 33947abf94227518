package entitlement

import (
	"testing"
	"time"
)

// An expired override has no effect from that moment, even before the job deletes it.
func TestExpiredOverride(t *testing.T) {
	t.Parallel()
	end, plan, value := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), int64(10), int64(50)
	terms := Terms{
		Status: "active", Overrides: []Override{{FeatureCode: "calls", Type: "quota", Value: &value, ExpiresAt: &end}},
		planFeatures: planFeatures{features: []Feature{{Code: "calls", Type: "quota", Quota: &plan}}, quotas: map[string]int64{"calls": plan}},
	}
	for at, want := range map[time.Time]int64{end.Add(-time.Microsecond): value, end: plan} {
		if got := terms.Limits(at)["calls"]; got != want {
			t.Errorf("limit at %s: %d, want %d", at, got, want)
		}
		if rows := terms.rows(at); len(rows) != 1 || *rows[0].Limit != want {
			t.Errorf("entitlements at %s: %+v, want %d", at, rows, want)
		}
	}
	if next := terms.ChangesAt(end.Add(-time.Hour)); next == nil || !next.Equal(end) {
		t.Errorf("the limits change at %v, want %s", next, end)
	}
	if next := terms.ChangesAt(end); next != nil {
		t.Errorf("after the expiry the limits change at %s", next)
	}
}
