package usage_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// If billing periods are not a number of whole months, the tenant still gets at most one quota per
// month: three in twelve weeks, for any length of the billing period.
func TestQuotasOfOddBillingPeriods(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		start := usagetest.At("2027-08-31 12:00")
		w := usagetest.New(t, db, "2027-08-31 12:00")
		w.Apply(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		for _, days := range []int{32, 35, 42, 45, 84} {
			tenantID := w.NewTenant(t)
			stored := 0
			for week := range 12 {
				w.Clock.Set(start.AddDate(0, 0, 7*week))
				periods := 7 * week / days
				b := &usage.Billing{Anchor: start, IntervalUnit: usage.Day, IntervalCount: days, Current: usage.Period{
					Start: start.AddDate(0, 0, periods*days), End: start.AddDate(0, 0, (periods+1)*days),
				}}
				w.Plans.Grant(tenantID, usage.Allowance{Billing: b, Limits: map[string]int64{"calls": 100}})
				if _, err := w.Record(t.Context(), tenantID, usagetest.Recording("calls", "100")); err == nil {
					stored++
				}
			}
			if stored != 3 {
				t.Errorf("periods of %d days: a quota was used %d times in twelve weeks, want 3", days, stored)
			}
		}
	})
}
