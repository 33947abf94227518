package app

import (
	"testing"
)

// What came of a request whose answer was lost, and that nobody makes again, is in
// the trail as soon as it is known here, as the doing of who asked for it; made
// again it is there once.
func TestUnknownOutcomeIsInTheTrail(t *testing.T) {
	t.Parallel()
	eachWired(t, func(t *testing.T, s *server, w *wire) {
		s.sell("pro", "flat", "month", 4900, 0, nil)
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.preview(o, "pro", 0).want(200) // makes the provider's price
		s.settled()
		ada := float64(s.userID(o.token))
		entry := func(action string, want int) reply {
			t.Helper()
			logs := s.call("GET", "/api/v1/admin/audit-logs?filter[action]="+action+"&filter[tenant]="+o.tenant, s.admin(), nil).want(200)
			list := logs.at("data").([]any)
			if len(list) != want {
				t.Fatalf("%s: %d entries, want %d: %s", action, len(list), want, logs.text)
			}
			if want > 0 && logs.at("data.0.actor_id") != ada {
				t.Errorf("%s: %s is not of %v", action, logs.text, ada)
			}
			return logs
		}
		// The notification tells.
		s.chaos(lost)
		s.call("POST", o.sub()+"/cancel", o.token, object{"reason": "too dear"}).refused(502, "psp_error")
		s.chaos(nil)
		s.settled()
		logs := entry("subscription.canceled", 1)
		if logs.at("data.0.before.cancel_at_period_end") != false || logs.at("data.0.after.cancel_at_period_end") != true ||
			logs.at("data.0.after.reason") != "too dear" {
			t.Errorf("the entry is %s", logs.text)
		}
		if a := s.subscription(o); a.at("data.cancellation_reason") != "too dear" || a.at("data.cancel_at_period_end") != true {
			t.Errorf("the subscription is %s", a.text)
		}
		again := s.whenBack(func() reply { return s.call("POST", o.sub()+"/cancel", o.token, object{"reason": "too dear"}) })
		again.want(200)
		entry("subscription.canceled", 1)

		// No notification comes: the provider's list of events tells.
		s.chaos(noWebhooks)
		w.breaks(on(swallow, "POST", "/subscriptions/"))
		s.changeTo(o, "pro", nil).refused(502, "psp_error")
		entry("subscription.plan_changed", 0)
		w.breaks(nil)
		s.whenBack(func() reply { return s.preview(o, "free", 0) }).want(200)
		s.later(&o, "ada@example.com", "6m")
		eventually(t, "the change", func() bool { return s.subscription(o).at("data.plan.name") == "pro" })
		entry("subscription.plan_changed", 1)
		s.changeTo(o, "pro", nil).want(200)
		entry("subscription.plan_changed", 1)

		// What never happened is not in the trail, whatever follows.
		s.chaos(object{"api": object{"fail_before": 1, "status": 0}})
		s.call("POST", o.sub()+"/resume", o.token, nil).refused(502, "psp_error")
		s.chaos(nil)
		s.whenBack(func() reply { return s.call("POST", o.sub()+"/cancel", o.token, nil) }).want(200)
		entry("subscription.resumed", 0)
		entry("subscription.canceled", 2)

		// Nor is what somebody else did days later.
		s.chaos(object{"api": object{"fail_before": 1, "status": 0}})
		s.call("POST", o.sub()+"/cancel", o.token, object{"immediately": true}).refused(502, "psp_error")
		s.chaos(nil)
		s.whenBack(func() reply { return s.preview(o, "free", 0) }).want(200)
		s.later(&o, "ada@example.com", (33 * day).String())
		eventually(t, "the end with the period", func() bool { return s.subscription(o).at("data") == nil })
		entry("subscription.canceled", 2)
	})
}

// Another action finds out what came of one whose answer was lost.
func TestAbandonedOperationIsInTheTrail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.settled()
		s.chaos(with(lost, noWebhooks))
		s.call("POST", o.sub()+"/cancel", o.token, nil).refused(502, "psp_error")
		s.chaos(noWebhooks)
		s.whenBack(func() reply { return s.call("POST", o.sub()+"/resume", o.token, nil) }).want(200)
		for _, action := range []string{"subscription.canceled", "subscription.resumed"} {
			if n := s.recorded(o, action); n != 1 {
				t.Errorf("%d times %s in the trail", n, action)
			}
		}
	})
}
