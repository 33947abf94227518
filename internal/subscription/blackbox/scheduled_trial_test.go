package blackbox_test

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// In a trial, the change takes effect at the end of the trial, even if the platform moves the end
// (rules: subscription#the-end-of-a-trial).
func TestScheduledChangeOfATrial(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small := monthly(s, "large", 5000, apptest.Object{"trial_days": 10}), monthly(s, "small", 2000)
		ada := s.NewCustomer("ada")
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		later(ada, small).Want(200).WantAt("data.subscription.pending_change.effective_at", ada.Subscription(ada.Owner).At("data.trial_ends_at"))
		end := s.Now().Add(15 * apptest.Day).UTC().Truncate(time.Second)
		moved := patchContract(ada, apptest.Object{"trial_ends_at": end.Format(time.RFC3339)}).Want(200)
		if got := moved.TimeAt("data.pending_change.effective_at"); !got.Equal(end) {
			t.Errorf("effective at %v, want %v", got, end)
		}
		pass(s, 16*apptest.Day, ada)
		wantSchedules(s, 0)
		ada.Subscription(ada.Owner).WantAt("data.status", "active").WantAt("data.plan.id", small)
		if total := lastTotal(ada); total != 2000.0 {
			t.Errorf("the invoice is %v", total)
		}
	})
}

// If the platform ends a trial now, the scheduled change takes effect immediately, even if the
// provider's response is lost (rules: subscription#the-end-of-a-trial).
func TestScheduledChangeOfATrialThatEndsNow(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large, small := monthly(s, "large", 5000, apptest.Object{"trial_days": 10}), monthly(s, "small", 2000)
		now := apptest.Object{"trial_ends_at": "now"}
		ada, bob := s.NewCustomer("ada"), s.NewCustomer("bob")
		for _, c := range []*apptest.Customer{ada, bob} {
			c.Buy(large, "EUR", apptest.Card(apptest.CardPays))
			later(c, small).Want(200)
		}
		patchContract(ada, now).Want(200).WantAt("data.status", "active").WantAt("data.plan.id", small).WantAt("data.pending_change", nil)
		s.Chaos(apptest.Object{"api": apptest.Object{"fail_after": 1, "status": 0}})
		patchContract(bob, now).WantRefused(502, "psp_error")
		s.Chaos(nil)
		s.RetryWhileDown(func() apptest.Reply { return patchContract(bob, now) })
		s.AwaitNotifications()
		wantSchedules(s, 0)
		for _, c := range []*apptest.Customer{ada, bob} {
			apptest.Eventually(t, "the change", func() bool { return c.Subscription(c.Owner).At("data.plan.id") == small })
			c.Subscription(c.Owner).WantAt("data.status", "active").WantAt("data.price_cents", 2000.0).WantAt("data.pending_change", nil)
			if total := lastTotal(c); total != 2000.0 {
				t.Errorf("the invoice is %v", total)
			}
			wantAudited(c, map[string]int{"_scheduled": 1, "_dropped": 0, "_lapsed": 0, "d": 1})
		}
	})
}

// If one request changes the seats and the price and ends the trial, the first invoice has the new
// seats and price (rules: subscription#the-end-of-a-trial).
func TestTrialEndsNowWithSeatsAndPrice(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		seats := monthly(s, "seats", 1200, apptest.Object{"trial_days": 10, "pricing_type": "seat"})
		ada := s.NewCustomer("ada")
		ada.Buy(seats, "EUR", apptest.Card(apptest.CardPays))
		patchContract(ada, apptest.Object{"trial_ends_at": "now", "quantity": 5, "price_cents": 500}).Want(200).
			WantAt("data.status", "active").WantAt("data.quantity", 5.0).WantAt("data.price_cents", 500.0).WantAt("data.pending_change", nil)
		s.AwaitNotifications()
		if total := lastTotal(ada); total != 2500.0 {
			t.Errorf("first invoice = %v, want 2500", total)
		}
	})
}

// A scheduled change to a plan that the usage exceeds is dropped when the trial ends now.
func TestScheduledChangeLapsesWhenATrialEndsNow(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		large := monthly(s, "large", 5000, apptest.Object{"trial_days": 10})
		s.AddPlan("small", "flat", "month", 1900, 0, map[string]int{"team-members": 1})
		ada := s.NewCustomer("ada")
		ada.Buy(large, "EUR", apptest.Card(apptest.CardPays))
		small := s.PlanID(ada.Owner, "small")
		later(ada, small).Want(200)
		apptest.Exec(t, s.DB(), `UPDATE entitlements SET value = 0 WHERE plan_id = $1`, small)
		patchContract(ada, apptest.Object{"trial_ends_at": "now"}).Want(200).WantAt("data.status", "active").WantAt("data.plan.id", large).WantAt("data.pending_change", nil)
		wantSchedules(s, 0)
		wantAudited(ada, map[string]int{"_scheduled": 1, "_dropped": 0, "_lapsed": 1, "d": 0})
	})
}
