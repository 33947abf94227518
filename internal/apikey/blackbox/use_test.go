package blackbox_test

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// opened maps each scope to the routes that it allows (rules: api-keys#scopes). Keys cannot call
// any other route.
var opened = map[string][]string{
	"usage.write": {
		"POST /usage", "POST /usage/batch", "POST /usage/reservations", "POST /usage/reservations/{reservation}/settle", "DELETE /usage/reservations/{reservation}",
	},
	"usage.read":        {"GET /usage", "GET /usage/{meterCode}", "GET /usage/quotas", "GET /usage/cost-estimate", "GET /usage/series", "GET /usage/export", "GET /grants"},
	"entitlements.read": {"GET /entitlements"},
	"subscription.read": {"GET /subscription", "GET /subscription/seats", "GET /subscription/preview-change", "GET /plans"},
	"invoices.read": {
		"GET /invoices", "GET /invoices/{invoiceId}", "GET /invoices/{invoiceId}/pdf", "GET /invoices/summary", "GET /credit",
		"GET /credit-notes", "GET /credit-notes/{creditNoteId}", "GET /credit-notes/{creditNoteId}/pdf",
	},
	"team.read": {"GET /team/members", "GET /team/roles", "GET /team/stats", "GET /team/invitations"},
	"tenants.read": {
		"GET /api/v1/admin/tenants", "GET /api/v1/admin/tenants/{tenant}", "GET /api/v1/admin/tenants/{tenant}/members",
		"GET /api/v1/admin/tenants/{tenant}/invitations", "GET /api/v1/admin/tenants/{tenant}/subscriptions",
	},
	"tenants.write": {
		"POST /api/v1/admin/tenants", "PATCH /api/v1/admin/tenants/{tenant}",
		"PATCH /api/v1/admin/tenants/{tenant}/members/{user}", "PATCH /api/v1/admin/tenants/{tenant}/members/{user}/role",
		"DELETE /api/v1/admin/tenants/{tenant}/members/{user}", "POST /api/v1/admin/tenants/{tenant}/invitations",
		"DELETE /api/v1/admin/tenants/{tenant}/invitations/{invitation}", "POST /api/v1/admin/tenants/{tenant}/invitations/{invitation}/resend",
		"GET /roles", "GET /roles/permissions", "POST /roles", "PATCH /roles/{role}", "DELETE /roles/{role}",
	},
	"subscriptions.write": {
		"POST /checkout", "POST /checkout/preview", "POST /packs/{slug}/checkout", "POST /subscription/trial", "POST /docs/billing/portal", "POST /subscription/cancel", "POST /subscription/resume", "GET /subscription/preview-change",
		"POST /subscription/change-plan", "DELETE /subscription/pending-change", "POST /subscription/promotion-code", "DELETE /subscription/promotion-code",
		"POST /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/promotion-code",
		"DELETE /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/promotion-code",
		"POST /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/cancel", "PATCH /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}",
		"POST /api/v1/admin/tenants/{tenant}/subscriptions/preview", "GET /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/preview-change",
		"POST /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/change-plan", "POST /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/resume",
		"DELETE /api/v1/admin/tenants/{tenant}/subscriptions/{subscription}/pending-change", "POST /api/v1/admin/tenants/{tenant}/invoices/{invoice}/pay",
		"POST /api/v1/admin/tenants/{tenant}/subscriptions", "POST /api/v1/admin/tenants/{tenant}/invoices/{invoice}/mark-paid",
	},
	"credit.write": {
		"GET /api/v1/admin/tenants/{tenant}/credit", "POST /api/v1/admin/tenants/{tenant}/credit",
		"POST /api/v1/admin/tenants/{tenant}/invoices/{invoice}/credit-notes", "POST /api/v1/admin/tenants/{tenant}/invoices/{invoice}/credit-notes/preview",
		"POST /api/v1/admin/tenants/{tenant}/credit-notes/{creditNote}/retry-refund",
	},
	"limits.write": {
		"GET /api/v1/admin/tenants/{tenant}/limits", "PUT /api/v1/admin/tenants/{tenant}/limits/{featureCode}",
		"DELETE /api/v1/admin/tenants/{tenant}/limits/{featureCode}", "PUT /usage/{meterCode}/cap",
		"PUT /api/v1/admin/tenants/{tenant}/usage/{meterCode}/cap",
		"GET /api/v1/admin/tenants/{tenant}/grants", "POST /api/v1/admin/tenants/{tenant}/grants", "DELETE /api/v1/admin/tenants/{tenant}/grants/{grant}",
	},
	"catalog.read": {
		"GET /api/v1/admin/products", "GET /api/v1/admin/products/{product}", "GET /api/v1/admin/plans", "GET /api/v1/admin/plans/{plan}",
		"GET /api/v1/admin/features", "GET /api/v1/admin/features/{feature}", "GET /api/v1/admin/meters", "GET /api/v1/admin/meters/{meter}",
		"GET /api/v1/admin/currencies", "GET /api/v1/admin/packs", "GET /api/v1/admin/packs/{pack}",
	},
}

// TestScopesOfEveryRoute calls every route with two keys of the tenant and two of the platform: one
// with only the route's scope, and one with every scope except it.
func TestScopesOfEveryRoute(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, other := s.Register("ada@example.com", true), s.Register("other@example.com", true)
		fresh := s.Register("fresh@example.com", false)
		keys := makeScopedKeys(s, ada)
		walked := map[string]int{}
		for _, r := range s.Routes() {
			if r.Scope == rest.Public {
				continue
			}
			name := r.Method + " " + strings.TrimPrefix(r.Path, "/api/v1/tenant/{tenantId}")
			if r.KeyScope != "" {
				for scope := range strings.SplitSeq(r.KeyScope, "|") {
					walked[scope]++
					if !slices.Contains(opened[scope], name) {
						t.Errorf("%s is not a route of %s", name, scope)
					}
				}
			}
			keys.wantScopes(s, r, name, ada, other, fresh)
		}
		for scope, routes := range opened {
			if walked[scope] != len(routes) {
				t.Errorf("%s opens %d routes, want %d", scope, walked[scope], len(routes))
			}
		}
	})
}

// scopedKeys holds keys of a tenant and of the platform. A key in alone has only the scope under
// which it is stored. A key in without lacks only the scopes under which it is stored, the scopes
// of a route. all has every scope.
type scopedKeys struct {
	alone, without, platformAlone, platformWithout map[string]string
	all, platformAll                               string
}

func makeScopedKeys(s *apptest.Server, ada apptest.Owner) scopedKeys {
	s.T.Helper()
	k := scopedKeys{
		alone: map[string]string{}, without: map[string]string{}, platformAlone: map[string]string{}, platformWithout: map[string]string{},
	}
	for _, scope := range authz.PlatformScopes() {
		_, k.platformAlone[scope] = makePlatformKey(s, scope)
		if slices.Contains(authz.TenantScopes(), scope) {
			_, k.alone[scope] = makeKey(s, ada, scope)
		}
	}
	for _, r := range s.Routes() {
		but := func(scopes []string) []string {
			return slices.DeleteFunc(scopes, func(each string) bool { return slices.Contains(strings.Split(r.KeyScope, "|"), each) })
		}
		if r.KeyScope != "" && k.platformWithout[r.KeyScope] == "" {
			_, k.platformWithout[r.KeyScope] = makePlatformKey(s, but(authz.PlatformScopes())...)
			_, k.without[r.KeyScope] = makeKey(s, ada, but(authz.TenantScopes())...)
		}
	}
	_, k.all = makeKey(s, ada, everyScope...)
	_, k.platformAll = makePlatformKey(s, authz.PlatformScopes()...)
	return k
}

// wantScopes checks that exactly the keys with a scope of the route pass, and only in their tenant.
// ada owns the tenant's keys, and fresh has not completed the onboarding.
func (k scopedKeys) wantScopes(s *apptest.Server, r rest.Route, name string, ada, other, fresh apptest.Owner) {
	path := apptest.FillPath(r.Path, ada.Tenant)
	call := func(key, path string) apptest.Reply {
		s.T.Helper()
		return s.Call(r.Method, path, key, nil).As(name)
	}
	if r.KeyScope == "" {
		call(k.all, path).WantRefused(403, "insufficient_scope")
		call(k.platformAll, path).WantRefused(403, "insufficient_scope")
		return
	}
	ofTenant, ofPlatform := "", ""
	for scope := range strings.SplitSeq(r.KeyScope, "|") {
		ofTenant, ofPlatform = cmp.Or(ofTenant, k.alone[scope]), k.platformAlone[scope]
	}
	passes := func(a apptest.Reply) {
		s.T.Helper()
		isRefused := a.Status == 403 && a.At("code") != nil && a.At("code") != "insufficient_scope"
		if a.Status == 401 || a.Status == 403 && !isRefused || a.Status >= 500 {
			s.T.Errorf("%s: %d %s", name, a.Status, a.Text)
		}
	}
	call(k.platformWithout[r.KeyScope], path).WantRefused(403, "insufficient_scope")
	passes(call(ofPlatform, path))
	if r.Scope == rest.Admin {
		call(k.all, path).WantRefused(403, "insufficient_scope")
		return
	}
	call(k.without[r.KeyScope], path).WantRefused(403, "insufficient_scope")
	passes(call(ofPlatform, apptest.FillPath(r.Path, other.Tenant)))
	if ofTenant == "" {
		call(k.all, path).WantRefused(403, "insufficient_scope")
	} else {
		passes(call(ofTenant, path))
		call(ofTenant, apptest.FillPath(r.Path, other.Tenant)).WantRefused(403, "")
	}
	for _, nowhere := range []string{apptest.NoSuchID, "x"} {
		if ofTenant != "" {
			call(ofTenant, apptest.FillPath(r.Path, nowhere)).WantRefused(403, "")
		}
		call(ofPlatform, apptest.FillPath(r.Path, nowhere)).WantRefused(403, "")
	}
	if r.Scope != rest.Billing { // billing routes work before the onboarding is complete
		call(ofPlatform, apptest.FillPath(r.Path, fresh.Tenant)).WantRefused(403, "ONBOARDING_INCOMPLETE")
	}
}

// Invalid keys and keys outside the Authorization header do not authenticate a request.
func TestRoutesThatAcceptKeys(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, secret := makeKey(s, ada, "usage.read")
		path := ada.Path("/usage")
		s.Call("GET", path, secret, nil).Want(200)
		swapped := secret[:20] + string(secret[21]) + string(secret[20]) + secret[22:]
		other := "tnk_" + strings.Repeat("0", 42) + "1pgNSS" // well formed, but unknown
		for _, wrong := range []string{secret[:51], secret + "x", strings.ToLower(secret), swapped, other, "tnk_", secret[4:]} {
			if wrong != secret {
				s.Call("GET", path, wrong, nil).As(wrong).WantRefused(401, "")
			}
		}
		for _, query := range []string{"?token=", "?access_token=", "?api_key=", "?key="} {
			r := s.NewRequest("GET", path, "", nil)
			r.URL.RawQuery = strings.TrimPrefix(query, "?") + secret
			s.Do(r).WantRefused(401, "")
		}
		for _, cookie := range []string{"tenantry_session", "token", "api_key"} {
			r := s.NewRequest("GET", path, "", nil)
			r.AddCookie(&http.Cookie{Name: cookie, Value: secret})
			s.Do(r).WantRefused(401, "")
		}
		r := s.NewRequest("GET", path, "", nil)
		r.Header.Set("X-Api-Key", secret)
		s.Do(r).WantRefused(401, "")
		r = s.NewRequest("GET", path, "", nil)
		r.SetBasicAuth("tnk", secret)
		s.Do(r).WantRefused(401, "")
	})
}

func TestLastUseOfAKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, secret := makeKey(s, ada, "usage.write")
		used := func() any {
			return s.Call("GET", ada.Path("/api-keys"), ada.Token, nil).Want(200).At("data.0.last_used_at")
		}
		await := func(from time.Time) time.Time {
			t.Helper()
			var at time.Time
			apptest.Eventually(t, "the time of use", func() bool {
				text, ok := used().(string)
				if !ok {
					return false
				}
				var err error
				at, err = time.Parse(time.RFC3339Nano, text)
				return err == nil && !at.Before(from.Truncate(time.Minute))
			})
			return at
		}
		before := s.Now()
		record(s, ada, secret).Want(201)
		if at := await(before); at.Second() != 0 || at.After(s.Now()) {
			t.Errorf("used at %s", at)
		}
		s.Advance(5 * time.Minute)
		before = s.Now()
		record(s, ada, secret).Want(201)
		await(before)
	})
}

func TestKeysOfThePlatform(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada, bob := s.Register("ada@example.com", true), s.Register("bob@example.com", true)
		admin := s.Admin()
		made := s.Call("POST", platformKeys, admin, apptest.Object{"name": "Backend", "scopes": []string{"usage.write", "tenants.read"}}).Want(201)
		secret := made.Str("data.secret")
		record(s, ada, secret).Want(201)
		record(s, bob, secret).Want(201)
		for _, o := range []apptest.Owner{ada, bob} {
			s.Call("GET", o.Path("/usage/api-calls"), o.Token, nil).Want(200).WantAt("data.current_usage", float64(1))
		}
		s.Call("GET", "/api/v1/admin/tenants", secret, nil).Want(200)
		s.Call("GET", "/api/v1/admin/tenants/"+ada.Tenant, secret, nil).Want(200).WantAt("data.id", ada.Tenant)
		s.Call("GET", "/api/v1/admin/tenants/search-with-roles", secret, nil).WantRefused(403, "insufficient_scope")

		// A tenant and the platform cannot see each other's keys.
		mine, _ := makeKey(s, ada, "usage.write")
		s.Call("GET", platformKeys, admin, nil).Want(200).WantAt("data", []any{apptest.WithChanges(made.At("data").(map[string]any), apptest.Object{
			"secret": apptest.Absent, "last_used_at": s.Call("GET", platformKeys, admin, nil).At("data.0.last_used_at"),
		})})
		s.Call("DELETE", platformKeys+"/"+mine, admin, nil).WantRefused(404, "")
		s.Call("DELETE", ada.Path("/api-keys/"+made.Str("data.id")), ada.Token, nil).WantRefused(404, "")
		s.Call("PATCH", platformKeys+"/"+mine, admin, apptest.Object{"name": "x"}).WantRefused(404, "")
		s.Call("POST", platformKeys, ada.Token, usageWrite).WantRefused(403, "")

		next := s.Call("POST", platformKeys+"/"+made.Str("data.id")+"/rotate", admin, nil).Want(201)
		record(s, ada, secret).WantRefused(401, "")
		record(s, ada, next.Str("data.secret")).Want(201)
		s.Call("PATCH", platformKeys+"/"+next.Str("data.id"), admin, apptest.Object{"name": "Other"}).Want(200).WantAt("data.name", "Other")
		s.Call("DELETE", platformKeys+"/"+next.Str("data.id"), admin, nil).Want(204)
		s.Call("DELETE", platformKeys+"/"+next.Str("data.id"), admin, nil).Want(204)
		record(s, ada, next.Str("data.secret")).WantRefused(401, "")

		var out bytes.Buffer
		if err := commands.CreateAPIKey(t.Context(), s.CLISettings(), "First", []string{"usage.write", "tenants.read"}, &out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		first := lines[len(lines)-1]
		if !secretForm.MatchString(first) {
			t.Fatalf("%q", out.String())
		}
		record(s, bob, first).Want(201)
		s.Call("GET", platformKeys, admin, nil).Want(200).WantAt("data.0.created_by", nil).WantAt("data.0.name", "First")
		posing := s.Admin()
		s.Impersonate(posing, ada).Want(200)
		s.Call("GET", platformKeys, posing, nil).WantRefused(403, "")
	})
}

// The platform has no key limit.
func TestManyKeysOfThePlatform(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, sqldb.SQLite)
	admin := s.Admin()
	for range 51 {
		s.Call("POST", platformKeys, admin, usageWrite).Want(201)
	}
}

func TestRateLimitsCountByKey(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, one := makeKey(s, ada, "team.read")
		_, two := makeKey(s, ada, "team.read")
		path := ada.Path("/team/stats")
		for range 8 {
			s.Call("GET", path, one, nil).Want(200)
		}
		s.Call("GET", path, one, nil).Want(429)
		s.Call("GET", path, two, nil).Want(200)
		s.Call("GET", path, ada.Token, nil).Want(200)
	}, func(s *settings.Settings) { s.RateLimits = map[string]int{"default": 8} })
}

// A key stops working when its tenant is deleted.
func TestKeysAreDeletedWithTheTenant(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		ada := s.Register("ada@example.com", true)
		_, secret := makeKey(s, ada, "team.read")
		_, platform := makePlatformKey(s, "team.read")
		s.Call("GET", ada.Path("/team/stats"), secret, nil).Want(200)
		apptest.Exec(t, s.DB(), `DELETE FROM memberships WHERE tenant_id = $1`, ada.Tenant)
		s.Call("DELETE", "/api/v1/admin/tenants/"+ada.Tenant, s.Admin(), nil).Want(204)
		s.Call("GET", ada.Path("/team/stats"), secret, nil).WantRefused(401, "")
		s.Call("GET", ada.Path("/team/stats"), platform, nil).WantRefused(403, "")
	})
}
