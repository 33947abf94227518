package blackbox_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Administrators read quotas and series of any tenant, with the same
// responses and errors as the tenant's members. API keys cannot.
func TestUsageOfATenantForAdmins(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		s.BuyPlan(ada, "starter")
		record(s, ada, "api-calls", 3, date(2025, 6, 1))
		s.Call("POST", ada.Path("/usage"), ada.Token, apptest.Object{"meter_code": "api-calls", "quantity": 7}).Want(201)
		s.Call("PUT", ada.Path("/usage/api-calls/cap"), ada.Token, apptest.Object{"limit": 50}).Want(200)
		admin := func(tenant string) string { return "/api/v1/admin/tenants/" + tenant + "/usage" }
		const june = "&from=2025-06-01&to=2025-06-02"
		for _, path := range []string{"/quotas", "/series?meter_code=api-calls" + june, "/series?meter_code=api-calls&interval=hour", "/series?meter_code=storage-gb&interval=month"} {
			own := s.Call("GET", ada.Path("/usage"+path), ada.Token, nil).Want(200)
			s.Call("GET", admin(ada.Tenant)+path, s.Admin(), nil).Want(200).WantAt("data", own.At("data"))
			for _, token := range []string{ada.Token, bob.Token} {
				s.Call("GET", admin(ada.Tenant)+path, token, nil).WantRefused(403, "")
			}
			s.Call("GET", admin(uuid.NewString())+path, s.Admin(), nil).WantRefused(404, "")
			s.Call("GET", admin("x")+path, s.Admin(), nil).WantRefused(404, "")
		}
		s.Call("GET", admin(ada.Tenant)+"/series?meter_code=api-calls"+june, s.Admin(), nil).Want(200).WantAt("data.points.0.value", 3.0)
		s.Call("GET", admin(bob.Tenant)+"/series?meter_code=api-calls"+june, s.Admin(), nil).Want(200).WantAt("data.points.0.value", 0.0)
		for query, field := range map[string]string{"": "meter_code", "?meter_code=api-calls&interval=week": "interval", "?meter_code=api-calls&from=yesterday": "from"} {
			s.Call("GET", admin(ada.Tenant)+"/series"+query, s.Admin(), nil).WantInvalid(field)
		}
		s.Call("GET", admin(ada.Tenant)+"/series?meter_code=nothing", s.Admin(), nil).WantRefused(404, "")
		s.Call("GET", admin(uuid.NewString())+"/series", s.Admin(), nil).WantRefused(404, "")
	})
}
