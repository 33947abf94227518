package app_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// selfService are the routes for users' own account and tenant. The value reports whether an
// impersonating admin can use the route, which is the case for reads.
var selfService = map[string]bool{
	"PATCH /api/v1/user":                                   false,
	"DELETE /api/v1/user":                                  false,
	"PUT /api/v1/user/password":                            false,
	"POST /api/v1/user/email":                              false,
	"POST /api/v1/user/email/verification":                 false,
	"GET /api/v1/user/sessions":                            true,
	"DELETE /api/v1/user/sessions":                         false,
	"DELETE /api/v1/user/sessions/{id}":                    false,
	"GET /api/v1/user/export":                              true,
	"POST /api/v1/tenant/{tenantId}/leave":                 false,
	"POST /api/v1/tenant/{tenantId}/transfer-ownership":    false,
	"DELETE /api/v1/tenant/{tenantId}":                     false,
	"GET /api/v1/tenant/{tenantId}/audit-logs":             true,
	"GET /api/v1/tenant/{tenantId}/timeline":               true,
	"GET /api/v1/tenant/{tenantId}/usage/series":           true,
	"GET /api/v1/tenant/{tenantId}/usage/export":           true,
	"GET /api/v1/tenant/{tenantId}/api-keys":               false,
	"POST /api/v1/tenant/{tenantId}/api-keys":              false,
	"PATCH /api/v1/tenant/{tenantId}/api-keys/{key}":       false,
	"POST /api/v1/tenant/{tenantId}/api-keys/{key}/rotate": false,
	"DELETE /api/v1/tenant/{tenantId}/api-keys/{key}":      false,
	"GET /api/v1/user/identities":                          true,
	"DELETE /api/v1/user/identities/{id}":                  false,
	"GET /api/v1/user/factors":                             true,
	"POST /api/v1/user/factors/totp":                       false,
	"POST /api/v1/user/factors/totp/confirm":               false,
	"DELETE /api/v1/user/factors/totp":                     false,
	"POST /api/v1/user/passkeys/options":                   false,
	"POST /api/v1/user/passkeys/assertion-options":         false,
	"POST /api/v1/user/passkeys":                           false,
	"PATCH /api/v1/user/passkeys/{id}":                     false,
	"DELETE /api/v1/user/passkeys/{id}":                    false,
	"POST /api/v1/user/recovery-codes":                     false,
	"POST /api/v1/user/avatar":                             false,
	"DELETE /api/v1/user/avatar":                           false,
	"GET /api/v1/push-subscriptions":                       true,
	"POST /api/v1/push-subscriptions":                      false,
	"DELETE /api/v1/push-subscriptions":                    false,
}

// An impersonating admin can read the user's data but not change it. An API key cannot use these
// routes, except the routes that its scope for usage allows.
func TestSelfServiceIsInPerson(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	ada := s.Register("ada@example.com", true)
	scopes := []string{"usage.read", "usage.write", "entitlements.read", "subscription.read", "invoices.read", "team.read"}
	secret := s.Call("POST", ada.Path("/api-keys"), ada.Token, apptest.Object{"name": "All", "scopes": scopes}).Want(201).Str("data.secret")
	admin := s.Admin()
	s.Impersonate(admin, ada).Want(200)
	routes := map[string]rest.Route{}
	for _, r := range s.Routes() {
		routes[r.Method+" "+r.Path] = r
		if _, known := selfService[r.Method+" "+r.Path]; !known && strings.HasPrefix(r.Path, "/api/v1/user") {
			t.Errorf("%s %s: the test does not know it", r.Method, r.Path)
		}
	}
	for name, reads := range selfService {
		r, ok := routes[name]
		if !ok {
			t.Errorf("unknown route %s", name)
			continue
		}
		path := strings.NewReplacer("{id}", "01990000-0000-7000-8000-000000000000", "{key}", "01990000-0000-7000-8000-000000000000").
			Replace(apptest.FillPath(r.Path, ada.Tenant))
		if strings.Contains(path, "/usage/") {
			path += "?meter_code=api-calls"
		}
		a := s.Call(r.Method, path, admin, nil)
		switch {
		case !reads && a.Status != 400:
			t.Errorf("%s while impersonating: %d %s, want 400", name, a.Status, a.Text)
		case reads && r.Method == "GET" && a.Status != 200:
			t.Errorf("%s while impersonating: %d %s, want 200", name, a.Status, a.Text)
		}
		a = s.Call(r.Method, path, secret, nil)
		if r.KeyScope == "usage.read" {
			a.As(name + " with a key").Want(200)
		} else {
			a.As(name+" with a key").WantRefused(403, "insufficient_scope")
		}
	}
}
