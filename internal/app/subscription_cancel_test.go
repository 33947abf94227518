package app

import (
	"strings"
	"testing"
)

func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		// Without a subscription it is 404, whatever the body says.
		s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"reason": 7}).want(404)
		s.call("POST", o.sub()+"/resume", o.token, nil).want(404)
		s.subscribe(o, "starter")
		member, _ := s.join(o, "Grace", "grace@example.com", "member")
		s.call("POST", o.sub()+"/cancel", member, nil).want(403)
		s.call("POST", o.sub()+"/resume", member, nil).want(403)
		s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"reason": strings.Repeat("é", 501)}).invalid("reason")
		s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"immediately": "yes"}).invalid("immediately")
		s.call("POST", o.sub()+"/resume", o.token, nil).refused(422, "subscription_not_resumable")

		reason := strings.Repeat("é", 500)
		ending := s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"reason": reason}).want(200)
		shown := s.subscription(o)
		for _, a := range []reply{ending, shown} {
			for at, want := range map[string]any{
				"data.status": "active", "data.cancel_at_period_end": true, "data.cancellation_reason": reason, "data.plan.name": "Starter",
			} {
				if got := a.at(at); got != want {
					t.Errorf("canceled: %s is %v, want %v", at, got, want)
				}
			}
			if a.at("data.canceled_at") == nil {
				t.Errorf("canceled_at is not set: %s", a.text)
			}
		}
		if e := s.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200); len(e.at("data").([]any)) == 0 {
			t.Error("access ended before the period")
		}
		// Once more, without saying why: it still ends, for the reason given first.
		if a := s.call("POST", o.sub()+"/cancel", o.token, nil).want(200); a.at("data.cancellation_reason") != reason {
			t.Errorf("again: %s", a.text)
		}
		resumed := s.call("POST", o.sub()+"/resume", o.token, nil).want(200)
		for at, want := range map[string]any{
			"data.status": "active", "data.cancel_at_period_end": false, "data.canceled_at": nil, "data.cancellation_reason": nil,
		} {
			if got := resumed.at(at); got != want {
				t.Errorf("resumed: %s is %v, want %v", at, got, want)
			}
		}
		over := s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"immediately": true, "reason": "too dear"}).want(200)
		if over.at("data.status") != "canceled" || over.at("data.canceled_at") == nil || over.at("data.cancellation_reason") != "too dear" {
			t.Errorf("immediately: %s", over.text)
		}
		if e := s.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200); e.text != `{"data":[]}`+"\n" {
			t.Errorf("entitlements after it: %s", e.text)
		}
		s.call("POST", o.sub()+"/cancel", o.token, nil).want(404)
		s.call("POST", o.sub()+"/resume", o.token, nil).want(404)
		s.call("GET", o.sub()+"/seats", o.token, nil).want(404)
		if n := s.recorded(o, "subscription.canceled"); n != 3 {
			t.Errorf("%d cancellations in the trail", n)
		}
		if n := s.recorded(o, "subscription.resumed"); n != 1 {
			t.Errorf("%d resumptions in the trail", n)
		}
	})
}

// A failure of the provider changes nothing here; of an attempt that was answered
// by a broken connection, the repetition is the same write.
func TestCancelWhenTheProviderFails(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		s.chaos(pspDown)
		s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"reason": "why"}).refused(502, "psp_error")
		if a := s.subscription(o); a.at("data.cancel_at_period_end") != false || a.at("data.cancellation_reason") != nil {
			t.Errorf("after a failure: %s", a.text)
		}
		s.chaos(nil)
		a := s.whenBack(func() reply { return s.call("POST", o.sub()+"/cancel", o.token, map[string]any{"reason": "why"}) }).want(200)
		if a.at("data.cancel_at_period_end") != true || a.at("data.cancellation_reason") != "why" {
			t.Errorf("repeated: %s", a.text)
		}
		// The attempt takes effect without an answer, and another action follows: it
		// goes by what is true.
		s.chaos(map[string]any{"api": map[string]any{"fail_after": 1, "status": 0}})
		s.call("POST", o.sub()+"/resume", o.token, nil).refused(502, "psp_error")
		s.chaos(nil)
		s.whenBack(func() reply { return s.call("POST", o.sub()+"/cancel", o.token, nil) }).want(200)
		if a := s.subscription(o); a.at("data.cancel_at_period_end") != true {
			t.Errorf("canceled again: %s", a.text)
		}
	})
}
