package app_test

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// adminPermissions maps each admin route to the permissions that a restricted admin needs
// (rules: http#permissions-of-administrators). "a|b" means one of the permissions, "a&b" both.
var adminPermissions = map[string]string{
	"GET /tenants": "tenants.view", "POST /tenants": "tenants.manage", "GET /tenants/{tenant}": "tenants.view", "PATCH /tenants/{tenant}": "tenants.manage",
	"DELETE /tenants/{tenant}":                                             "tenants.manage",
	"POST /tenants/{tenant}/restore":                                       "tenants.manage",
	"GET /tenants/search-with-roles":                                       "users.create",
	"GET /settings":                                                        "logs.view",
	"GET /brand/mail":                                                      "logs.view",
	"GET /brand/invoice":                                                   "logs.view",
	"GET /tenants/{tenant}/members":                                        "tenants.view",
	"PATCH /tenants/{tenant}/members/{user}":                               "tenants.manage|users.password",
	"PATCH /tenants/{tenant}/members/{user}/role":                          "tenants.manage",
	"DELETE /tenants/{tenant}/members/{user}":                              "tenants.manage",
	"DELETE /tenants/{tenant}/members/{user}/factors":                      "users.password",
	"POST /tenants/{tenant}/transfer-ownership":                            "tenants.manage",
	"GET /tenants/{tenant}/invitations":                                    "tenants.view",
	"POST /tenants/{tenant}/invitations":                                   "tenants.manage",
	"DELETE /tenants/{tenant}/invitations/{invitation}":                    "tenants.manage",
	"POST /tenants/{tenant}/invitations/{invitation}/resend":               "tenants.manage",
	"GET /tenants/{tenant}/grants":                                         "limits.manage",
	"POST /tenants/{tenant}/grants":                                        "limits.manage",
	"DELETE /tenants/{tenant}/grants/{grant}":                              "limits.manage",
	"GET /tenants/{tenant}/limits":                                         "limits.manage",
	"PUT /tenants/{tenant}/limits/{featureCode}":                           "limits.manage",
	"DELETE /tenants/{tenant}/limits/{featureCode}":                        "limits.manage",
	"GET /tenants/{tenant}/usage/quotas":                                   "tenants.view",
	"GET /tenants/{tenant}/usage/series":                                   "tenants.view",
	"GET /tenants/{tenant}/credit":                                         "billing.credit",
	"POST /tenants/{tenant}/credit":                                        "billing.credit",
	"GET /tenants/{tenant}/billing":                                        "tenants.view",
	"GET /tenants/{tenant}/subscriptions":                                  "tenants.view",
	"POST /tenants/{tenant}/subscriptions/{subscription}/cancel":           "tenants.manage",
	"PATCH /tenants/{tenant}/subscriptions/{subscription}":                 "subscriptions.manage|tenants.manage",
	"POST /tenants/{tenant}/subscriptions":                                 "subscriptions.manage",
	"POST /tenants/{tenant}/subscriptions/preview":                         "subscriptions.manage",
	"GET /tenants/{tenant}/subscriptions/{subscription}/preview-change":    "subscriptions.manage",
	"POST /tenants/{tenant}/subscriptions/{subscription}/change-plan":      "subscriptions.manage",
	"POST /tenants/{tenant}/subscriptions/{subscription}/resume":           "subscriptions.manage",
	"DELETE /tenants/{tenant}/subscriptions/{subscription}/pending-change": "subscriptions.manage",
	"POST /tenants/{tenant}/invoices/{invoice}/pay":                        "subscriptions.manage",
	"PUT /tenants/{tenant}/usage/{meterCode}/cap":                          "limits.manage",
	"GET /tenants/{tenant}/webhook-endpoints":                              "webhooks.manage&tenants.view",
	"GET /tenants/{tenant}/api-keys":                                       "tenants.view&api_keys.manage",
	"GET /tenants/{tenant}/invoices/{invoice}":                             "tenants.view",
	"GET /tenants/{tenant}/invoices/{invoice}/pdf":                         "tenants.view",
	"GET /tenants/{tenant}/credit-notes/{creditNote}":                      "tenants.view",
	"GET /tenants/{tenant}/credit-notes/{creditNote}/pdf":                  "tenants.view",
	"POST /tenants/{tenant}/invoices/{invoice}/mark-paid":                  "subscriptions.manage",
	"POST /tenants/{tenant}/invoices/{invoice}/credit-notes":               "billing.credit",
	"POST /tenants/{tenant}/invoices/{invoice}/credit-notes/preview":       "billing.credit",
	"POST /tenants/{tenant}/credit-notes/{creditNote}/retry-refund":        "billing.credit",
	"POST /tenants/{tenant}/invoices/{invoice}/void":                       "tenants.manage",
	"POST /impersonation/start":                                            "impersonation.start",
	"GET /impersonation/logs":                                              "logs.view",
	"GET /api-keys":                                                        "api_keys.manage", "POST /api-keys": "api_keys.manage", "PATCH /api-keys/{key}": "api_keys.manage",
	"POST /api-keys/{key}/rotate": "api_keys.manage", "DELETE /api-keys/{key}": "api_keys.manage",
	"GET /invoices": "tenants.view", "GET /credit-notes": "tenants.view", "GET /subscriptions": "tenants.view", "GET /users": "tenants.view",
	"GET /webhook-deliveries": "webhooks.manage&tenants.view", "GET /search": "tenants.view",
	"GET /stats": "tenants.view", "GET /stats/series": "tenants.view",
	"GET /analytics": "tenants.view", "GET /analytics/movements": "tenants.view", "GET /analytics/cohorts": "tenants.view",
	"GET /rates": "tenants.view", "PUT /rates/{date}": "rates.manage", "DELETE /rates/{date}": "rates.manage",
	"GET /audit-logs": "logs.view", "GET /activity": "logs.view", "GET /tenants/{tenant}/timeline": "logs.view",

	"GET /webhook-endpoints": "webhooks.manage&tenants.view", "POST /webhook-endpoints": "webhooks.manage&tenants.view",
	"GET /webhook-endpoints/{endpoint}": "webhooks.manage&tenants.view", "PATCH /webhook-endpoints/{endpoint}": "webhooks.manage&tenants.view",
	"DELETE /webhook-endpoints/{endpoint}": "webhooks.manage&tenants.view", "POST /webhook-endpoints/{endpoint}/rotate-secret": "webhooks.manage&tenants.view",
	"POST /webhook-endpoints/{endpoint}/test": "webhooks.manage&tenants.view", "GET /webhook-endpoints/{endpoint}/deliveries": "webhooks.manage&tenants.view",
	"GET /webhook-endpoints/{endpoint}/deliveries/{delivery}":         "webhooks.manage&tenants.view",
	"POST /webhook-endpoints/{endpoint}/deliveries/{delivery}/resend": "webhooks.manage&tenants.view",
	"GET /webhook-deliveries/{delivery}":                              "webhooks.manage&tenants.view",
	"POST /webhook-deliveries/{delivery}/resend":                      "webhooks.manage&tenants.view",
	"GET /request-logs":                         "logs.view",
	"POST /webhook-endpoints/{endpoint}/replay": "webhooks.manage&tenants.view",

	"GET /products": "products.view", "POST /products": "products.create", "GET /products/{product}": "products.view",
	"PATCH /products/{product}": "products.update", "DELETE /products/{product}": "products.delete",
	"GET /plans": "plans.view", "POST /plans": "plans.create", "GET /plans/{plan}": "plans.view",
	"PATCH /plans/{plan}": "plans.update", "DELETE /plans/{plan}": "plans.delete", "POST /plans/{plan}/duplicate": "plans.create",
	"GET /plans/{plan}/customers": "plans.view",
	"GET /packs":                  "plans.view", "POST /packs": "plans.create", "GET /packs/{pack}": "plans.view",
	"GET /discounts": "plans.view", "POST /discounts": "plans.create", "GET /discounts/{discount}": "plans.view",
	"PATCH /discounts/{discount}": "plans.update", "DELETE /discounts/{discount}": "plans.delete",
	"POST /tenants/{tenant}/subscriptions/{subscription}/promotion-code":   "subscriptions.manage",
	"DELETE /tenants/{tenant}/subscriptions/{subscription}/promotion-code": "subscriptions.manage",
	"PATCH /packs/{pack}": "plans.update", "DELETE /packs/{pack}": "plans.delete",
	"GET /features": "features.view", "POST /features": "features.create", "GET /features/{feature}": "features.view",
	"PATCH /features/{feature}": "features.update", "DELETE /features/{feature}": "features.delete",
	"GET /plans/{plan}/entitlements": "entitlements.view", "PUT /plans/{plan}/entitlements": "entitlements.sync",
	"DELETE /entitlements/{entitlement}": "entitlements.delete",
	"PUT /plans/{plan}/prices":           "plans.update", "DELETE /plans/{plan}/prices/{price}": "plans.update",
	"POST /plans/{plan}/prices/{price}/psp-create": "plans.update", "POST /plans/{plan}/prices/{price}/psp-link": "plans.update",
	"POST /plans/{plan}/prices/{price}/psp-unlink": "plans.update", "POST /plans/{plan}/prices/psp-import": "plans.update",
	"GET /plans/{plan}/psp-price-status": "plans.view",

	"GET /currencies": "currencies.manage", "GET /currencies/catalog": "currencies.manage", "POST /currencies": "currencies.manage",
	"POST /currencies/bulk": "currencies.manage", "PATCH /currencies/{currency}": "currencies.manage", "DELETE /currencies/{currency}": "currencies.manage",
	"GET /meters": "meters.manage", "POST /meters": "meters.manage", "GET /meters/{meter}": "meters.manage",
	"PATCH /meters/{meter}": "meters.manage", "DELETE /meters/{meter}": "meters.manage",
}

// TestPermissionsOfAdministrators calls every admin route twice: as an admin who lacks only the
// permission of the route, and as an admin with only this permission. A missing permission is
// reported before a missing object or an invalid field.
func TestPermissionsOfAdministrators(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		db := s.DB()
		allow := func(permissions []string) {
			t.Helper()
			text, err := json.Marshal(permissions)
			if err != nil {
				t.Fatal(err)
			}
			apptest.Exec(t, db, "UPDATE users SET platform_permissions = $1 WHERE is_platform_admin", string(text))
		}
		rules := maps.Clone(adminPermissions)
		for _, r := range s.Routes() {
			if r.Scope != rest.Admin {
				continue
			}
			name := r.Method + " " + strings.TrimPrefix(r.Path, "/api/v1/admin")
			want := rules[name]
			delete(rules, name)
			if want == "" || r.Permission != want {
				t.Errorf("%s has the permission %q, want %q", name, r.Permission, want)
				continue
			}
			call := func() apptest.Reply { return k.Call(r.Method, apptest.FillPath(r.Path, ""), k.Token, nil) }
			for _, one := range strings.Split(want, "&") {
				either := strings.Split(one, "|")
				allow(slices.DeleteFunc(authz.PlatformPermissions(), func(p string) bool { return slices.Contains(either, p) }))
				call().As(name+" without "+one).WantRefused(403, "")
			}
			for _, one := range strings.Split(want, "|") {
				allow(strings.Split(one, "&"))
				if a := call(); a.Status != 200 && a.Status != 404 && a.Status != 422 {
					t.Errorf("%s with only %q: %d %s", name, one, a.Status, a.Text)
				}
			}
		}
		for name := range rules {
			t.Errorf("unknown route %s", name)
		}
	})
}

// The permissions of a restricted admin also apply to routes that need several permissions, and to
// routes outside /api/v1/admin.
func TestListOfAnAdministrator(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		o := s.Register("ada@example.com", true)
		bob, id := s.Join(o, "Bob", "bob@example.com", "member")
		admin := s.Admin()
		grant := func(permissions ...string) {
			t.Helper()
			if err := commands.GrantAdmin(t.Context(), s.CLISettings(), "admin@tenantry.test", permissions, io.Discard); err != nil {
				t.Fatal(err)
			}
		}
		member := "/api/v1/admin/tenants/" + o.Tenant + "/members/" + apptest.IDText(float64(id))
		update := func(body apptest.Object) apptest.Reply { return s.Call("PATCH", member, admin, body) }
		name, password := apptest.Object{"name": "Robert"}, apptest.Object{"password": "something quite new"}
		both := apptest.WithChanges(name, password)
		portal := func() apptest.Reply { return s.Call("POST", o.Path("/docs/billing/portal"), admin, nil) }

		grant("tenants.manage", "tenants.view")
		update(password).WantRefused(403, "")
		update(both).WantRefused(403, "")
		update(name).Want(200).WantAt("data.name", "Robert")
		portal().WantRefused(403, "")
		s.Call("GET", "/api/v1/auth/me", bob, nil).Want(200)
		s.Call("GET", "/api/v1/auth/me", admin, nil).Want(200).WantAt("user.permissions", []any{"tenants.manage", "tenants.view"})
		s.Call("POST", "/api/v1/admin/impersonation/start", admin, apptest.Object{"user_id": id, "tenant_id": o.Tenant}).WantRefused(403, "")

		grant("users.password")
		update(name).WantRefused(403, "")
		update(both).WantRefused(403, "")
		s.Call("GET", "/api/v1/admin/tenants/"+o.Tenant+"/members", admin, nil).WantRefused(403, "")
		update(password).Want(200)
		s.Call("GET", "/api/v1/auth/me", bob, nil).WantRefused(401, "")

		grant("billing.manage")
		portal().WantRefused(422, "") // the tenant has no subscription
		grant()
		portal().WantRefused(422, "")
		update(both).Want(200)

		// An admin cannot extend their own permissions over HTTP.
		grant("tenants.manage", "users.password")
		for _, body := range []apptest.Object{{"platform_permissions": nil}, {"is_platform_admin": true}, {"permissions": []string{"plans.view"}}} {
			update(body).Want(200)
		}
		s.Call("GET", "/api/v1/admin/plans", admin, nil).WantRefused(403, "")
		s.Call("GET", "/api/v1/admin/plans", s.LogIn("ada@example.com"), nil).WantRefused(403, "")
	})
}
