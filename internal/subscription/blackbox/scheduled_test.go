package blackbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// later schedules a change to a plan for the end of the period.
func later(c *apptest.Customer, plan string, changes ...apptest.Object) apptest.Reply {
	c.T.Helper()
	return c.Call("POST", c.Path("/subscription/change-plan"), c.Token,
		apptest.WithChanges(apptest.Object{"new_plan_id": plan, "when": "period_end"}, changes...))
}

// previewLater previews a change at the end of the period.
func previewLater(c *apptest.Customer, plan, more string) apptest.Reply {
	c.T.Helper()
	return c.Call("GET", c.Path("/subscription/preview-change?when=period_end&new_plan_id=")+plan+more, c.Token, nil)
}

// takeBack drops the customer's pending change.
func takeBack(c *apptest.Customer) {
	c.T.Helper()
	c.Call("DELETE", c.Path("/subscription/pending-change"), c.Token, nil).Want(204)
}

// wantScheduled checks the change that is scheduled for the end of the period.
func wantScheduled(a apptest.Reply, at, plan string, quantity, cents float64) {
	a.WantAt(at+".pending_change.kind", "scheduled").WantAt(at+".pending_change.plan.id", plan).
		WantAt(at+".pending_change.quantity", quantity).WantAt(at+".pending_change.price_cents", cents).
		WantAt(at+".pending_change.effective_at", a.At(at+".current_period_end")).
		WantAt(at+".pending_change.expires_at", nil).WantAt(at+".pending_change.payment_action", nil)
}

// wantSchedules checks the number of subscriptions with a schedule at the provider, once all jobs are
// done.
func wantSchedules(s *apptest.Server, want int) {
	s.T.Helper()
	apptest.Eventually(s.T, "the schedules", func() bool {
		n := 0
		for _, sub := range s.AllProviderObjects("subscription") {
			if sub.At("schedule") != nil {
				n++
			}
		}
		return n == want
	})
	s.AwaitNotifications()
}

// wantAudited checks the number of audit entries by action, without the prefix.
func wantAudited(c *apptest.Customer, want map[string]int) {
	c.T.Helper()
	for action, n := range want {
		if got := c.CountAudited(c.Owner, "subscription.plan_change"+action); got != n {
			c.T.Errorf("%d entries plan_change%s, want %d", got, action, n)
		}
	}
}

// lastTotal returns the total of the customer's newest invoice at the provider.
func lastTotal(c *apptest.Customer) any {
	c.T.Helper()
	all := c.ProviderObjects(c.Owner, "invoice")
	return all[len(all)-1].At("total")
}

// The change takes effect at the end of the period, and the next invoice charges the amount that was
// shown, although the list price has changed (rules: subscription#changes-at-the-end-of-the-period).
func TestChangeAtPeriodEnd(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small := monthly(s, "large", 5000), monthly(s, "small", 1900)
		ada := s.NewCustomer("ada")
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		shown := previewLater(ada, small, "").Want(200)
		wantPreview(shown, map[string]float64{"credit": 0, "charge": 0, "net": 0, "balance_applied": 0, "due_now": 0, "next_amount": 1900, "next_due": 1900})
		shown.WantAt("data.effective_at", ada.Subscription(ada.Owner).At("data.current_period_end")).
			WantAt("data.next_billing_at", shown.At("data.effective_at"))
		made := later(ada, small).Want(200).WantAt("data.action", "scheduled").WantAt("data.subscription.plan.id", large)
		wantScheduled(made, "data.subscription", small, 1, 1900)
		wantScheduled(ada.Subscription(ada.Owner), "data", small, 1, 1900)
		later(ada, small).Want(200) // repeated
		wantAudited(ada, map[string]int{"_scheduled": 1, "_dropped": 0, "d": 0})
		apptest.Exec(t, s.DB(), `UPDATE plan_prices SET price_cents = 9900, psp_price_id = NULL WHERE plan_id = $1`, small)
		s.AwaitNotifications()
		wantSchedules(s, 1)
		pass(s, 32*apptest.Day, ada)
		wantSchedules(s, 0) // released as soon as the phase has begun
		got := ada.Subscription(ada.Owner).WantAt("data.plan.id", small).WantAt("data.price_cents", 1900.0).WantAt("data.pending_change", nil)
		got.WantAt("data.custom_price", false)
		if total := lastTotal(ada); total != 1900.0 {
			t.Errorf("the invoice is %v", total)
		}
		wantAudited(ada, map[string]int{"_scheduled": 1, "_dropped": 0, "d": 1, "_lapsed": 0})
		pass(s, 31*apptest.Day, ada)
		if total := lastTotal(ada); total != 1900.0 {
			t.Errorf("the next invoice is %v", total)
		}
	})
}

// A change at the end of the period is refused in these cases
// (rules: subscription#changes-at-the-end-of-the-period).
func TestChangeAtPeriodEndRefusals(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small, free := monthly(s, "large", 5000), monthly(s, "small", 1900), monthly(s, "free-one", 0)
		promo(s, "SALE")
		ada, bob, eve := s.NewCustomer("ada"), s.NewCustomer("bob"), s.NewCustomer("eve")
		later(ada, small).Want(404)
		takeBackOfNothing := s.Call("DELETE", ada.Path("/subscription/pending-change"), ada.Token, nil)
		takeBackOfNothing.Want(204)
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		takeBack(ada)
		later(ada, small, apptest.Object{"when": "tomorrow"}).WantInvalid("when")
		s.Call("GET", ada.Path("/subscription/preview-change?when=x&new_plan_id=")+small, ada.Token, nil).WantInvalid("when")
		later(ada, small, apptest.Object{"promotion_code": "SALE"}).WantInvalid("promotion_code")
		previewLater(ada, small, "&promotion_code=SALE").WantInvalid("promotion_code")
		later(ada, large).WantRefused(422, "plan_change_error")
		later(ada, apptest.NoSuchID).WantInvalid("new_plan_id")
		s.Cancel(ada.Owner, false).Want(200)
		later(ada, small).WantRefused(422, "plan_change_error")
		previewLater(ada, small, "").WantRefused(422, "plan_change_error")
		s.Resume(ada.Owner).Want(200)
		later(ada, small).Want(200)
		later(ada, free).Want(200).WantAt("data.subscription.pending_change.price_cents", 0.0)

		// A change from a free plan to a paid one is refused.
		bob.OpenCheckout(free, "EUR")
		s.Pay(openWith(bob, free, "").Want(200).Str("data.url"), "").Want(303)
		apptest.Eventually(t, "the activation", func() bool { return bob.Subscription(bob.Owner).At("data") != nil })
		later(bob, small).WantRefused(422, "plan_change_error")
		previewLater(bob, small, "").WantRefused(422, "plan_change_error")

		// A change is refused while another one waits for its payment.
		s.Submit(openWith(eve, small, "").Want(200).Str("data.url"), apptest.Confirmation(apptest.CardConfirms)).Want(303)
		apptest.Eventually(t, "the activation", func() bool { return eve.Subscription(eve.Owner).At("data.status") == "active" })
		s.AwaitNotifications()
		waits := s.Call("POST", eve.Path("/subscription/change-plan"), eve.Token, apptest.Object{"new_plan_id": large}).Want(200)
		waits.WantAt("data.action", "confirmation_required").WantAt("data.subscription.pending_change.kind", "payment").
			WantAt("data.subscription.pending_change.quantity", 1.0).WantAt("data.subscription.pending_change.price_cents", 5000.0).
			WantAt("data.subscription.pending_change.effective_at", nil)
		later(eve, large).WantRefused(409, "change_waits")
		patchContract(eve, apptest.Object{"price_cents": 100}).WantRefused(409, "change_waits")
	})
}

// A scheduled change is dropped by request, replaced by another change, and ended by a cancellation,
// which resuming does not undo (rules: subscription#changes-at-the-end-of-the-period).
func TestScheduledChangeEnds(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small, middle := monthly(s, "large", 5000), monthly(s, "small", 1900), monthly(s, "middle", 3000)
		ada := s.NewCustomer("ada")
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		later(ada, small).Want(200)
		takeBack(ada)
		takeBack(ada)
		ada.Subscription(ada.Owner).WantAt("data.pending_change", nil)
		wantSchedules(s, 0)
		wantAudited(ada, map[string]int{"_scheduled": 1, "_dropped": 1})

		later(ada, small).Want(200)
		wantScheduled(later(ada, middle).Want(200), "data.subscription", middle, 1, 3000)
		wantAudited(ada, map[string]int{"_scheduled": 3, "_dropped": 2})
		s.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": small}).Want(200).
			WantAt("data.subscription.pending_change", nil).WantAt("data.subscription.plan.id", small)
		wantAudited(ada, map[string]int{"_scheduled": 3, "_dropped": 3, "d": 1})
		wantSchedules(s, 0)

		for _, immediately := range []bool{false, true} {
			later(ada, large).Want(200)
			s.Cancel(ada.Owner, immediately).Want(200).WantAt("data.pending_change", nil)
			wantSchedules(s, 0)
			if !immediately {
				s.Resume(ada.Owner).Want(200).WantAt("data.pending_change", nil)
			}
		}
		pass(s, 5*time.Minute, ada) // nothing is restored
		wantSchedules(s, 0)
	})
}

// A declined change leaves the scheduled change as it was
// (rules: subscription#changes-at-the-end-of-the-period).
func TestDeclinedChangeKeepsTheScheduledOne(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small, larger := monthly(s, "large", 5000), monthly(s, "small", 1900), monthly(s, "larger", 9000)
		ada := s.NewCustomer("ada")
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		later(ada, small).Want(200)
		ada.ReplaceCard(apptest.CardFailsAtRenewal)
		s.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": larger}).WantRefused(422, "plan_change_error")
		wantSchedules(s, 1)
		apptest.Eventually(t, "the scheduled change", func() bool {
			return ada.Subscription(ada.Owner).At("data.pending_change.plan.id") == small
		})
		wantAudited(ada, map[string]int{"_scheduled": 1, "_dropped": 0, "_lapsed": 0})
	})
}

// A scheduled change keeps its author, even if the state is read while another change has released it
// (rules: subscription#by-the-platform).
func TestRestoredChangeKeepsItsAuthor(t *testing.T) {
	t.Parallel()
	apptest.EachWithProxy(t, func(t *testing.T, s *apptest.Server, w *apptest.Proxy) {
		large, small, larger := monthly(s, "large", 5000), monthly(s, "small", 1900), monthly(s, "larger", 9000)
		ada := s.NewCustomer("ada")
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		by := later(ada, small).Want(200).At("data.subscription.pending_change.by")
		ada.ReplaceCard(apptest.CardFailsAtRenewal)
		w.Tamper(apptest.ForEndpoint(apptest.HoldAnswer, http.MethodPost, "/subscriptions/"))
		refused := make(chan apptest.Reply)
		go func() {
			refused <- s.Call("POST", ada.Path("/subscription/change-plan"), ada.Token, apptest.Object{"new_plan_id": larger})
		}()
		apptest.Eventually(t, "the read-back without the change", func() bool { return ada.Subscription(ada.Owner).At("data.pending_change") == nil })
		w.ReleaseAnswers()
		w.Tamper(nil)
		reply := <-refused
		reply.WantRefused(422, "plan_change_error")
		apptest.Eventually(t, "the scheduled change", func() bool {
			return ada.Subscription(ada.Owner).At("data.pending_change.plan.id") == small
		})
		ada.Subscription(ada.Owner).WantAt("data.pending_change.by", by)
	})
}

// The seats follow the team before and after the change, or stay as requested, but never below the
// number of members. A smaller plan that is scheduled limits invitations
// (rules: subscription#changes-at-the-end-of-the-period).
func TestScheduledSeats(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("crew", "seat", "month", 1500, 0, map[string]int{"team-members": 3})
		s.AddPlan("squad", "seat", "month", 1000, 0, nil)
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "squad")
		crew := s.PlanID(ada.Owner, "crew")
		quantities := func(what string, now, next float64) {
			t.Helper()
			apptest.Eventually(t, what, func() bool {
				got := ada.Subscription(ada.Owner)
				return got.At("data.quantity") == now && got.At("data.pending_change.quantity") == next
			})
			apptest.Eventually(t, what+" at the provider", func() bool {
				all := s.AllProviderObjects("subscription_schedule")
				sched := all[len(all)-1]
				return sched.At("phases.0.items.0.quantity") == now && sched.At("phases.1.items.0.quantity") == next
			})
		}
		later(ada, crew, apptest.Object{"quantity": 4}).WantInvalid("quantity")
		later(ada, crew).Want(200)
		_, id := s.Join(ada.Owner, "bob", "bob@example.com", "member")
		quantities("a join", 2, 2)
		s.Call("DELETE", ada.Path("/team/members/")+apptest.IDText(float64(id)), ada.Token, nil).Want(200)
		quantities("a departure", 1, 1)
		later(ada, crew, apptest.Object{"quantity": 2}).Want(200)
		s.Join(ada.Owner, "eve", "eve@example.com", "member")
		quantities("within the requested seats", 2, 2)
		s.Join(ada.Owner, "dan", "dan@example.com", "member")
		quantities("above the requested seats", 3, 3)
		s.Call("POST", ada.Path("/team/invitations"), ada.Token, apptest.Object{"email": "fay@example.com", "role": "member"}).
			WantRefused(422, "SEAT_LIMIT_REACHED")
		pass(s, 32*apptest.Day, ada)
		wantSchedules(s, 0)
		ada.Subscription(ada.Owner).WantAt("data.plan.id", crew).WantAt("data.quantity", 3.0)
	})
}

// A scheduled change is dropped during the last hour of the period if the usage exceeds the new plan,
// with one mail each to the owner and the billing address
// (rules: subscription#changes-at-the-end-of-the-period).
func TestScheduledChangeLapses(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AddPlan("large", "flat", "month", 5000, 0, nil)
		s.AddPlan("small", "flat", "month", 1900, 0, map[string]int{"team-members": 1})
		ada := s.NewCustomer("ada")
		s.BuyPlan(ada.Owner, "large")
		ada.AwaitNotifications()
		small := s.PlanID(ada.Owner, "small")
		later(ada, small).Want(200)
		apptest.Exec(t, s.DB(), `UPDATE entitlements SET value = 0 WHERE plan_id = $1`, small)
		end := ada.Subscription(ada.Owner).TimeAt("data.current_period_end")
		s.AdvanceTo(end.Add(-50 * time.Minute))
		ada.LogInAgain()
		apptest.Eventually(t, "the end of the change", func() bool { return ada.Subscription(ada.Owner).At("data.pending_change") == nil })
		for _, to := range []string{ada.Email, billingEmail} {
			apptest.Eventually(t, "the mail to "+to, func() bool { return countMails(s, to, "small") == 1 })
		}
		wantAudited(ada, map[string]int{"_scheduled": 1, "_lapsed": 1, "_dropped": 0})
		pass(s, apptest.Day, ada)
		ada.Subscription(ada.Owner).WantAt("data.plan.name", "large")
		if total := lastTotal(ada); total != 5000.0 {
			t.Errorf("the invoice is %v", total)
		}
	})
}

// price_cents schedules another price for the same plan and quantity, and null returns to the list
// price (rules: subscription#changes-at-the-end-of-the-period).
func TestScheduledPrice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		plan, other := monthly(s, "pro", 5000), monthly(s, "other", 3000)
		ada := s.NewCustomer("ada")
		ada.Buy(plan, "EUR", apptest.Card(apptest.CardPays))
		patchContract(ada, apptest.Object{"price_cents": -1}).WantInvalid("price_cents")
		patched := patchContract(ada, apptest.Object{"price_cents": 1234}).Want(200)
		wantScheduled(patched, "data", plan, 1, 1234)
		patched.WantAt("data.custom_price", false).WantAt("data.price_cents", 5000.0)
		patchContract(ada, apptest.Object{"price_cents": 1234}).Want(200)
		wantAudited(ada, map[string]int{"_scheduled": 1})
		pass(s, 32*apptest.Day, ada)
		wantSchedules(s, 0)
		ada.Subscription(ada.Owner).WantAt("data.plan.id", plan).WantAt("data.price_cents", 1234.0).WantAt("data.custom_price", true)
		if total := lastTotal(ada); total != 1234.0 {
			t.Errorf("the invoice is %v", total)
		}
		wantScheduled(patchContract(ada, apptest.Object{"price_cents": nil}).Want(200), "data", plan, 1, 5000)
		pass(s, 31*apptest.Day, ada)
		wantSchedules(s, 0)
		ada.Subscription(ada.Owner).WantAt("data.price_cents", 5000.0).WantAt("data.custom_price", false)

		// Another plan ends a custom price.
		patchContract(ada, apptest.Object{"price_cents": 0}).Want(200)
		patchContract(ada, apptest.Object{"price_cents": nil}).Want(200).WantAt("data.pending_change", nil)
		patchContract(ada, apptest.Object{"price_cents": 777}).Want(200)
		pass(s, 31*apptest.Day, ada)
		wantSchedules(s, 0)
		later(ada, other).Want(200)
		pass(s, 31*apptest.Day, ada)
		wantSchedules(s, 0)
		ada.Subscription(ada.Owner).WantAt("data.plan.id", other).WantAt("data.price_cents", 3000.0).WantAt("data.custom_price", false)
	})
}

// A scheduled change keeps the current discount, and also a code that is applied later
// (rules: subscription#changes-at-the-end-of-the-period).
func TestScheduledChangeKeepsTheDiscount(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small := monthly(s, "large", 5000), monthly(s, "small", 2000)
		promo(s, "HALF")
		promo(s, "FIFTH", apptest.Object{"percent_off": 20})
		ada := s.NewCustomer("ada")
		s.Pay(openWith(ada, large, "HALF").Want(200).Str("data.url"), "4242424242424242").Want(303)
		apptest.Eventually(t, "the activation", func() bool { return ada.Subscription(ada.Owner).At("data") != nil })
		s.AwaitNotifications()
		wantPreview(previewLater(ada, small, "").Want(200), map[string]float64{"next_amount": 1000, "next_due": 1000})
		later(ada, small).Want(200)
		pass(s, 32*apptest.Day, ada)
		wantSchedules(s, 0)
		if total := lastTotal(ada); total != 1000.0 {
			t.Errorf("the invoice is %v", total)
		}
		ada.Subscription(ada.Owner).WantAt("data.discount.code", "HALF")
		later(ada, large).Want(200)
		post(ada, "FIFTH").Want(200)
		apptest.Eventually(t, "the schedule with the new discount", func() bool {
			all := s.AllProviderObjects("subscription_schedule")
			sub := ada.ProviderObjects(ada.Owner, "subscription")[0]
			return all[len(all)-1].At("phases.1.discounts.0.discount") == sub.At("discounts.0")
		})
		pass(s, 31*apptest.Day, ada)
		wantSchedules(s, 0)
		if total := lastTotal(ada); total != 4000.0 {
			t.Errorf("the invoice is %v", total)
		}
	})
}

// A lost response, an outage between the two steps, and repeated notifications leave at most one
// schedule.
func TestScheduledChangeInTrouble(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small := monthly(s, "large", 5000), monthly(s, "small", 1900)
		ada := s.NewCustomer("ada")
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		for _, chaos := range []apptest.Object{{"fail_after": 1, "status": 0}, {"fail_before": 1, "status": 0}} {
			s.Chaos(apptest.Object{"api": chaos})
			later(ada, small).WantRefused(502, "psp_error")
			s.Chaos(nil)
			wantScheduled(s.RetryWhileDown(func() apptest.Reply { return later(ada, small) }).Want(200), "data.subscription", small, 1, 1900)
			wantSchedules(s, 1)
			s.Call("POST", "/sandbox/stripe/replay", "", apptest.Object{"times": 2})
			s.AwaitNotifications()
			wantScheduled(ada.Subscription(ada.Owner), "data", small, 1, 1900)
			s.RetryWhileDown(func() apptest.Reply {
				return s.Call("DELETE", ada.Path("/subscription/pending-change"), ada.Token, nil)
			}).Want(204)
			wantSchedules(s, 0)
		}
		wantAudited(ada, map[string]int{"_scheduled": 2, "_dropped": 2, "_lapsed": 0})
		// If the process ends after it has created a schedule, the schedule is released, or used by the
		// next attempt.
		id := ada.ProviderObjects(ada.Owner, "subscription")[0].Str("id")
		s.AtProvider("POST", "/subscription_schedules", "from_subscription", id)
		wantSchedules(s, 0)
		s.AtProvider("POST", "/subscription_schedules", "from_subscription", id)
		later(ada, small).Want(200)
		wantSchedules(s, 1)
		// If the schedule is released at the provider, the change has lapsed.
		all := s.AllProviderObjects("subscription_schedule")
		s.AtProvider("POST", "/subscription_schedules/"+all[len(all)-1].Str("id")+"/release")
		s.AwaitNotifications()
		ada.Subscription(ada.Owner).WantAt("data.pending_change", nil)
		wantAudited(ada, map[string]int{"_lapsed": 1})
	})
}
