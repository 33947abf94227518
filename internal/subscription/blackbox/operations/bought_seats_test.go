package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// followed waits until the seats of all teams are synced.
func followed(s *apptest.Server) {
	s.T.Helper()
	apptest.Eventually(s.T, "the end of all jobs about seats", func() bool {
		return s.CountRows(`SELECT count(*) FROM jobs WHERE kind = 'subscription.seats'`) == 0
	})
	s.AwaitNotifications()
}

// Extra seats that were bought stay until a change of plan or a departure.
func TestBoughtSeatsStay(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 1500, 0, map[string]int{"team-members": 6})
		o := s.Register("ada@example.com", true)
		page := s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
			"plan_id": s.PlanID(o, "team"), "currency": "EUR", "quantity": 5,
		})).Want(200).Str("data.url")
		s.Pay(page, apptest.CardPays).Want(303)
		s.AwaitNotifications()
		has := func(what string, members, quantity float64) {
			t.Helper()
			followed(s)
			seatsOf(s, o).As(what).WantAt("data.current_seats", members).WantAt("data.subscription_quantity", quantity).WantAt("data.is_synced", true)
			s.ProviderObjects(o, "subscription")[0].WantAt("items.data.0.quantity", quantity)
		}
		join := func(name string) (id int64) {
			t.Helper()
			_, id = s.Join(o, name, name+"@example.com", "member")
			return id
		}
		leave := func(id int64) {
			t.Helper()
			s.Call("DELETE", o.Path("/team/members/")+apptest.IDText(float64(id)), o.Token, nil).Want(200)
		}
		has("as bought", 1, 5)
		grace, edith := join("grace"), join("edith")
		has("with others in the seats", 3, 5)
		leave(grace)
		has("after a departure", 2, 2)
		s.ChangePlan(o, "crew", apptest.Object{"quantity": 4}).Want(200).WantAt("data.subscription.quantity", 4.0)
		jean := join("jean")
		has("a change buys more", 3, 4)

		// A departure counts even if the provider is updated late and another member joins.
		s.Chaos(apptest.ChaosProviderDown)
		leave(edith)
		mary := join("mary")
		s.Chaos(nil)
		has("a departure and a join", 3, 3)

		// Seats that are bought after a departure stay.
		s.Chaos(apptest.ChaosProviderDown)
		leave(jean)
		s.Chaos(nil)
		s.RetryWhileDown(func() apptest.Reply { return s.ChangePlan(o, "team", apptest.Object{"quantity": 6}) }).Want(200)
		has("bought after a departure", 2, 6)
		leave(mary)
		has("the last departure", 1, 1)

		// The number of available seats is 0, not negative.
		s.ChangePlan(o, "crew", nil).Want(200)
		join("ida")
		join("joan")
		apptest.Exec(t, s.DB(), `UPDATE entitlements SET value = 2 WHERE plan_id = (SELECT id FROM plans WHERE slug = 'crew')`)
		seatsOf(s, o).WantAt("data.available_seats", 0.0).WantAt("data.seat_limit", 2.0).WantAt("data.current_seats", 3.0)
	})
}

// Seats that are added to a subscription with a long cycle are invoiced monthly.
func TestAddedSeatsAreInvoicedMonthly(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("annual", "seat", "year", 36500, 0, nil)
		s.AddPlan("steady", "seat", "month", 1000, 0, nil)
		l := s.NewCustomer("annual")
		plan := s.PlanID(l.Owner, "annual")
		l.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		monthly := func(o apptest.Owner, want any) {
			t.Helper()
			if got := s.ProviderObjects(o, "subscription")[0].At("pending_invoice_item_interval.interval"); got != want {
				t.Errorf("pending items are invoiced every %v, want %v", got, want)
			}
		}
		monthly(l.Owner, "month")
		steady := s.NewCustomer("steady")
		steady.Buy(s.PlanID(steady.Owner, "steady"), "EUR", apptest.Card(apptest.CardPays))
		monthly(steady.Owner, nil)

		// An older subscription is invoiced monthly from its next change of seats.
		older := s.NewCustomer("older")
		older.OpenCheckout(plan, "EUR").Want(200)
		customer := older.ProviderObjects(older.Owner, "customer")[0].Str("id")
		card := s.AtProvider("POST", "/payment_methods/pm_card_visa/attach", "customer", customer).Str("id")
		s.AtProvider("POST", "/subscriptions", "customer", customer, "default_payment_method", card,
			"items[0][price]", s.ProviderPriceOf(plan), "items[0][quantity]", "1", "metadata[tenant_id]", older.Tenant, "metadata[plan_id]", plan)
		s.AwaitNotifications()
		monthly(older.Owner, nil)

		s.Advance(10 * apptest.Day)
		l.LogInAgain()
		older.LogInAgain()
		s.Join(l.Owner, "Grace", "grace@example.com", "member")
		s.Join(older.Owner, "Mary", "mary@example.com", "member")
		followed(s)
		monthly(older.Owner, "month")
		s.Invoices(l.Owner, 1)
		s.Advance(22*apptest.Day + 2*time.Hour)
		for _, c := range []*apptest.Customer{l, older} {
			c.LogInAgain()
			s.Invoices(c.Owner, 2)
			all := c.ProviderObjects(c.Owner, "invoice")
			added := all[len(all)-1].WantAt("billing_reason", "automatic_pending_invoice_item_invoice").WantAt("status", "paid")
			// A day costs 100, and 355 days were left.
			if total := added.At("total").(float64); total < 35400 || total > 35500 {
				t.Errorf("%s: the seat costs %v", c.Email, total)
			}
			for id, status := range s.InvoiceStates(c.Owner) {
				if status != "paid" {
					t.Errorf("%s: invoice %s is %s", c.Email, id, status)
				}
			}
			c.Subscription(c.Owner).WantAt("data.status", "active").WantAt("data.quantity", 2.0)
		}
		s.Advance(32 * apptest.Day)
		l.LogInAgain()
		s.Invoices(l.Owner, 2) // nothing was pending
	})
}
