package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// The platform sets a customer's cap and grants units. The platform
// sees the author, the customer does not.
func TestActingForUsage(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		s.BuyPlan(ada, "starter")
		admin := s.Admin()
		path := "/api/v1/admin/tenants/" + ada.Tenant
		made := s.Call("POST", "/api/v1/admin/api-keys", admin, apptest.Object{"name": "Limits", "scopes": []any{"limits.write"}}).Want(201)
		author := apptest.Object{"type": "user", "id": float64(s.UserID(admin)), "name": "Sandbox Admin"}
		byKey := apptest.Object{"type": "api_key", "id": made.Str("data.id"), "name": "Limits"}
		masked := apptest.Object{"type": "platform", "id": nil, "name": nil}
		capPath := path + "/usage/api-calls/cap"
		s.Call("PUT", capPath, ada.Token, apptest.Object{"limit": 7}).WantRefused(403, "")
		s.Call("PUT", path+"/usage/nothing/cap", admin, apptest.Object{"limit": 7}).WantRefused(404, "")
		s.Call("PUT", "/api/v1/admin/tenants/"+apptest.NoSuchID+"/usage/api-calls/cap", admin, apptest.Object{"limit": 7}).WantRefused(404, "")
		s.Call("PUT", capPath, admin, apptest.Object{"limit": -1}).WantInvalid("limit")
		s.Call("PUT", capPath, admin, apptest.Object{"limit": 7}).Want(200).WantAt("data.cap", 7.0).WantAt("data.cap_by", author)
		row := func(a apptest.Reply) apptest.Object {
			t.Helper()
			for _, m := range a.Want(200).At("data.meters").([]any) {
				if m.(apptest.Object)["meter_code"] == "api-calls" {
					return m.(apptest.Object)
				}
			}
			t.Fatalf("no row: %s", a.Text)
			return nil
		}
		same := func(what string, got any, want any) {
			t.Helper()
			apptest.Reply{T: t, Body: apptest.Object{"at": got}}.As(what).WantAt("at", want)
		}
		same("the platform's row", row(s.Call("GET", path+"/usage/quotas", admin, nil))["cap_by"], author)
		same("the customer's row", row(s.Call("GET", ada.Path("/usage/quotas"), ada.Token, nil))["cap_by"], masked)
		s.Call("PUT", capPath, made.Str("data.secret"), apptest.Object{"limit": 8}).Want(200).WantAt("data.cap_by", byKey)
		s.Call("PUT", ada.Path("/usage/api-calls/cap"), ada.Token, apptest.Object{"limit": 2}).Want(200).WantAt("data.cap_by.id", float64(s.UserID(ada.Token)))
		s.Call("PUT", capPath, admin, apptest.Object{"limit": nil}).Want(200).WantAt("data.cap", nil).WantAt("data.cap_by", nil)
		s.Call("GET", "/api/v1/admin/audit-logs?filter[action]=usage_cap.updated", admin, nil).Want(200).WantAt("data.0.actor_id", author["id"]).
			WantAt("data.2.api_key_id", made.Str("data.id"))

		grant := apptest.Object{"feature_code": "api-calls", "amount": 2}
		s.Call("POST", path+"/grants", admin, grant).Want(201).WantAt("data.by", author).WantAt("data.used_up_at", nil)
		s.Call("GET", path+"/grants", admin, nil).Want(200).WantAt("data.0.by", author)
		s.Call("GET", ada.Path("/grants"), ada.Token, nil).Want(200).WantAt("data.0.by", masked).WantAt("data.0.used_up_at", nil)
		s.Call("PUT", path+"/limits/api-calls", admin, apptest.Object{"type": "quota", "value": 0, "reason": "test"}).Want(200)
		for _, key := range []string{"a", "b"} {
			s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 1, "idempotency_key": key}).Want(201)
		}
		s.Call("GET", ada.Path("/grants"), ada.Token, nil).Want(200).WantAt("data.0.remaining", 0.0).TimeAt("data.0.used_up_at")
	})
}
