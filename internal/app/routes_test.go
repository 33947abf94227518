package app_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// table returns the route table of a service.
func table(t *testing.T) []rest.Route {
	t.Helper()
	return apptest.Start(t, sqldb.SQLite).Routes()
}

// TestRouteTable checks properties of every route, including future routes.
func TestRouteTable(t *testing.T) {
	t.Parallel()
	unlimited := []string{"/api/v1/webhooks/stripe"}
	for _, r := range table(t) {
		name := r.Method + " " + r.Path
		if r.Summary == "" {
			t.Errorf("%s lacks a summary", name)
		}
		if !strings.HasPrefix(r.Path, "/api/v1/") && !strings.HasPrefix(r.Path, "/.well-known/") {
			t.Errorf("%s is not under /api/v1", name)
		}
		if inPath, scope := strings.HasPrefix(r.Path, "/api/v1/admin/"), r.Scope == rest.Admin || r.Scope == rest.Impersonating; inPath != scope {
			t.Errorf("%s: the path and the scope %q disagree", name, r.Scope)
		}
		if strings.HasPrefix(r.Path+"/", "/api/v1/tenant/") && !slices.Contains([]rest.Scope{rest.Tenant, rest.Member, rest.Billing}, r.Scope) {
			t.Errorf("%s: a tenant's path with the scope %q", name, r.Scope)
		}
		if r.Rate == "" && !slices.Contains(unlimited, r.Path) {
			t.Errorf("%s lacks a rate-limit group", name)
		}
		if r.Rate != "" && !limit.IsGroup(r.Rate) {
			t.Errorf("%s: unknown rate-limit group %q", name, r.Rate)
		}
		permissions := authz.TenantPermissions()
		if r.Scope == rest.Admin {
			permissions = authz.PlatformPermissions()
		}
		for _, p := range strings.FieldsFunc(r.Permission, func(c rune) bool { return c == '|' || c == '&' }) {
			if p != "" && !slices.Contains(permissions, p) {
				t.Errorf("%s: unknown permission %q", name, p)
			}
		}
		if r.Scope == rest.Admin && r.Permission == "" {
			t.Errorf("%s: requires no permission of the admin", name)
		}
	}
}

// TestGuardsOfEveryRoute calls every route without a credential, as a member of another tenant, as
// a user without a tenant, as a user who is not onboarded, and as a user who is not a platform
// admin.
func TestGuardsOfEveryRoute(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		mine, other := s.Register("mine@example.com", true), s.Register("other@example.com", true)
		fresh := s.Register("fresh@example.com", false)
		alone := s.Call("POST", "/api/v1/auth/register", "", map[string]any{
			"name": "Alone", "email": "alone@example.com", "password": "correct horse",
			"password_confirmation": "correct horse", "create_tenant": false,
		}).Want(201).Str("accessToken")
		for _, r := range s.Routes() {
			if r.Scope == rest.Public {
				continue
			}
			path := apptest.FillPath(r.Path, mine.Tenant)
			refused := func(who, token, path string, status int, code string) {
				t.Helper()
				a := s.Call(r.Method, path, token, nil)
				if a.Status != status || code != "" && a.At("code") != code || a.At("message") == nil {
					t.Errorf("%s %s as %s: %d %s", r.Method, r.Path, who, a.Status, a.Text)
				}
			}
			refused("a stranger", "", path, 401, "")
			refused("a forger", strings.Repeat("x", 43), path, 401, "")
			switch r.Scope {
			case rest.Impersonating:
				refused("user without impersonation", mine.Token, path, 400, "")
			case rest.Admin:
				refused("a tenant's owner", mine.Token, path, 403, "")
			case rest.Member:
				if !strings.Contains(r.Path, "{tenantId}") {
					refused("user without a tenant", alone, path, 400, "TENANT_CONTEXT_REQUIRED")
					break
				}
				refused("another tenant's owner", other.Token, path, 403, "")
				refused("malformed tenant ID", mine.Token, apptest.FillPath(r.Path, "x"), 403, "")
				refused("user without a tenant", alone, path, 403, "")
			case rest.Billing:
				refused("another tenant's owner", other.Token, path, 403, "")
				refused("malformed tenant ID", mine.Token, apptest.FillPath(r.Path, "x"), 403, "")
				refused("user without a tenant", alone, path, 403, "")
			case rest.Tenant:
				if strings.Contains(r.Path, "{tenantId}") {
					refused("another tenant's owner", other.Token, path, 403, "")
					refused("unknown tenant", mine.Token, apptest.FillPath(r.Path, "01990000-0000-7000-8000-000000000000"), 403, "")
					refused("malformed tenant ID", mine.Token, apptest.FillPath(r.Path, "x"), 403, "")
					refused("user during onboarding", fresh.Token, apptest.FillPath(r.Path, fresh.Tenant), 403, "ONBOARDING_INCOMPLETE")
					refused("user without a tenant", alone, path, 403, "")
				} else {
					refused("user without a tenant", alone, path, 400, "TENANT_CONTEXT_REQUIRED")
					refused("user during onboarding", fresh.Token, path, 403, "ONBOARDING_INCOMPLETE")
				}
			}
		}
	})
}

// With the sandbox's pages mounted, unknown paths still return errors.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		for _, path := range []string{"/api/v1/none", "/api/v2/auth/me", "/none", "/api/v1/tenant/x/none"} {
			unknown := s.Call("GET", path, "", nil).Want(404)
			if unknown.At("message") == nil {
				t.Errorf("%s: %s", path, unknown.Text)
			}
		}
		if console := s.Call("GET", "/", "", nil).Want(200); !strings.Contains(console.Text, `<div id="root">`) {
			t.Errorf("/: %s", console.Text)
		}
		wrong := s.Call("DELETE", "/api/v1/auth/login", "", nil).Want(405)
		if got := wrong.Header.Get("Allow"); got != "POST" || wrong.At("message") == nil {
			t.Errorf("Allow %q, %s", got, wrong.Text)
		}
	})
}
