package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestAdminSubscriptions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		other := s.Register("eve@example.com", true)
		s.BuyPlan(o, "starter")
		token := s.Admin()
		base := "/api/v1/admin/tenants/" + o.Tenant + "/subscriptions"
		list := s.Call("GET", base, token, nil).Want(200)
		id := list.Str("data.0.id")
		if n := len(list.At("data").([]any)); n != 1 || list.At("data.0.status") != "active" {
			t.Errorf("list: %s", list.Text)
		}
		s.Call("GET", base, o.Token, nil).Want(403)
		s.Call("GET", "/api/v1/admin/tenants/01990000-0000-7000-8000-000000000000/subscriptions", token, nil).Want(404)
		// Another tenant's subscription is not found. This is checked before the body is validated.
		s.Call("POST", "/api/v1/admin/tenants/"+other.Tenant+"/subscriptions/"+id+"/cancel", token, map[string]any{"immediately": "yes"}).Want(404)
		s.Call("POST", base+"/"+id+"/cancel", token, map[string]any{"immediately": "yes"}).Want(422)
		s.Call("POST", base+"/"+id+"/cancel", token, map[string]any{"reason": strings.Repeat("x", 501)}).Want(422)

		soft := s.Call("POST", base+"/"+id+"/cancel", token, map[string]any{"reason": "moving on"}).Want(200)
		for at, want := range map[string]any{
			"data.status": "active", "data.cancel_at_period_end": true, "data.cancellation_reason": "moving on",
		} {
			if got := soft.At(at); got != want {
				t.Errorf("%s is %v, want %v", at, got, want)
			}
		}
		if soft.At("data.canceled_at") == nil {
			t.Errorf("canceled_at is not set: %s", soft.Text)
		}
		hard := s.Call("POST", base+"/"+id+"/cancel", token, map[string]any{"immediately": true}).Want(200)
		if hard.At("data.status") != "canceled" {
			t.Errorf("immediately: %s", hard.Text)
		}
		again := s.Call("POST", base+"/"+id+"/cancel", token, nil).Want(400)
		if again.At("code") != "SUBSCRIPTION_CANNOT_BE_CANCELED" {
			t.Errorf("again: %s", again.Text)
		}
		if sub := s.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200); sub.At("data") != nil {
			t.Errorf("the tenant still has %s", sub.Text)
		}
		if e := s.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200); e.Text != `{"data":[]}`+"\n" {
			t.Errorf("entitlements: %s", e.Text)
		}
		opened := s.Call("GET", "/api/v1/admin/audit-logs?filter[action]=checkout.opened&filter[tenant]="+o.Tenant, token, nil).Want(200)
		if n := len(opened.At("data").([]any)); n != 1 {
			t.Errorf("%d checkouts in the audit log: %s", n, opened.Text)
		}
		logs := s.Call("GET", "/api/v1/admin/audit-logs?filter[action]=subscription.canceled", token, nil).Want(200)
		if n := len(logs.At("data").([]any)); n != 2 {
			t.Errorf("%d entries in the audit log: %s", n, logs.Text)
		}
	})
}
