package impersonation_test

import (
	"io"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A permission that the CLI revokes does not apply to the next request.
func TestRevokeAdmin(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		cli := s.CLISettings()
		ada, chief := s.Register("ada@example.com", true), s.Register("chief@example.com", false)
		apptest.Exec(t, s.DB(), "UPDATE users SET email_verified_at = created_at")
		if err := commands.GrantAdmin(t.Context(), cli, "chief@example.com", nil, io.Discard); err != nil {
			t.Fatal(err)
		}
		s.Call("GET", "/api/v1/auth/me", chief.Token, nil).Want(401) // an existing login gains no permissions
		login := func() string {
			t.Helper()
			return s.Call("POST", "/api/v1/auth/login", "", map[string]any{"email": "chief@example.com", "password": "correct horse"}).Want(200).Str("accessToken")
		}
		acting, acts := login(), login()
		s.Impersonate(acting, ada).Want(200)

		// Changed permissions apply immediately and end no login.
		search := "/api/v1/admin/tenants/search-with-roles?search=a"
		s.Call("GET", search, acts, nil).Want(200)
		if err := commands.GrantAdmin(t.Context(), cli, "chief@example.com", []string{"plans.view"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		s.Call("GET", search, acts, nil).Want(403)
		s.Call("GET", "/api/v1/admin/plans", acts, nil).Want(200)

		// Losing the permission has ended the impersonation. Its end is logged once, and the admin
		// must still stop it. Granting the permission again does not restart it.
		expired := func() {
			t.Helper()
			wantImpersonationLog(s, "ended", "started")
			for path, method := range map[string]string{"/api/v1/auth/me": "GET", ada.Path("/team/members"): "GET", "/api/v1/user/avatar": "DELETE", search: "GET"} {
				s.Call(method, path, acting, nil).As(path).WantRefused(403, "IMPERSONATION_EXPIRED")
			}
			s.Call("GET", "/api/v1/admin/impersonation/status", acting, nil).Want(200)
		}
		expired()
		if err := commands.GrantAdmin(t.Context(), cli, "chief@example.com", []string{"plans.view", "impersonation.start", "logs.view"}, io.Discard); err != nil {
			t.Fatal(err)
		}
		expired()
		s.Call("POST", "/api/v1/admin/impersonation/stop", acting, nil).Want(200).WantAt("data.email", "chief@example.com")
		s.Call("POST", "/api/v1/admin/impersonation/stop", acting, nil).Want(400)
		wantImpersonationLog(s, "ended", "started")
		s.Call("GET", "/api/v1/auth/me", acting, nil).Want(200).WantAt("user.email", "chief@example.com")
		s.Impersonate(acting, ada).Want(200)
		s.Call("DELETE", "/api/v1/user/avatar", acting, nil).As("the avatar of the member").Want(400)

		if err := commands.RevokeAdmin(t.Context(), cli, "chief@example.com", io.Discard); err != nil {
			t.Fatal(err)
		}
		s.Call("GET", "/api/v1/auth/me", acting, nil).Want(401)
		s.Call("GET", "/api/v1/auth/me", acts, nil).Want(401)
		wantImpersonationLog(s, "ended", "started", "ended", "started")
		s.Call("GET", "/api/v1/admin/tenants", login(), nil).Want(403)

		trail := s.AuditLog(url.Values{"filter[action]": {"admin.granted"}, "sort": {"created_at"}})
		if trail.At("meta.total") != 3.0 || trail.At("data.0.actor_id") != nil {
			t.Errorf("trail: %s", trail.Text)
		}
		for path, want := range map[string]any{
			"data.0.before": map[string]any{"is_platform_admin": false}, "data.0.after": map[string]any{"is_platform_admin": true},
			"data.1.before": map[string]any{"platform_permissions": nil}, "data.1.after": map[string]any{"platform_permissions": []any{"plans.view"}},
		} {
			if diff := cmp.Diff(want, trail.At(path)); diff != "" {
				t.Errorf("%s: %s", path, diff)
			}
		}
		if revoked := s.AuditLog(url.Values{"filter[action]": {"admin.revoked"}}); revoked.At("meta.total") != 1.0 {
			t.Errorf("trail: %s", revoked.Text)
		}
	})
}

// A target that becomes a platform admin is no longer impersonated.
func TestGrantAdminToATarget(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		cli := s.CLISettings()
		ada := s.Register("ada@example.com", true)
		body := map[string]any{"user_id": float64(s.UserID(ada.Token)), "tenant_id": ada.Tenant}
		token := s.Admin()
		s.Call("POST", "/api/v1/admin/impersonation/start", token, body).Want(200)
		apptest.Exec(t, s.DB(), "UPDATE users SET email_verified_at = created_at")
		if err := commands.GrantAdmin(t.Context(), cli, "ada@example.com", nil, io.Discard); err != nil {
			t.Fatal(err)
		}
		me := s.Call("GET", "/api/v1/auth/me", token, nil).Want(200)
		if me.At("user.email") != "admin@tenantry.test" || me.At("impersonation") != nil {
			t.Errorf("me: %s", me.Text)
		}
		wantImpersonationLog(s, "ended", "started")
		s.Call("POST", "/api/v1/admin/impersonation/start", token, body).Want(400)
	})
}
