package blackbox_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// A permission for one kind of record does not allow changing another kind indirectly.
func TestPermissionsOfPartsOfTheCatalog(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		allow := func(permissions string) {
			apptest.Exec(t, s.DB(), `UPDATE users SET platform_permissions = $1 WHERE is_platform_admin`, permissions)
		}
		empty, product := k.CreateProduct("empty"), k.CreateProduct("full")
		plan := k.CreatePlan(product, "full-plan")
		feature, unused := k.CreateFeature("exports"), k.CreateFeature("imports")
		set := []apptest.Object{{"feature_id": feature, "type": "boolean"}}

		allow(`["plans.update","plans.view"]`)
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"sort_order": 3, "entitlements": set}).WantRefused(403, "")
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"entitlements": []apptest.Object{}}).WantRefused(403, "")
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"slug": "", "entitlements": set}).WantInvalid("slug")
		k.AdminCall("GET", "/plans/"+plan, nil).Want(200).WantAt("data.sort_order", float64(0))
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"sort_order": 4}).Want(200)
		allow(`["entitlements.sync","plans.update","plans.view"]`)
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"entitlements": set}).Want(200)

		allow(`["features.delete"]`)
		k.AdminCall("DELETE", "/features/"+feature, nil).WantRefused(403, "")
		k.AdminCall("DELETE", "/features/"+unused, nil).Want(204)
		allow(`["entitlements.delete","features.delete"]`)
		k.AdminCall("DELETE", "/features/"+feature, nil).Want(204)

		allow(`["plans.view","products.delete"]`)
		k.AdminCall("DELETE", "/products/"+product, nil).WantRefused(403, "")
		k.AdminCall("GET", "/plans/"+plan, nil).Want(200)
		k.AdminCall("DELETE", "/products/"+empty, nil).Want(204)
		allow(`["plans.delete","plans.view","products.delete"]`)
		k.AdminCall("DELETE", "/products/"+product, nil).Want(204)
		k.AdminCall("GET", "/plans/"+plan, nil).WantRefused(404, "")
	})
}
