package app

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// upgrade asks for a paid plan in place of the free one, and returns the address
// of the hosted checkout.
func (s *server) upgrade(o owner, slug string) string {
	s.t.Helper()
	a := s.changeTo(o, slug, returning).want(200)
	if a.at("data.action") != "checkout_required" || a.str("data.session_id") == "" || a.at("data.subscription") != nil {
		s.t.Errorf("upgrade: %s", a.text)
	}
	return a.str("data.checkout_url")
}

// From a free plan to a paid one leads a checkout; until it is paid the free
// subscription stays, and then it is replaced in one step.
func TestFreeToPaid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribeBy(o, "free", "")
		free := s.subscription(o)
		s.changeTo(o, "starter", map[string]any{"cancel_url": "https://app.example.com/no"}).invalid("success_url")
		s.changeTo(o, "starter", map[string]any{"success_url": "https://app.example.com/ok", "cancel_url": ""}).invalid("cancel_url")

		shown := s.preview(o, "starter", 0)
		shown.figures()
		for at, want := range map[string]any{
			"data.credit.cents": 0.0, "data.charge.cents": 1900.0, "data.breakdown.method": "daily",
			"data.breakdown.period_start":   s.now().Format(time.DateOnly),
			"data.breakdown.days_remaining": shown.at("data.breakdown.total_days"),
		} {
			if got := shown.at(at); got != want {
				t.Errorf("preview: %s is %v, want %v", at, got, want)
			}
		}
		page := s.upgrade(o, "starter")
		if a := s.subscription(o); a.at("data.id") != free.at("data.id") {
			t.Errorf("before the payment: %s", a.text)
		}
		s.pay(page, declinedCard).want(402)
		if a := s.subscription(o); a.at("data.id") != free.at("data.id") {
			t.Errorf("after a declined card: %s", a.text)
		}
		s.pay(page, goodCard).want(303)
		eventually(t, "the replacement", func() bool {
			a := s.subscription(o)
			if a.at("data") == nil {
				t.Fatal("for a moment there was no subscription")
			}
			return a.at("data.plan.name") == "Starter"
		})
		list := s.call("GET", "/api/v1/admin/tenants/"+o.tenant+"/subscriptions", s.admin(), nil).want(200)
		if list.at("data.0.status") != "active" || list.at("data.1.status") != "canceled" || list.at("data.1.id") != free.at("data.id") {
			t.Errorf("subscriptions: %s", list.text)
		}
		eventually(t, "the end of the free one at the provider", func() bool {
			subs := s.held(o, "subscription")
			return len(subs) == 2 && subs[0].at("status") == "canceled" && subs[1].at("status") == "active"
		})
		if invoices := s.held(o, "invoice"); invoices[len(invoices)-1].at("total") != 1900.0 {
			t.Errorf("the invoice: %s", invoices[len(invoices)-1].text)
		}
	})
}

// Of two paid upgrades one takes the free one's place, the other is given back.
func TestTwoPaidUpgrades(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribeBy(o, "free", "")
		pages := []string{s.upgrade(o, "starter"), s.upgrade(o, "starter")}
		var wg sync.WaitGroup
		for _, page := range pages {
			wg.Go(func() { s.pay(page, goodCard) })
		}
		wg.Wait()
		eventually(t, "one subscription and one refund", func() bool {
			live := 0
			for _, sub := range s.held(o, "subscription") {
				if sub.at("status") == "active" {
					live++
				}
			}
			refunded := 0
			for _, charge := range s.held(o, "charge") {
				if charge.at("refunded") == true {
					refunded++
				}
			}
			return live == 1 && refunded == 1
		})
		if a := s.subscription(o); a.at("data.plan.name") != "Starter" || a.at("data.status") != "active" {
			t.Errorf("subscription: %s", a.text)
		}
	})
}

// A tenant has one trial of a product, however often it comes back.
func TestTrialOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.pay(s.checkout(o, "team"), goodCard).want(303)
		eventually(t, "the trial", func() bool { return s.subscription(o).at("data.status") == "trialing" })
		if a := s.subscription(o); a.at("data.trial_ends_at") == nil {
			t.Errorf("a trial without an end: %s", a.text)
		}
		if e := s.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200); !strings.Contains(e.text, `"limit":50000`) {
			t.Errorf("entitlements of a trial: %s", e.text)
		}
		s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"immediately": true}).want(200)
		s.subscribe(o, "team")
		if a := s.subscription(o); a.at("data.trial_ends_at") != nil {
			t.Errorf("a second trial: %s", a.text)
		}
	})
}
