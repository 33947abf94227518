package billing_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

func estimate(t *testing.T, w *usagetest.World, tenantID uuid.UUID) (lines []string, total money.Money) {
	t.Helper()
	e, err := w.Estimator().Estimate(t.Context(), tenantID)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range e.Lines {
		lines = append(lines, fmt.Sprintf("%s %s × %s = %d %s", l.Meter.Code, l.Quantity, l.UnitPrice, l.Amount.AmountCents, l.Amount.Currency))
	}
	return lines, e.Total
}

// The estimate covers the billing period, regardless of when a meter resets.
func TestEstimate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-11-21 12:00")
		w.Sell(t, usagetest.Meter("a-month", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "0.5")
		w.Sell(t, usagetest.Meter("b-day", usage.Sum, usage.ResetDaily, usage.EnforcementHard), "100")
		w.Sell(t, usagetest.Meter("c-ever", usage.Count, usage.ResetNever, usage.EnforcementHard), "1.499999999999")
		w.Sell(t, usagetest.Meter("d-level", usage.LastValue, usage.ResetWeekly, usage.EnforcementHard), "3")
		w.Sell(t, usagetest.Meter("e-peak", usage.Max, usage.ResetDaily, usage.EnforcementHard), "0.000000000001")
		w.Sell(t, usagetest.Meter("f-off", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "7")
		w.Sell(t, usagetest.Meter("g-unused-off", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "7")
		w.Apply(t, usagetest.Meter("free", usage.Sum, usage.ResetMonthly, usage.EnforcementHard))
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-11-10", usage.Month, 1, "2026-11-10", "2026-12-10")})
		var events []usage.Recording
		for _, code := range []string{"a-month", "b-day", "c-ever", "d-level", "e-peak", "f-off", "free"} {
			events = append(events,
				usagetest.RecordedAt(usagetest.Recording(code, "1000"), "2026-11-09 23:59:59.999999"), usagetest.RecordedAt(usagetest.Recording(code, "7"), "2026-11-10"),
				usagetest.RecordedAt(usagetest.Recording(code, "2"), "2026-11-20"), usagetest.RecordedAt(usagetest.Recording(code, "4"), "2026-11-21"))
		}
		w.RecordAll(t, tenantID, events, true)
		off := []usage.Meter{usagetest.Meter("f-off", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), usagetest.Meter("g-unused-off", usage.Sum, usage.ResetMonthly, usage.EnforcementHard)}
		for i := range off {
			off[i].Active = false
		}
		w.Apply(t, off...)

		lines, total := estimate(t, w, tenantID)
		want := []string{
			"a-month 13 × 0.5 = 7 EUR", // 6.5 rounds up
			"b-day 13 × 100 = 1300 EUR",
			"c-ever 3 × 1.499999999999 = 4 EUR", // rounded once, not per event
			"d-level 4 × 3 = 12 EUR",
			"e-peak 13 × 0.000000000001 = 0 EUR", // the maxima of three days
			"f-off 13 × 7 = 91 EUR",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("lines (-want +got)\n%s", diff)
		}
		if total != (money.Money{AmountCents: 1414, Currency: "EUR"}) {
			t.Errorf("total %v", total)
		}
		w.Plans.Grant(tenantID, usage.Allowance{})
		if lines, total := estimate(t, w, tenantID); len(lines) != 0 || total != (money.Money{Currency: "USD"}) {
			t.Errorf("without a subscription: %v %v", lines, total)
		}
	})
}

// Amounts that overflow stay at the maximum.
func TestEstimateOfTooMuch(t *testing.T) {
	t.Parallel()
	w := usagetest.New(t, dbtest.New(t, sqldb.SQLite), "2026-11-21 12:00")
	w.Sell(t, usagetest.Meter("a", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1000000000000")
	w.Sell(t, usagetest.Meter("b", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
	tenantID := w.NewTenant(t)
	w.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-11-10", usage.Month, 1)})
	w.RecordAll(t, tenantID, []usage.Recording{usagetest.Recording("a", "1e12"), usagetest.Recording("b", "1")}, true)
	lines, total := estimate(t, w, tenantID)
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "a 1000000000000 × 1000000000000 = 9223372036854775807") || total.AmountCents != math.MaxInt64 {
		t.Errorf("%v %v", lines, total)
	}
}

// If the billing period is longer than the retention, deleted events are still billed, and so
// included in the estimate.
func TestEstimateOfDeletedEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-02-15 12:00")
		w.Sell(t, usagetest.Meter("a-month", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("b-day", usage.Count, usage.ResetDaily, usage.EnforcementHard), "1")
		w.Sell(t, usagetest.Meter("c-week", usage.Sum, usage.ResetWeekly, usage.EnforcementHard), "1")
		tenantID := w.NewTenant(t)
		w.Plans.Grant(tenantID, usage.Allowance{Billing: usagetest.Billing("2026-01-10", usage.Year, 1, "2026-01-10", "2027-01-10")})
		record := func(days ...string) {
			t.Helper()
			var events []usage.Recording
			for _, day := range days {
				for _, code := range []string{"a-month", "b-day", "c-week"} {
					events = append(events, usagetest.RecordedAt(usagetest.Recording(code, "5"), day))
				}
			}
			w.RecordAll(t, tenantID, events, true)
		}
		want := func(lines ...string) {
			t.Helper()
			if got, _ := estimate(t, w, tenantID); !cmp.Equal(lines, got) {
				t.Errorf("got %v, want %v", got, lines)
			}
		}
		record("2026-01-09", "2026-01-10", "2026-02-10", "2026-02-11")
		want("a-month 15 × 1 = 15 EUR", "b-day 3 × 1 = 3 EUR", "c-week 15 × 1 = 15 EUR")
		record("2026-02-01")
		w.Clock.Set(usagetest.At("2026-04-15"))
		record("2026-04-14")
		w.Prune(t, w.Retention(""))
		// Without its events, the counter of the week in which the billing period began cannot be
		// split, so that week is not counted.
		want("a-month 25 × 1 = 25 EUR", "b-day 5 × 1 = 5 EUR", "c-week 20 × 1 = 20 EUR")
	})
}
