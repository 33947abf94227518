package app

import (
	"net/url"
	"testing"
	"time"
)

// month is longer than any, and shorter than any and its first retry.
const month = 31*day + 6*time.Hour

// What a status allows (spec: Subscription status), for each status that there is.
func TestSubscriptionStatuses(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("life")
		plain := k.shop(product, "plain", map[string]int{"EUR": 2000})
		trial := k.shop(product, "trial", map[string]int{"EUR": 2000}, object{"trial_days": 10})
		lite := k.shop(product, "lite", map[string]int{"EUR": 500})
		for _, c := range []struct {
			status string
			reach  func(l *life)
			change string // the refusal's code, "" for none
			cancel bool
			over   bool
		}{
			{"active", func(l *life) { l.buy(plain, "EUR", card(goodCard)) }, "", true, false},
			{"trialing", func(l *life) { l.buy(trial, "EUR", card(goodCard)) }, "", true, false},
			{"past_due", func(l *life) {
				l.buy(plain, "EUR", card(lateCard))
				l.pass(month)
			}, "", true, false},
			{"canceled", func(l *life) {
				l.buy(plain, "EUR", card(goodCard))
				l.call("POST", l.sub()+"/cancel", l.token, object{"immediately": true}).want(200)
			}, "", false, true},
			{"unpaid", func(l *life) {
				l.dunning("unpaid")
				l.buy(plain, "EUR", card(lateCard))
				l.pass(month)
				l.pass(16 * day)
			}, "subscription_cannot_be_upgraded", false, false},
			{"paused", func(l *life) {
				l.subscribeThere(trial, "trial_period_days", "1", "trial_settings[end_behavior][missing_payment_method]", "pause")
				l.pass(25 * time.Hour)
			}, "subscription_cannot_be_upgraded", false, false},
			{"incomplete", func(l *life) {
				l.subscribeThere(plain, "payment_behavior", "default_incomplete")
			}, "subscription_cannot_be_upgraded", false, false},
			{"incomplete_expired", func(l *life) {
				l.subscribeThere(plain, "payment_behavior", "default_incomplete")
				l.pass(24 * time.Hour)
			}, "", false, true},
		} {
			t.Run(c.status, func(t *testing.T) {
				l := s.life(c.status)
				c.reach(l)
				l.is(c.status)
				l.shows(c.status, c.over)
				l.refusesSecond(plain, c.over)

				id := l.last().str("data.0.id")
				removal := "/api/v1/admin/tenants/" + l.tenant + "/subscriptions/" + id + "/cancel"
				if c.cancel {
					l.call("POST", l.sub()+"/cancel", l.token, nil).want(200).same("data.status", c.status).same("data.cancel_at_period_end", true)
					l.is(c.status)
					l.call("POST", l.sub()+"/resume", l.token, nil).want(200).same("data.status", c.status).same("data.cancel_at_period_end", false)
				} else {
					l.call("POST", l.sub()+"/cancel", l.token, nil).want(404)
					l.call("POST", l.sub()+"/resume", l.token, nil).want(404)
					l.call("POST", removal, l.admin(), nil).refused(400, "SUBSCRIPTION_CANNOT_BE_CANCELED")
				}
				l.is(c.status)
				change := l.changeTo(l.owner, "lite", nil)
				switch {
				case c.over:
					change.want(404)
				case c.change != "":
					change.refused(422, c.change)
				default:
					change.want(200).same("data.action", "updated").same("data.subscription.plan.id", lite)
					l.call("POST", removal, l.admin(), object{"immediately": true}).want(200)
					l.is("canceled")
					return
				}
				l.is(c.status)
			})
		}
	})
}

// shows fails the test unless everybody who asks is told the same of the status:
// the subscription, the quotas and the user's tenants.
func (l *life) shows(status string, over bool) {
	l.t.Helper()
	access := status == "active" || status == "trialing"
	var want any = status
	if over {
		want = nil
	}
	l.subscription(l.owner).same("data.status", want)
	var limit any
	if access {
		limit = 1000.0
	}
	quotas := l.call("GET", "/api/v1/tenant/"+l.tenant+"/usage/quotas", l.token, nil).want(200)
	for _, m := range quotas.at("data.meters").([]any) {
		if m := m.(object); m["meter_code"] == "api-calls" && m["quota_limit"] != limit {
			l.t.Errorf("%s: the quota is %v, want %v", status, m["quota_limit"], limit)
		}
	}
	l.call("GET", "/api/v1/auth/me", l.token, nil).want(200).same("user.tenants.0.has_active_subscription", access)
}

// refusesSecond: only what is over lets another subscription follow.
func (l *life) refusesSecond(plan string, over bool) {
	l.t.Helper()
	if second := l.order(plan, "EUR"); over {
		second.want(200)
	} else {
		second.refused(422, "subscription_already_exists")
	}
}

// A trial ends in what the card says.
func TestTrialEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		trial := k.shop(k.product("life"), "trial", map[string]int{"EUR": 2000}, object{"trial_days": 10})
		pays, fails, paused, ends := s.life("pays"), s.life("fails"), s.life("paused"), s.life("ends")
		pays.buy(trial, "EUR", card(goodCard))
		fails.buy(trial, "EUR", card(lateCard))
		ends.buy(trial, "EUR", card(goodCard))
		ends.call("POST", ends.sub()+"/cancel", ends.token, nil).want(200).same("data.status", "trialing")
		paused.subscribeThere(trial, "trial_period_days", "10", "trial_settings[end_behavior][missing_payment_method]", "pause")
		end := pays.subscription(pays.owner).str("data.trial_ends_at")
		pays.subscription(pays.owner).same("data.current_period_end", end)
		if n := len(pays.held(pays.owner, "charge")); n != 0 {
			t.Errorf("%d payments in a trial", n)
		}
		s.pass(9 * day)
		for _, l := range []*life{pays, fails, paused, ends} {
			l.is("trialing")
		}
		s.pass(day + 2*time.Hour)
		pays.is("active")
		pays.subscription(pays.owner).same("data.trial_ends_at", end).same("data.current_period_start", end)
		if n := len(pays.held(pays.owner, "charge")); n != 1 {
			t.Errorf("%d payments after the trial", n)
		}
		fails.is("past_due")
		ends.is("canceled")
		paused.is("paused")
		// Who has had a trial gets no second one.
		ends.buy(trial, "EUR", card(goodCard))
		ends.is("active")

		// A card and the provider's resumption begin a paid period.
		paused.newCard(goodCard)
		id := paused.held(paused.owner, "subscription")[0].str("id")
		paused.byHand("POST", "/subscriptions/"+id+"/resume")
		paused.caughtUp()
		paused.is("active")
		fails.newCard(goodCard)
		fails.is("active")
	})
}

// A renewal that fails takes access away at once; the provider's retries, or
// another card, decide what comes of it.
func TestFailedRenewals(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		plan := k.shop(k.product("life"), "plain", map[string]int{"EUR": 2000})
		renews := s.life("renews")
		renews.buy(plan, "EUR", card(goodCard))
		for _, outcome := range []string{"canceled", "unpaid", "past_due"} {
			t.Run(outcome, func(t *testing.T) {
				s.dunning(outcome)
				given, replaced := s.life("given-"+outcome), s.life("replaced-"+outcome)
				given.buy(plan, "EUR", card(lateCard))
				replaced.buy(plan, "EUR", card(lateCard))
				first := given.subscription(given.owner).str("data.current_period_end")
				s.pass(month)
				given.is("past_due")
				// The period goes on as the provider's does.
				given.subscription(given.owner).same("data.current_period_start", first)
				replaced.is("past_due")
				replaced.newCard(goodCard)
				replaced.is("active")
				s.pass(16 * day)
				given.is(outcome)
				replaced.is("active")
				given.newCard(goodCard)
				if outcome == "canceled" {
					given.is("canceled") // it stays so, and another one may follow
					given.buy(plan, "EUR", card(goodCard))
				}
				given.is("active")
			})
		}
		renews.is("active")
		list := renews.last()
		if n := len(list.at("data").([]any)); n != 1 {
			t.Errorf("%d subscriptions after renewals: %s", n, list.text)
		}
		for _, in := range renews.held(renews.owner, "invoice") {
			in.same("status", "paid").same("total", 2000.0)
		}
	})
}

// A subscription that is canceled with its period has access to its end, and can
// be taken back until then.
func TestEndOfThePeriod(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		plan := k.shop(k.product("life"), "plain", map[string]int{"EUR": 2000})
		ends, resumes, removed, portal := s.life("ends"), s.life("resumes"), s.life("removed"), s.life("portal")
		all := []*life{ends, resumes, removed, portal}
		for _, l := range all {
			l.buy(plan, "EUR", card(goodCard))
		}
		ends.call("POST", ends.sub()+"/cancel", ends.token, object{"reason": "done"}).want(200)
		resumes.call("POST", resumes.sub()+"/cancel", resumes.token, nil).want(200)
		removed.call("POST", "/api/v1/admin/tenants/"+removed.tenant+"/subscriptions/"+removed.last().str("data.0.id")+"/cancel",
			s.admin(), object{"reason": "abuse"}).want(200)
		page := portal.call("POST", "/api/v1/tenant/"+portal.tenant+"/docs/billing/portal", portal.token, nil).want(200).str("data.url")
		portal.fill(page+"/cancel", url.Values{"subscription": {portal.held(portal.owner, "subscription")[0].str("id")}}).want(303)
		s.pass(27 * day)
		for _, l := range all {
			l.is("active")
			l.last().same("data.0.cancel_at_period_end", true)
		}
		resumes.call("POST", resumes.sub()+"/resume", resumes.token, nil).want(200).same("data.cancel_at_period_end", false).same("data.canceled_at", nil)
		asked := ends.subscription(ends.owner).str("data.canceled_at")
		s.pass(5 * day)
		for _, l := range []*life{ends, removed, portal} {
			l.is("canceled")
			l.subscription(l.owner).same("data", nil)
			l.call("POST", l.sub()+"/resume", l.token, nil).want(404)
		}
		ends.last().same("data.0.cancellation_reason", "done").same("data.0.canceled_at", asked)
		removed.last().same("data.0.cancellation_reason", "abuse")
		resumes.is("active")
		if n := len(ends.held(ends.owner, "invoice")); n != 1 {
			t.Errorf("%d invoices for what was canceled", n)
		}
		ends.buy(plan, "EUR", card(goodCard))
		ends.is("active")
	})
}

// A bank account's debit is under way for days; until it fails the subscription
// is active.
func TestDebits(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		plan := k.shop(k.product("life"), "plain", map[string]int{"EUR": 2000})
		pays, fails := s.life("pays"), s.life("fails")
		pays.buy(plan, "EUR", debit(goodAccount))
		fails.buy(plan, "EUR", debit(badAccount))
		s.pass(4 * day)
		pays.is("active")
		fails.is("active")
		s.pass(2 * day)
		pays.is("active")
		fails.is("past_due")
		fails.newCard(goodCard)
		fails.is("active")
		s.pass(month)
		pays.is("active")
		s.pass(6 * day)
		pays.is("active")
	})
}
