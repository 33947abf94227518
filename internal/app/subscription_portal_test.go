package app

import (
	"strings"
	"testing"
)

func TestBillingPortal(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		// Not bound to the onboarding, but to a customer at the provider.
		fresh := s.register("fresh@example.com", false)
		portal := func(o owner) string { return "/api/v1/tenant/" + o.tenant + "/docs/billing/portal" }
		s.call("POST", portal(fresh), fresh.token, nil).refused(422, "")

		o := s.register("ada@example.com", true)
		s.subscribe(o, "starter")
		frontend := s.call("GET", "/api/v1/settings", "", nil).want(200).str("data.frontend_url")
		opened := func(token string, body any, back string) {
			t.Helper()
			a := s.call("POST", portal(o), token, body).want(200)
			page := s.call("GET", strings.TrimPrefix(a.str("data.url"), s.url), "", nil).want(200)
			if !strings.HasPrefix(a.str("data.url"), s.url+"/sandbox/portal/") || !strings.Contains(page.text, `href="`+back+`"`) {
				t.Errorf("the portal at %s does not lead back to %s:\n%s", a.str("data.url"), back, page.text)
			}
		}
		settings := strings.TrimSuffix(frontend, "/") + "/settings/billing"
		opened(o.token, nil, settings)
		opened(o.token, map[string]any{"return_url": nil}, settings)
		opened(o.token, map[string]any{"return_url": frontend + "/elsewhere"}, frontend+"/elsewhere")
		for name, address := range map[string]string{
			"another domain": "https://evil.example/", "a domain below": strings.Replace(frontend, "://", "://evil.", 1),
			"user info": strings.Replace(frontend, "://", "://evil@", 1), "relative": "/billing", "a script": "javascript:alert(1)",
			"the domain in a path": "https://evil.example/" + frontend,
		} {
			t.Run(name, func(t *testing.T) {
				s.call("POST", portal(o), o.token, map[string]any{"return_url": address}).invalid("return_url")
			})
		}

		// Members need billing.manage; platform admins nothing, in any tenant.
		member, _ := s.join(o, "Grace", "grace@example.com", "member")
		s.call("POST", portal(o), member, nil).refused(403, "")
		s.makeRole(o, "Accounting", "billing.manage")
		accounting, _ := s.join(o, "Edith", "edith@example.com", "Accounting")
		opened(accounting, nil, settings)
		opened(s.admin(), nil, settings)
		s.call("POST", portal(fresh), s.admin(), nil).refused(422, "")
		s.call("POST", portal(owner{tenant: "01990000-0000-7000-8000-000000000000"}), s.admin(), nil).want(404)
		s.call("POST", portal(o), fresh.token, nil).refused(403, "")
		// Whoever acts as a member is that member, and no platform admin.
		acting := s.admin()
		s.call("POST", "/api/v1/admin/impersonation/start", acting, map[string]any{
			"user_id": s.userID(member), "tenant_id": o.tenant,
		}).want(200)
		s.call("POST", portal(o), acting, nil).refused(403, "")
		if n := s.recorded(o, "billing_portal.opened"); n != 5 {
			t.Errorf("%d visits in the trail", n)
		}
	})
}
