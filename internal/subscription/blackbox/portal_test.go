package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

func TestBillingPortal(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		// The portal requires a customer at the provider, but not a completed onboarding.
		fresh := s.Register("fresh@example.com", false)
		portal := func(o apptest.Owner) string { return o.Path("/docs/billing/portal") }
		s.Call("POST", portal(fresh), fresh.Token, nil).WantRefused(422, "")

		o := s.Register("ada@example.com", true)
		s.BuyPlan(o, "starter")
		frontend := s.Call("GET", "/api/v1/settings", "", nil).Want(200).Str("data.frontend_url")
		opened := func(token string, body any, back string) {
			t.Helper()
			a := s.Call("POST", portal(o), token, body).Want(200)
			page := s.Call("GET", strings.TrimPrefix(a.Str("data.url"), s.URL), "", nil).Want(200)
			if !strings.HasPrefix(a.Str("data.url"), s.URL+"/sandbox/portal/") || !strings.Contains(page.Text, `href="`+back+`"`) {
				t.Errorf("the portal at %s does not lead back to %s:\n%s", a.Str("data.url"), back, page.Text)
			}
		}
		settings := strings.TrimSuffix(frontend, "/") + "/billing"
		opened(o.Token, nil, settings)
		opened(o.Token, map[string]any{"return_url": nil}, settings)
		opened(o.Token, map[string]any{"return_url": frontend + "/elsewhere"}, frontend+"/elsewhere")
		for name, address := range map[string]string{
			"another domain": "https://evil.example/", "a domain below": strings.Replace(frontend, "://", "://evil.", 1),
			"user info": strings.Replace(frontend, "://", "://evil@", 1), "relative": "/billing", "a script": "javascript:alert(1)",
			"the domain in a path": "https://evil.example/" + frontend,
		} {
			t.Run(name, func(t *testing.T) {
				s.Call("POST", portal(o), o.Token, map[string]any{"return_url": address}).WantInvalid("return_url")
			})
		}

		// Members need the permission billing.manage. Platform admins do not need a permission of the
		// tenant.
		member, _ := s.Join(o, "Grace", "grace@example.com", "member")
		s.Call("POST", portal(o), member, nil).WantRefused(403, "")
		s.CreateRole(o, "Accounting", "billing.manage")
		accounting, _ := s.Join(o, "Edith", "edith@example.com", "Accounting")
		opened(accounting, nil, settings)
		opened(s.Admin(), nil, settings)
		s.Call("POST", portal(fresh), s.Admin(), nil).WantRefused(422, "")
		s.Call("POST", portal(apptest.Owner{Tenant: "01990000-0000-7000-8000-000000000000"}), s.Admin(), nil).Want(404)
		s.Call("POST", portal(o), fresh.Token, nil).WantRefused(403, "")
		// An admin who impersonates a member has only the member's permissions.
		acting := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", acting, map[string]any{
			"user_id": s.UserID(member), "tenant_id": o.Tenant,
		}).Want(200)
		s.Call("POST", portal(o), acting, nil).WantRefused(403, "")
		// The portal does not open until its settings are saved at the provider.
		s.Call("PUT", "/sandbox/stripe/portal", "", map[string]any{"configured": false}).Want(200)
		s.Call("GET", "/sandbox/stripe/portal", "", nil).Want(200).WantAt("data.configured", false)
		s.Call("POST", portal(o), o.Token, nil).WantRefused(422, "billing_portal_not_configured")
		s.Call("PUT", "/sandbox/stripe/portal", "", map[string]any{}).Want(200)
		opened(o.Token, nil, settings)
		// The caller has to retry after a rate limit.
		s.Chaos(map[string]any{"api": map[string]any{"rate_limit": 1}})
		busy := s.Call("POST", portal(o), o.Token, nil)
		busy.WantRefused(429, "")
		if after := busy.Header.Get("Retry-After"); after != "2" {
			t.Errorf("try again after %q", after)
		}
		s.Chaos(nil)
		opened(o.Token, nil, settings)
		if n := s.CountAudited(o, "billing_portal.opened"); n != 7 {
			t.Errorf("%d visits in the audit log", n)
		}
	})
}
