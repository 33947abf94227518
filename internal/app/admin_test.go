package app

import (
	"io"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the command line takes away is gone on the next request.
func TestRevokeAdmin(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		cli := s.cli()
		ada, chief := s.register("ada@example.com", true), s.register("chief@example.com", false)
		if err := GrantAdmin(t.Context(), cli, "chief@example.com", nil, io.Discard); err != nil {
			t.Fatal(err)
		}
		s.call("GET", "/api/v1/auth/me", chief.token, nil).want(401) // an older login gains nothing
		login := func() string {
			t.Helper()
			return s.call("POST", "/api/v1/auth/login", "", map[string]any{"email": "chief@example.com", "password": "correct horse"}).want(200).str("accessToken")
		}
		acting, acts := login(), login()
		s.impersonate(acting, ada).want(200)

		// Another list holds at once, and ends no login.
		search := "/api/v1/admin/tenants/search-with-roles?search=a"
		s.call("GET", search, acts, nil).want(200)
		if err := GrantAdmin(t.Context(), cli, "chief@example.com", []string{"plans.view"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		s.call("GET", search, acts, nil).want(403)
		s.call("GET", "/api/v1/admin/tenants", acts, nil).want(200)
		s.call("GET", "/api/v1/admin/impersonation/status", acting, nil).want(200)

		if err := RevokeAdmin(t.Context(), cli, "chief@example.com", io.Discard); err != nil {
			t.Fatal(err)
		}
		s.call("GET", "/api/v1/auth/me", acting, nil).want(401)
		s.call("GET", "/api/v1/auth/me", acts, nil).want(401)
		s.wantActions("ended", "started")
		s.call("GET", "/api/v1/admin/tenants", login(), nil).want(403)

		trail := s.trail(url.Values{"filter[action]": {"admin.granted"}, "sort": {"created_at"}})
		if trail.at("meta.total") != 2.0 || trail.at("data.0.actor_id") != nil {
			t.Errorf("trail: %s", trail.text)
		}
		for path, want := range map[string]any{
			"data.0.before": map[string]any{"is_platform_admin": false}, "data.0.after": map[string]any{"is_platform_admin": true},
			"data.1.before": map[string]any{"platform_permissions": nil}, "data.1.after": map[string]any{"platform_permissions": []any{"plans.view"}},
		} {
			if diff := cmp.Diff(want, trail.at(path)); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
		if revoked := s.trail(url.Values{"filter[action]": {"admin.revoked"}}); revoked.at("meta.total") != 1.0 {
			t.Errorf("trail: %s", revoked.text)
		}
	})
}

// Nobody acts as a platform admin: not as one who has just become it either.
func TestGrantAdminToATarget(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		cli := s.cli()
		ada := s.register("ada@example.com", true)
		body := map[string]any{"user_id": s.meID(ada.token), "tenant_id": ada.tenant}
		token := s.admin()
		s.call("POST", "/api/v1/admin/impersonation/start", token, body).want(200)
		if err := GrantAdmin(t.Context(), cli, "ada@example.com", nil, io.Discard); err != nil {
			t.Fatal(err)
		}
		me := s.call("GET", "/api/v1/auth/me", token, nil).want(200)
		if me.at("user.email") != "admin@tenantry.test" || me.at("impersonation") != nil {
			t.Errorf("me: %s", me.text)
		}
		s.wantActions("ended", "started")
		s.call("POST", "/api/v1/admin/impersonation/start", token, body).want(400)
	})
}
