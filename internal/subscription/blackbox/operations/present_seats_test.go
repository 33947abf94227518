package blackbox_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Seats beyond the plan's quota of team members are never sold.
func TestSeatsAboveTheQuota(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 1500, 0, map[string]int{"team-members": 5})
		s.AddPlan("small", "seat", "month", 900, 0, map[string]int{"team-members": 2})
		buyer, c := s.Register("ada@example.com", true), s.NewCustomer("eve")
		choice := func(quantity int) apptest.Object {
			return apptest.Object{"plan_slug": "crew", "currency": "EUR", "quantity": quantity}
		}
		checkout := func(o apptest.Owner, quantity int) apptest.Reply {
			return s.Call("POST", o.Path("/checkout"), o.Token, apptest.WithChanges(apptest.ReturnURLs, apptest.Object{
				"plan_id": s.PlanID(o, "crew"), "currency": "EUR", "quantity": quantity,
			}))
		}
		s.Pay(checkout(c.Owner, 5).Want(200).Str("data.url"), apptest.CardPays).Want(303)
		s.AwaitNotifications()
		for name, refused := range map[string]apptest.Reply{
			"checkout": checkout(buyer, 6),
			"onboarding": s.Call("POST", "/api/v1/onboarding/start", "", apptest.WithChanges(choice(6), apptest.Object{
				"name": "New", "email": "new@example.com", "password": "a long password 1", "password_confirmation": "a long password 1",
			})),
			"retry":            s.Call("POST", "/api/v1/onboarding/retry-checkout", buyer.Token, choice(6)),
			"preview":          s.PreviewChange(c.Owner, "small", 3),
			"change":           s.ChangePlan(c.Owner, "small", apptest.Object{"quantity": 3}),
			"preview of seats": s.PreviewChange(c.Owner, "crew", 6),
			"change of seats":  s.ChangePlan(c.Owner, "crew", apptest.Object{"quantity": 6}),
		} {
			refused.As(name).Want(422)
			if errs, _ := refused.At("errors").(map[string]any); errs["quantity"] == nil {
				t.Errorf("%s: %v", name, refused.At("errors"))
			}
		}
		s.Subscription(c.Owner).WantAt("data.quantity", 5.0).WantAt("data.plan.id", s.PlanID(c.Owner, "crew"))
		// Without a quantity, a smaller plan gets as many of the current seats as it allows.
		s.ChangePlan(c.Owner, "small", nil).Want(200).WantAt("data.subscription.quantity", 2.0)
	})
}

// The seats of the current plan can be changed immediately, at the price of the subscription.
func TestSeatsOfThePresentPlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		c := s.NewCustomer("ada")
		s.BuyPlan(c.Owner, "crew")
		crew := s.PlanID(c.Owner, "crew")
		s.Advance(15 * apptest.Day)
		c.LogInAgain()
		// Since the subscription began, the plan has become more expensive and is no longer sold.
		apptest.Exec(t, s.DB(), `UPDATE plan_prices SET price_cents = 9900, psp_price_id = NULL WHERE plan_id = $1`, crew)
		apptest.Exec(t, s.DB(), `UPDATE plans SET is_active = false WHERE id = $1`, crew)
		change := func(quantity int) apptest.Reply {
			return s.Call("POST", c.Path("/subscription/change-plan"), c.Token, apptest.Object{"new_plan_id": crew, "quantity": quantity})
		}
		preview := func(quantity int) apptest.Reply {
			return s.Call("GET", c.Path("/subscription/preview-change?new_plan_id="+crew+"&quantity="+strconv.Itoa(quantity)), c.Token, nil)
		}
		change(1).WantRefused(422, "plan_change_error")
		s.Call("POST", c.Path("/subscription/change-plan"), c.Token, apptest.Object{"new_plan_id": crew}).WantRefused(422, "plan_change_error")
		end := s.Subscription(c.Owner).Str("data.current_period_end")
		p := preview(4).Want(200).WantAt("data.next_amount.cents", 12000.0).WantAt("data.next_billing_at", end)
		net := p.At("data.net.cents").(float64)
		if net <= 0 || net >= 9000 || p.At("data.due_now.cents") != net {
			t.Errorf("three seats for half a month: %v", p.At("data"))
		}
		change(4).Want(200).WantAt("data.action", "updated").WantAt("data.subscription.quantity", 4.0)
		s.Subscription(c.Owner).WantAt("data.quantity", 4.0).WantAt("data.price_cents", 3000.0).WantAt("data.plan.id", crew)
		invoices := s.ProviderObjects(c.Owner, "invoice")
		invoices[len(invoices)-1].WantAt("total", net).WantAt("status", "paid")
		if n := s.CountAudited(c.Owner, "subscription.quantity_changed"); n != 1 {
			t.Errorf("%d entries of the audit trail", n)
		}
		s.Join(c.Owner, "Grace", "grace@example.com", "member")
		change(1).Want(422)
		// Fewer seats result in a credit, which the next bill uses.
		p = preview(2).Want(200).WantAt("data.next_amount.cents", 6000.0).WantAt("data.due_now.cents", 0.0)
		if credit := -p.At("data.net.cents").(float64); credit <= 0 || p.At("data.next_due.cents") != 6000-credit {
			t.Errorf("two seats less: %v", p.At("data"))
		}
		change(2).Want(200).WantAt("data.subscription.quantity", 2.0)
	})
}

// A change of seats waits for a confirmation like any other change.
func TestSeatsOfThePresentPlanWait(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 3000, 0, nil)
		b := buysWith(s, "ada", "crew", apptest.Confirmation(apptest.CardConfirms))
		a := s.ChangePlan(b.Owner, "crew", apptest.Object{"quantity": 3}).Want(200).WantAt("data.action", "confirmation_required").
			WantAt("data.subscription.quantity", 1.0).WantAt("data.subscription.pending_change.plan.id", s.PlanID(b.Owner, "crew"))
		s.Submit(a.Str("data.payment_action.url"), apptest.Confirmation(apptest.CardConfirms))
		apptest.Eventually(t, "the seats", func() bool { return s.Subscription(b.Owner).At("data.quantity") == 3.0 })
		if n := s.CountAudited(b.Owner, "subscription.quantity_changed"); n != 1 {
			t.Errorf("%d entries of the audit trail", n)
		}
		s.ChangePlan(b.Owner, "crew", apptest.Object{"quantity": 5}).Want(200).WantAt("data.action", "confirmation_required")
		s.Call("DELETE", b.Path("/subscription/pending-change"), b.Token, nil).Want(204)
		s.Subscription(b.Owner).WantAt("data.quantity", 3.0).WantAt("data.pending_change", nil)
	})
}

// A preview shows the next regular bill after the change, not the bill of the current period.
func TestNextRegularBill(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("year", "flat", "year", 19000, 0, nil)
		s.AddPlan("taster", "flat", "month", 2500, 14, nil)
		c, free, cancels := s.NewCustomer("ada"), s.NewCustomer("eve"), s.NewCustomer("ida")
		s.BuyPlan(c.Owner, "starter")
		s.BuyPlan(free.Owner, "free")
		s.BuyPlan(cancels.Owner, "starter")
		s.Advance(10 * apptest.Day)
		for _, one := range []*apptest.Customer{c, free, cancels} {
			one.LogInAgain()
		}
		at := func(p apptest.Reply) time.Time {
			when, err := time.Parse(time.RFC3339, p.Str("data.next_billing_at"))
			if err != nil {
				t.Error(err)
			}
			return when
		}
		near := func(what string, got, want time.Time) {
			if d := got.Sub(want).Abs(); d > time.Minute {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		p := s.PreviewChange(c.Owner, "year", 0).Want(200).WantAt("data.next_amount.cents", 19000.0).WantAt("data.next_due.cents", 19000.0)
		near("from a month to a year", at(p), s.Now().AddDate(1, 0, 0))
		next := at(p)
		s.ChangePlan(c.Owner, "year", nil).Want(200)
		end, _ := time.Parse(time.RFC3339, s.Subscription(c.Owner).Str("data.current_period_end"))
		near("the period that the change began", end, next)
		p = s.PreviewChange(c.Owner, "free", 0).Want(200).WantAt("data.next_amount.cents", 0.0)
		next = at(p)
		s.ChangePlan(c.Owner, "free", nil).Want(200)
		end, _ = time.Parse(time.RFC3339, s.Subscription(c.Owner).Str("data.current_period_end"))
		near("the period of the free plan", end, next)

		// The credit of the change to the free plan is used first.
		p = s.PreviewChange(c.Owner, "starter", 0).Want(200)
		near("from free to a month", at(p), s.Now().AddDate(0, 1, 0))
		net := p.At("data.net.cents")
		p.WantAt("data.balance_applied.cents", net).WantAt("data.due_now.cents", 0.0).WantAt("data.next_due.cents", 0.0)

		// A trial starts if the tenant had no trial of the product. Afterwards it is no longer
		// offered.
		offered := func(o apptest.Owner) any {
			for _, plan := range s.Call("GET", o.Path("/plans"), o.Token, nil).Want(200).At("data").([]any) {
				if plan := plan.(map[string]any); plan["slug"] == "taster" {
					return plan["trial_days"]
				}
			}
			return nil
		}
		p = s.PreviewChange(free.Owner, "taster", 0).Want(200).WantAt("data.due_now.cents", 0.0).WantAt("data.next_amount.cents", 2500.0)
		near("from free to a trial", at(p), s.Now().AddDate(0, 0, 14))
		if days := offered(free.Owner); days != 14.0 {
			t.Errorf("%v trial days are shown before", days)
		}
		apptest.Exec(t, s.DB(), `INSERT INTO trials (tenant_id, product_id, subscription_id, began_at)
			SELECT s.tenant_id, p.product_id, s.id, s.created_at FROM subscriptions s JOIN plans p ON p.slug = 'taster' WHERE s.tenant_id = $1`, free.Tenant)
		p = s.PreviewChange(free.Owner, "taster", 0).Want(200).WantAt("data.due_now.cents", 2500.0)
		near("after the trial was used", at(p), s.Now().AddDate(0, 1, 0))
		if days := offered(free.Owner); days != 0.0 {
			t.Errorf("%v trial days are shown after", days)
		}
		if days := offered(cancels.Owner); days != 0.0 {
			t.Errorf("%v trial days are shown to a subscriber of the product", days)
		}

		// A subscription with a scheduled end has no next bill.
		s.Cancel(cancels.Owner, false).Want(200)
		s.AddPlan("pro", "flat", "month", 2900, 0, nil)
		s.PreviewChange(cancels.Owner, "pro", 0).Want(200).WantAt("data.next_billing_at", nil).WantAt("data.next_amount.cents", 0.0)
	})
}
