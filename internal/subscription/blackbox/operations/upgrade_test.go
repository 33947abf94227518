package blackbox_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// openUpgrade requests a paid plan in place of the free one, and returns the URL of the hosted
// checkout.
func openUpgrade(s *apptest.Server, o apptest.Owner, slug string) string {
	s.T.Helper()
	a := s.ChangePlan(o, slug, apptest.ReturnURLs).Want(200)
	if a.At("data.action") != "checkout_required" || a.Str("data.session_id") == "" || a.At("data.subscription") != nil {
		s.T.Errorf("upgrade: %s", a.Text)
	}
	return a.Str("data.checkout_url")
}

// A change from a free plan to a paid one opens a checkout. The free subscription stays until the
// checkout is paid, and is then replaced in one step.
func TestFreeToPaid(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		s.AvoidMidnight()
		o := s.Register("ada@example.com", true)
		s.BuyPlanWith(o, "free", "")
		free := s.Subscription(o)
		s.ChangePlan(o, "starter", map[string]any{"cancel_url": "https://app.example.com/no"}).WantInvalid("success_url")
		s.ChangePlan(o, "starter", map[string]any{"success_url": "https://app.example.com/ok", "cancel_url": ""}).WantInvalid("cancel_url")

		shown := s.PreviewChange(o, "starter", 0)
		wantAmounts(shown)
		for at, want := range map[string]any{
			"data.credit.cents": 0.0, "data.charge.cents": 1900.0, "data.breakdown.method": "daily",
			"data.breakdown.period_start":   s.Now().Format(time.DateOnly),
			"data.breakdown.days_remaining": shown.At("data.breakdown.total_days"),
		} {
			if got := shown.At(at); got != want {
				t.Errorf("preview: %s is %v, want %v", at, got, want)
			}
		}
		page := openUpgrade(s, o, "starter")
		if a := s.Subscription(o); a.At("data.id") != free.At("data.id") {
			t.Errorf("before the payment: %s", a.Text)
		}
		s.Pay(page, apptest.CardDeclined).Want(402)
		if a := s.Subscription(o); a.At("data.id") != free.At("data.id") {
			t.Errorf("after a declined card: %s", a.Text)
		}
		s.Pay(page, apptest.CardPays).Want(303)
		apptest.Eventually(t, "the replacement", func() bool {
			a := s.Subscription(o)
			if a.At("data") == nil {
				t.Fatal("no subscription during the replacement")
			}
			return a.At("data.plan.name") == "Starter"
		})
		list := s.Call("GET", "/api/v1/admin/tenants/"+o.Tenant+"/subscriptions", s.Admin(), nil).Want(200)
		if list.At("data.0.status") != "active" || list.At("data.1.status") != "canceled" || list.At("data.1.id") != free.At("data.id") {
			t.Errorf("subscriptions: %s", list.Text)
		}
		apptest.Eventually(t, "the end of the free one at the provider", func() bool {
			subs := s.ProviderObjects(o, "subscription")
			return len(subs) == 2 && subs[0].At("status") == "canceled" && subs[1].At("status") == "active"
		})
		if invoices := s.ProviderObjects(o, "invoice"); invoices[len(invoices)-1].At("total") != 1900.0 {
			t.Errorf("the invoice: %s", invoices[len(invoices)-1].Text)
		}
	})
}

// If two upgrades are paid, one replaces the free subscription and the other is refunded.
func TestTwoPaidUpgrades(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlanWith(o, "free", "")
		pages := []string{openUpgrade(s, o, "starter"), openUpgrade(s, o, "starter")}
		var wg sync.WaitGroup
		for _, page := range pages {
			wg.Go(func() { s.Pay(page, apptest.CardPays) })
		}
		wg.Wait()
		apptest.Eventually(t, "one subscription and one refund", func() bool {
			live := 0
			for _, sub := range s.ProviderObjects(o, "subscription") {
				if sub.At("status") == "active" {
					live++
				}
			}
			refunded := 0
			for _, charge := range s.ProviderObjects(o, "charge") {
				if charge.At("refunded") == true {
					refunded++
				}
			}
			return live == 1 && refunded == 1
		})
		if a := s.Subscription(o); a.At("data.plan.name") != "Starter" || a.At("data.status") != "active" {
			t.Errorf("subscription: %s", a.Text)
		}
	})
}

// A tenant has one trial of a product, no matter how often it returns.
func TestTrialOnce(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.Pay(s.Checkout(o, "team"), apptest.CardPays).Want(303)
		apptest.Eventually(t, "the trial", func() bool { return s.Subscription(o).At("data.status") == "trialing" })
		if a := s.Subscription(o); a.At("data.trial_ends_at") == nil {
			t.Errorf("a trial without an end: %s", a.Text)
		}
		if e := s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200); !strings.Contains(e.Text, `"limit":50000`) {
			t.Errorf("entitlements of a trial: %s", e.Text)
		}
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"immediately": true}).Want(200)
		s.BuyPlan(o, "team")
		if a := s.Subscription(o); a.At("data.trial_ends_at") != nil {
			t.Errorf("a second trial: %s", a.Text)
		}
	})
}
