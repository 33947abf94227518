package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		// Without a subscription the response is 404, even if the body is invalid.
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"reason": 7}).Want(404)
		s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).Want(404)
		s.BuyPlan(o, "starter")
		member, _ := s.Join(o, "Grace", "grace@example.com", "member")
		s.Call("POST", o.Path("/subscription/cancel"), member, nil).Want(403)
		s.Call("POST", o.Path("/subscription/resume"), member, nil).Want(403)
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"reason": strings.Repeat("é", 501)}).WantInvalid("reason")
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"immediately": "yes"}).WantInvalid("immediately")
		s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).WantRefused(422, "subscription_not_resumable")

		reason := strings.Repeat("é", 500)
		ending := s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"reason": reason}).Want(200)
		shown := s.Subscription(o)
		for _, a := range []apptest.Reply{ending, shown} {
			for at, want := range map[string]any{
				"data.status": "active", "data.cancel_at_period_end": true, "data.cancellation_reason": reason, "data.plan.name": "Starter",
			} {
				if got := a.At(at); got != want {
					t.Errorf("canceled: %s is %v, want %v", at, got, want)
				}
			}
			if a.At("data.canceled_at") == nil {
				t.Errorf("canceled_at is not set: %s", a.Text)
			}
		}
		if e := s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200); len(e.At("data").([]any)) == 0 {
			t.Error("access ended before the period")
		}
		// A second cancellation without a reason keeps the first reason.
		if a := s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil).Want(200); a.At("data.cancellation_reason") != reason {
			t.Errorf("again: %s", a.Text)
		}
		resumed := s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).Want(200)
		for at, want := range map[string]any{
			"data.status": "active", "data.cancel_at_period_end": false, "data.canceled_at": nil, "data.cancellation_reason": nil,
		} {
			if got := resumed.At(at); got != want {
				t.Errorf("resumed: %s is %v, want %v", at, got, want)
			}
		}
		over := s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"immediately": true, "reason": "too dear"}).Want(200)
		if over.At("data.status") != "canceled" || over.At("data.canceled_at") == nil || over.At("data.cancellation_reason") != "too dear" {
			t.Errorf("immediately: %s", over.Text)
		}
		if e := s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200); e.Text != `{"data":[]}`+"\n" {
			t.Errorf("entitlements after it: %s", e.Text)
		}
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil).Want(404)
		s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).Want(404)
		s.Call("GET", o.Path("/subscription/seats"), o.Token, nil).Want(404)
		if n := s.CountAudited(o, "subscription.canceled"); n != 3 {
			t.Errorf("%d cancellations in the audit log", n)
		}
		if n := s.CountAudited(o, "subscription.resumed"); n != 1 {
			t.Errorf("%d resumptions in the audit log", n)
		}
	})
}

// A failure of the provider changes nothing in the service. After a broken connection, a retry sends
// the same write.
func TestCancelWhenTheProviderFails(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		s.Chaos(apptest.ChaosProviderDown)
		s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"reason": "why"}).WantRefused(502, "psp_error")
		if a := s.Subscription(o); a.At("data.cancel_at_period_end") != false || a.At("data.cancellation_reason") != nil {
			t.Errorf("after a failure: %s", a.Text)
		}
		s.Chaos(nil)
		a := s.RetryWhileDown(func() apptest.Reply {
			return s.Call("POST", o.Path("/subscription/cancel"), o.Token, map[string]any{"reason": "why"})
		}).Want(200)
		if a.At("data.cancel_at_period_end") != true || a.At("data.cancellation_reason") != "why" {
			t.Errorf("repeated: %s", a.Text)
		}
		// The attempt takes effect but its response is lost. The next action is based on the true
		// state.
		s.Chaos(map[string]any{"api": map[string]any{"fail_after": 1, "status": 0}})
		s.Call("POST", o.Path("/subscription/resume"), o.Token, nil).WantRefused(502, "psp_error")
		s.Chaos(nil)
		s.RetryWhileDown(func() apptest.Reply { return s.Call("POST", o.Path("/subscription/cancel"), o.Token, nil) }).Want(200)
		if a := s.Subscription(o); a.At("data.cancel_at_period_end") != true {
			t.Errorf("canceled again: %s", a.Text)
		}
	})
}
