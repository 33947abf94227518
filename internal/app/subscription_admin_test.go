package app

import (
	"strings"
	"testing"
)

func TestAdminSubscriptions(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		o := s.register("ada@example.com", true)
		other := s.register("eve@example.com", true)
		s.subscribe(o, "starter")
		token := s.admin()
		base := "/api/v1/admin/tenants/" + o.tenant + "/subscriptions"
		list := s.call("GET", base, token, nil).want(200)
		id := list.str("data.0.id")
		if n := len(list.at("data").([]any)); n != 1 || list.at("data.0.status") != "active" {
			t.Errorf("list: %s", list.text)
		}
		s.call("GET", base, o.token, nil).want(403)
		s.call("GET", "/api/v1/admin/tenants/01990000-0000-7000-8000-000000000000/subscriptions", token, nil).want(404)
		// Another tenant's subscription is not found, a broken body comes after that.
		s.call("POST", "/api/v1/admin/tenants/"+other.tenant+"/subscriptions/"+id+"/cancel", token, map[string]any{"immediately": "yes"}).want(404)
		s.call("POST", base+"/"+id+"/cancel", token, map[string]any{"immediately": "yes"}).want(422)
		s.call("POST", base+"/"+id+"/cancel", token, map[string]any{"reason": strings.Repeat("x", 501)}).want(422)

		soft := s.call("POST", base+"/"+id+"/cancel", token, map[string]any{"reason": "moving on"}).want(200)
		for at, want := range map[string]any{
			"data.status": "active", "data.cancel_at_period_end": true, "data.cancellation_reason": "moving on",
		} {
			if got := soft.at(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		if soft.at("data.canceled_at") == nil {
			t.Errorf("canceled_at is not set: %s", soft.text)
		}
		hard := s.call("POST", base+"/"+id+"/cancel", token, map[string]any{"immediately": true}).want(200)
		if hard.at("data.status") != "canceled" {
			t.Errorf("immediately: %s", hard.text)
		}
		again := s.call("POST", base+"/"+id+"/cancel", token, nil).want(400)
		if again.at("code") != "SUBSCRIPTION_CANNOT_BE_CANCELED" {
			t.Errorf("again: %s", again.text)
		}
		if sub := s.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200); sub.at("data") != nil {
			t.Errorf("the tenant still has %s", sub.text)
		}
		if e := s.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200); e.text != `{"data":[]}`+"\n" {
			t.Errorf("entitlements: %s", e.text)
		}
		opened := s.call("GET", "/api/v1/admin/audit-logs?filter[action]=checkout.opened&filter[tenant]="+o.tenant, token, nil).want(200)
		if n := len(opened.at("data").([]any)); n != 1 {
			t.Errorf("%d checkouts in the trail: %s", n, opened.text)
		}
		logs := s.call("GET", "/api/v1/admin/audit-logs?filter[action]=subscription.canceled", token, nil).want(200)
		if n := len(logs.at("data").([]any)); n != 2 {
			t.Errorf("%d entries in the trail: %s", n, logs.text)
		}
	})
}
