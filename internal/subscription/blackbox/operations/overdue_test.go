package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A tenant with an unpaid invoice for the current period can change its plan. It gets neither
// credit for unpaid time nor access before the payment.
func TestChangeWhileOverdue(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("mini", "flat", "month", 900, 0, map[string]int{"api-calls": 100})
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		k := s.Customers()
		open := k.AddPastDue("ada", "eve")
		o := k.Names["ada"]
		stays := func(plan string) {
			t.Helper()
			s.Subscription(o).WantAt("data.status", "past_due").WantAt("data.plan.name", plan)
			if list := s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200).At("data").([]any); len(list) != 0 {
				t.Errorf("%d features are granted", len(list))
			}
			if n := len(s.ProviderObjects(o, "invoice")); n != 2 {
				t.Errorf("%d invoices", n)
			}
			s.ProviderObjects(o, "customer")[0].WantAt("balance", 0.0)
		}
		stays("Starter")
		// A more expensive plan is paid immediately, or the change is not made.
		wantAmounts(s.PreviewChange(o, "pro", 0))
		s.ChangePlan(o, "pro", nil).WantRefused(422, "plan_change_error")
		stays("Starter")
		if net := wantAmounts(s.PreviewChange(o, "mini", 0)); net != 0 {
			t.Errorf("total of fewer seats = %v", net)
		}
		s.ChangePlan(o, "mini", nil).Want(200).WantAt("data.action", "updated").WantAt("data.subscription.status", "past_due")
		stays("mini")
		s.PayAtProvider(open["ada"])
		s.AwaitNotifications()
		s.Subscription(o).WantAt("data.status", "active").WantAt("data.plan.name", "mini").WantAt("data.price_cents", 900.0)

		// A change that costs nothing takes effect immediately, as for any tenant. The owed amount
		// stays owed.
		o = k.Names["eve"]
		if net := wantAmounts(s.PreviewChange(o, "free", 0)); net != 0 {
			t.Errorf("total of the free plan = %v", net)
		}
		s.ChangePlan(o, "free", nil).Want(200)
		s.AwaitNotifications()
		s.Subscription(o).WantAt("data.plan.name", "Free").WantAt("data.price_cents", 0.0)
		s.ProviderObjects(o, "customer")[0].WantAt("balance", 0.0)
		if got := s.InvoiceStates(o)[open["eve"]]; got != "open" {
			t.Errorf("the invoice is %s", got)
		}
	})
}

// The paid invoice of a change would make the subscription active. So the owed invoices are paid
// first, or nothing happens.
func TestChangePaysOverdueInvoice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("pro", "flat", "month", 4900, 0, nil)
		s.AddPlan("annual", "flat", "year", 40000, 0, nil)
		s.AddPlan("weekly", "flat", "week", 500, 0, nil)
		k := s.Customers()
		names := map[string]string{"more": "pro", "longer": "annual", "shorter": "weekly", "refused": "weekly"}
		open := k.AddPastDue("more", "longer", "shorter", "refused")
		for name, plan := range names {
			b := buyer{&apptest.Customer{Server: s, Owner: k.Names[name], Email: name + "@example.com"}}
			before := len(b.invoices())
			if name == "refused" {
				s.ChangePlan(b.Owner, plan, nil).WantRefused(422, "plan_change_error")
				s.AwaitNotifications()
				b.WantStatus("past_due")
				if got := s.InvoiceStates(b.Owner)[open[name]]; got != "open" || len(b.invoices()) != before {
					t.Errorf("refused: the invoice is %s, %d were made", got, len(b.invoices())-before)
				}
				continue
			}
			b.ReplaceCard(apptest.CardPays)
			b.WantStatus("past_due")
			shown := b.sees(plan, 0)
			// Nothing of the open invoice is credited, and the preview shows everything that is
			// charged.
			s.ChangePlan(b.Owner, plan, nil).Want(200).WantAt("data.action", "updated")
			made := b.invoices()[before:]
			if len(made) != 1 || shown.credit != 0 || shown.net != made[0].At("total").(float64)+1900 {
				t.Errorf("%s: shown is %+v, invoiced %v", name, shown, made)
			}
			s.AwaitNotifications()
			s.Subscription(b.Owner).WantAt("data.status", "active").WantAt("data.plan.id", s.PlanID(b.Owner, plan))
			if got := s.InvoiceStates(b.Owner)[open[name]]; got != "paid" {
				t.Errorf("%s: overdue invoice is %s, want paid", name, got)
			}
		}
	})
}
