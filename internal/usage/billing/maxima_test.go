package billing_test

import (
	"slices"
	"testing"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
)

// A maximum of a past billing period that is reported later, for a provider's meter that takes the last
// figure, is the sum of the maxima of that period, also if the billing terms have changed since.
func TestLateMaxima(t *testing.T) {
	t.Parallel()
	monthly := func(anchor, start, end string) *usage.Billing {
		return usagetest.Billing(anchor, usage.Month, 1, start, end)
	}
	// afterwards returns yearly terms that replaced others at their start.
	afterwards := func(former *usage.Billing, start, end string) *usage.Billing {
		b := usagetest.Billing(start, usage.Year, 1, start, end)
		b.Former = []usage.FormerBilling{{Billing: *former, Until: usagetest.At(start)}}
		return b
	}
	type event struct{ quantity, at string }
	tests := map[string]struct {
		reset   usage.ResetInterval
		before  *usage.Billing // when the first events are recorded
		reports []event        // recorded and reported under these terms
		queued  event          // recorded under these terms and reported under the next ones
		after   *usage.Billing
		now     string
		late    event // recorded under the new terms
		want    []string
	}{
		"a window that reaches into the next period": {
			reset:  usage.ResetDaily,
			before: monthly("2026-11-10 12:00", "2026-11-10 12:00", "2026-12-10 12:00"),
			queued: event{"5", "2026-12-10 11:59:30"},
			after:  monthly("2026-11-10 12:00", "2026-12-10 12:00", "2027-01-10 12:00"), now: "2026-12-10 12:05",
			late: event{"20", "2026-12-10 12:04"},
			want: []string{"cus peak 15 @ 2026-12-10 12:05:00", "cus peak 5 @ 2026-12-10 11:59:59"},
		},
		"another interval from the renewal on": {
			reset:   usage.ResetMonthly,
			before:  monthly("2026-09-10", "2026-11-10", "2026-12-10"),
			reports: []event{{"10", "2026-10-20"}, {"10", "2026-11-20"}},
			queued:  event{"11", "2026-12-09 23:59:50"},
			after:   afterwards(monthly("2026-09-10", "2026-11-10", "2026-12-10"), "2026-12-10", "2027-12-10"), now: "2026-12-10 00:00:10",
			want: []string{"cus peak 11 @ 2026-12-09 23:59:59"},
		},
		"other terms within the period": {
			reset:   usage.ResetMonthly,
			before:  monthly("2026-11-03", "2026-11-03", "2026-12-03"),
			reports: []event{{"100", "2026-11-15 11:59"}},
			queued:  event{"101", "2026-11-15 12:00"},
			after:   afterwards(monthly("2026-11-03", "2026-11-03", "2026-12-03"), "2026-11-15 12:05", "2027-11-15 12:05"), now: "2026-11-15 12:10",
			want: []string{"cus peak 101 @ 2026-11-15 12:04:59"},
		},
		"two periods ago": {
			reset:  usage.ResetMonthly,
			before: monthly("2026-10-10", "2026-10-10", "2026-11-10"),
			queued: event{"7", "2026-11-09"},
			after:  monthly("2026-10-10", "2026-12-10", "2027-01-10"), now: "2026-12-12",
			want: []string{"cus peak 7 @ 2026-11-09 23:59:59"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				w := usagetest.New(t, db, "2026-10-10")
				w.Sell(t, usagetest.Meter("peak", usage.Max, tt.reset, usage.EnforcementHard), "1")
				payer := w.NewPayer(t)
				grant := func(b *usage.Billing) {
					w.Plans.Grant(payer, usage.Allowance{BillsUsage: true, Currency: "EUR", Billing: b})
				}
				record := func(e event) {
					w.RecordAll(t, payer, []usage.Recording{usagetest.RecordedAt(usagetest.Recording("peak", e.quantity), e.at)}, true)
				}
				grant(tt.before)
				for _, e := range tt.reports {
					w.Clock.Set(usagetest.At(e.at))
					record(e)
					report(t, w, &till{formula: psp.AggregateLast})
				}
				w.Clock.Set(usagetest.At(tt.queued.at))
				record(tt.queued)
				w.Clock.Set(usagetest.At(tt.now))
				grant(tt.after)
				if tt.late.quantity != "" {
					record(tt.late)
				}
				p := &till{formula: psp.AggregateLast}
				report(t, w, p)
				if got := p.list(); !slices.Equal(got, tt.want) {
					t.Errorf("reported %q, want %q", got, tt.want)
				}
			})
		})
	}
}
