package catalog_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/app/apptest"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// catalogPermissions has the permission that each route needs
// (rules: catalog#who-may-change-it); "" means any platform admin.
var catalogPermissions = map[string]string{
	"GET /products": "products.view", "POST /products": "products.create", "GET /products/{product}": "products.view",
	"PATCH /products/{product}": "products.update", "DELETE /products/{product}": "products.delete",
	"GET /plans": "plans.view", "POST /plans": "plans.create", "GET /plans/{plan}": "plans.view",
	"PATCH /plans/{plan}": "plans.update", "DELETE /plans/{plan}": "plans.delete", "POST /plans/{plan}/duplicate": "plans.create",
	"GET /features": "features.view", "POST /features": "features.create", "GET /features/{feature}": "features.view",
	"PATCH /features/{feature}": "features.update", "DELETE /features/{feature}": "features.delete",
	"GET /plans/{plan}/entitlements": "entitlements.view", "PUT /plans/{plan}/entitlements": "entitlements.sync",
	"DELETE /entitlements/{entitlement}": "entitlements.delete",
	"PUT /plans/{plan}/prices":           "", "DELETE /plans/{plan}/prices/{price}": "",
}

// A platform admin who lacks a permission is refused, before anything is said of
// what does not exist or is wrong; one who has no other gets past the guard.
func TestCatalogPermissions(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		routes := s.Routes()
		db := s.DB()
		allow := func(permissions []string) {
			t.Helper()
			text, err := json.Marshal(permissions)
			if err != nil {
				t.Fatal(err)
			}
			apptest.Exec(t, db, "UPDATE users SET platform_permissions = $1 WHERE is_platform_admin", string(text))
		}
		for route, permission := range catalogPermissions {
			method, path, _ := strings.Cut(route, " ")
			if !slices.ContainsFunc(routes, func(r rest.Route) bool {
				return r.Method == method && r.Path == "/api/v1/admin"+path && r.Permission == permission
			}) {
				t.Errorf("%s is not a route with the permission %q", route, permission)
			}
			allow(slices.DeleteFunc(authz.PlatformPermissions(), func(p string) bool { return p == permission }))
			if a := k.AdminCall(method, apptest.FillPath(path, ""), nil); (a.Status == 403) != (permission != "") {
				t.Errorf("%s without %q: %d %s", route, permission, a.Status, a.Text)
			}
			allow(slices.DeleteFunc([]string{permission}, func(p string) bool { return p == "" }))
			if a := k.AdminCall(method, apptest.FillPath(path, ""), nil); a.Status != 200 && a.Status != 404 && a.Status != 422 {
				t.Errorf("%s with %q alone: %d %s", route, permission, a.Status, a.Text)
			}
		}
	})
}
