package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// table is the route table of a service that never runs.
func table(t *testing.T) []rest.Route {
	t.Helper()
	return start(t, sqldb.SQLite).routes(t)
}

// routes reads the table from the server's own reference, which every route is
// in with its scope, permission and group.
func (s *server) routes(t *testing.T) []rest.Route {
	t.Helper()
	paths, _ := s.call("GET", "/openapi.json", "", nil).want(200).at("paths").(map[string]any)
	var routes []rest.Route
	for path, methods := range paths {
		for method, op := range methods.(map[string]any) {
			op := op.(map[string]any)
			text := func(key string) string { v, _ := op[key].(string); return v }
			routes = append(routes, rest.Route{
				Method: strings.ToUpper(method), Path: path, Scope: rest.Scope(text("x-scope")),
				Permission: text("x-permission"), Rate: text("x-rate-limit"), Summary: text("summary"),
			})
		}
	}
	if len(routes) < 20 {
		t.Fatalf("the reference has only %d routes", len(routes))
	}
	return routes
}

// TestRouteTable holds what must be true of every row, present and future.
func TestRouteTable(t *testing.T) {
	t.Parallel()
	unlimited := []string{"/api/v1/webhooks/stripe"}
	for _, r := range table(t) {
		name := r.Method + " " + r.Path
		if r.Summary == "" {
			t.Errorf("%s has no summary", name)
		}
		if !strings.HasPrefix(r.Path, "/api/v1/") {
			t.Errorf("%s is not under /api/v1", name)
		}
		if inPath, scope := strings.HasPrefix(r.Path, "/api/v1/admin/"), r.Scope == rest.Admin || r.Scope == rest.Impersonating; inPath != scope {
			t.Errorf("%s: the path and the scope %q disagree", name, r.Scope)
		}
		if strings.HasPrefix(r.Path+"/", "/api/v1/tenant/") && r.Scope != rest.Tenant && r.Scope != rest.Billing {
			t.Errorf("%s: a tenant's path with the scope %q", name, r.Scope)
		}
		if r.Rate == "" && !slices.Contains(unlimited, r.Path) {
			t.Errorf("%s has no rate-limit group", name)
		}
		if r.Rate != "" && !limit.Known(r.Rate) {
			t.Errorf("%s: unknown rate-limit group %q", name, r.Rate)
		}
		permissions := authz.TenantPermissions()
		if r.Scope == rest.Admin {
			permissions = authz.PlatformPermissions()
		}
		if r.Permission != "" && !slices.Contains(permissions, r.Permission) {
			t.Errorf("%s: unknown permission %q", name, r.Permission)
		}
	}
}

// fill puts ids into a path.
func fill(path, tenant string) string {
	path = strings.ReplaceAll(path, "{tenantId}", tenant)
	for {
		from := strings.IndexByte(path, '{')
		if from < 0 {
			return path
		}
		path = path[:from] + "01990000-0000-7000-8000-000000000000" + path[from+strings.IndexByte(path[from:], '}')+1:]
	}
}

// TestGuardsOfEveryRoute walks the table and knocks at each door as a stranger,
// as a member of another tenant, as somebody without a tenant, as somebody who
// is not onboarded, and as somebody who is no platform admin.
func TestGuardsOfEveryRoute(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		mine, other := s.register("mine@example.com", true), s.register("other@example.com", true)
		fresh := s.register("fresh@example.com", false)
		alone := s.call("POST", "/api/v1/auth/register", "", map[string]any{
			"name": "Alone", "email": "alone@example.com", "password": "correct horse",
			"password_confirmation": "correct horse", "create_tenant": false,
		}).want(201).str("accessToken")
		for _, r := range s.routes(t) {
			if r.Scope == rest.Public {
				continue
			}
			path := fill(r.Path, mine.tenant)
			refused := func(who, token, path string, status int, code string) {
				t.Helper()
				a := s.call(r.Method, path, token, nil)
				if a.status != status || code != "" && a.at("code") != code || a.at("message") == nil {
					t.Errorf("%s %s as %s: %d %s", r.Method, r.Path, who, a.status, a.text)
				}
			}
			refused("a stranger", "", path, 401, "")
			refused("a forger", strings.Repeat("x", 43), path, 401, "")
			switch r.Scope {
			case rest.Impersonating:
				refused("somebody who acts for themself", mine.token, path, 400, "")
			case rest.Admin:
				refused("a tenant's owner", mine.token, path, 403, "")
			case rest.Member:
				refused("somebody without a tenant", alone, path, 400, "TENANT_CONTEXT_REQUIRED")
			case rest.Billing:
				refused("another tenant's owner", other.token, path, 403, "")
				refused("anybody in a malformed tenant", mine.token, fill(r.Path, "x"), 403, "")
				refused("somebody without a tenant", alone, path, 403, "")
			case rest.Tenant:
				if strings.Contains(r.Path, "{tenantId}") {
					refused("another tenant's owner", other.token, path, 403, "")
					refused("anybody in a tenant that is none", mine.token, fill(r.Path, "01990000-0000-7000-8000-000000000000"), 403, "")
					refused("anybody in a malformed tenant", mine.token, fill(r.Path, "x"), 403, "")
					refused("somebody not onboarded", fresh.token, fill(r.Path, fresh.tenant), 403, "ONBOARDING_INCOMPLETE")
					refused("somebody without a tenant", alone, path, 403, "")
				} else {
					refused("somebody without a tenant", alone, path, 400, "TENANT_CONTEXT_REQUIRED")
					refused("somebody not onboarded", fresh.token, path, 403, "ONBOARDING_INCOMPLETE")
				}
			}
		}
	})
}

// The sandbox's pages do not hide that a path is unknown.
func TestUnknownPaths(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		for _, path := range []string{"/api/v1/none", "/api/v2/auth/me", "/none", "/api/v1/tenant/x/none"} {
			unknown := s.call("GET", path, "", nil).want(404)
			if unknown.at("message") == nil {
				t.Errorf("%s: %s", path, unknown.text)
			}
		}
		s.call("GET", "/", "", nil).want(302)
		wrong := s.call("DELETE", "/api/v1/auth/login", "", nil).want(405)
		if got := wrong.header.Get("Allow"); got != "POST" || wrong.at("message") == nil {
			t.Errorf("Allow %q, %s", got, wrong.text)
		}
	})
}
