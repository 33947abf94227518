package billing_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// Usage of a period whose invoice is final is rejected instead of reported. Usage is reported if
// the invoice is a draft or if the tenant was not billed for the period.
func TestLateUsage(t *testing.T) {
	t.Parallel()
	line := func(start, end string, change func(*psp.InvoiceLine)) psp.Invoice {
		l := psp.InvoiceLine{PriceID: "price_calls", PeriodStart: usagetest.At(start), PeriodEnd: usagetest.At(end)}
		if change != nil {
			change(&l)
		}
		return psp.Invoice{Status: "draft", Lines: []psp.InvoiceLine{{PriceID: "price_plan", PeriodStart: usagetest.At(end), PeriodEnd: usagetest.At("2027-01-10")}, l}}
	}
	tests := []struct {
		name        string
		billedUntil string
		drafts      []psp.Invoice
		told        []string // dates of the reported usage
	}{
		{"all is final", "2026-12-10", nil, []string{"2026-12-10", "2026-12-21"}},
		{"the last is a draft", "2026-12-10", []psp.Invoice{line("2026-11-10", "2026-12-10", nil)}, []string{"2026-11-10", "2026-12-09", "2026-12-10", "2026-12-21"}},
		{"an earlier one is a draft", "2026-12-10", []psp.Invoice{line("2026-10-10", "2026-11-10", nil)}, []string{"2026-11-09", "2026-12-10", "2026-12-21"}},
		{
			"a draft has a change alone", "2026-12-10",
			[]psp.Invoice{line("2026-11-10", "2026-12-10", func(l *psp.InvoiceLine) { l.Proration = true })},
			[]string{"2026-12-10", "2026-12-21"},
		},
		{
			"a draft without a price", "2026-12-10",
			[]psp.Invoice{line("2026-11-10", "2026-12-10", func(l *psp.InvoiceLine) { l.PriceID = "" })},
			[]string{"2026-12-10", "2026-12-21"},
		},
		{"the earlier times were free", "2026-11-10", nil, []string{"2026-11-10", "2026-12-09", "2026-12-10", "2026-12-21"}},
	}
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		w := usagetest.New(t, db, "2026-12-21 12:00")
		w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
		rejections := billing.NewRejections(db, w.Clock, audit.New(audit.Deps{DB: db, Clock: w.Clock}))
		for _, tt := range tests {
			payer := w.NewTenant(t)
			w.Plans.Grant(payer, usage.Allowance{
				Billing: usagetest.Billing("2026-11-10", usage.Month, 1, "2026-12-10", "2027-01-10"), Limits: map[string]int64{"calls": 2},
			})
			w.Plans.BilledUntil(usagetest.At(tt.billedUntil))
			days := []string{"2026-11-09", "2026-11-10", "2026-12-09", "2026-12-10", "2026-12-21"}
			for _, day := range days {
				w.RecordAll(t, payer, []usage.Recording{usagetest.RecordedAt(usagetest.Recording("calls", "1"), day)}, true)
			}
			_, err := w.Record(t.Context(), payer, usagetest.RecordedAt(usagetest.Recording("calls", "1"), "2026-11-20"))
			if !errors.Is(err, usage.ErrQuotaExceeded) {
				t.Errorf("%s: quota of a past period was enforced: %v", tt.name, err)
			}
			p := &till{drafts: tt.drafts}
			if err := reporter(w, p).Report(t.Context()); err != nil {
				t.Fatal(err)
			}
			told, listed := []string{}, []string{}
			for _, u := range p.counted {
				told = append(told, u.At.Format(time.DateOnly))
			}
			err = rejections.ForEach(t.Context(), func(f billing.RejectedReport) error {
				listed = append(listed, f.RecordedAt.Format(time.DateOnly))
				if f.Reason != "period_closed" || f.TenantID != payer {
					return fmt.Errorf("listed is %+v", f)
				}
				return rejections.Discard(t.Context(), f.ID)
			})
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(told)
			slices.Sort(listed)
			if diff := cmp.Diff(tt.told, told); diff != "" {
				t.Errorf("%s: reports (-want +got)\n%s", tt.name, diff)
			}
			closed := slices.DeleteFunc(days, func(day string) bool { return slices.Contains(tt.told, day) })
			if diff := cmp.Diff(closed, listed); diff != "" {
				t.Errorf("%s: listed (-want +got)\n%s", tt.name, diff)
			}
		}
	})
}
