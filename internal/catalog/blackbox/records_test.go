package blackbox_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

var timestamp = cmp.FilterPath(func(p cmp.Path) bool {
	key := p.Last().String()
	return key == `["created_at"]` || key == `["updated_at"]`
}, cmp.Comparer(func(a, b any) bool {
	x, _ := a.(string)
	y, _ := b.(string)
	return len(x) == len(y) && strings.HasSuffix(x, "Z")
}))

const anyTime = "2026-01-01T00:00:00.000000Z"

// wantShape compares an object of a response with want. Of times, it checks only the format.
func wantShape(a apptest.Reply, path string, want apptest.Object) {
	a.T.Helper()
	if diff := cmp.Diff(want, a.At(path), timestamp); diff != "" {
		a.T.Errorf("%s: %s", path, diff)
	}
}

func TestAdminProductRecord(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		full := apptest.Object{
			"slug": "Pro_duct-1", "is_active": false, "metadata": apptest.Object{"tier": 1.0, "tags": []any{"a"}},
			"name":        apptest.Object{"en": " Product ", "fr": "Produit", "es": nil, "it": " "},
			"description": apptest.Object{"en": "Line one\nline two", "it": "Uno"},
		}
		made := k.AdminCall("POST", "/products", full).Want(201)
		id := made.Str("data.id")
		want := apptest.Object{
			"id": id, "slug": "Pro_duct-1", "is_active": false, "metadata": apptest.Object{"tier": 1.0, "tags": []any{"a"}},
			"translations": apptest.Object{
				"en": apptest.Object{"name": "Product", "description": "Line one\nline two"},
				"fr": apptest.Object{"name": "Produit", "description": nil},
				"it": apptest.Object{"name": nil, "description": "Uno"},
			},
			"created_at": anyTime, "updated_at": anyTime,
		}
		wantShape(made, "data", want)
		wantShape(k.AdminCall("GET", "/products/"+id, nil).Want(200), "data", apptest.WithChanges(want, apptest.Object{"plans_count": 0.0}))
		k.AdminCall("GET", "/products/"+strings.ToUpper(id), nil).Want(200)

		// Absent keys are unchanged, null clears, and a text changes only in the given locales.
		wantShape(k.AdminCall("PATCH", "/products/"+id, apptest.Object{}).Want(200), "data", want)
		changed := k.AdminCall("PATCH", "/products/"+id, apptest.Object{
			"name": apptest.Object{"fr": nil, "es": "Producto"}, "metadata": nil, "is_active": true, "slug": "pro",
			"description": apptest.Object{"en": "New"},
		}).Want(200)
		want = apptest.WithChanges(want, apptest.Object{
			"slug": "pro", "is_active": true, "metadata": nil,
			"translations": apptest.Object{
				"en": apptest.Object{"name": "Product", "description": "New"},
				"es": apptest.Object{"name": "Producto", "description": nil},
				"it": apptest.Object{"name": nil, "description": "Uno"},
			},
		})
		wantShape(changed, "data", want)
		if changed.At("data.updated_at").(string) <= changed.At("data.created_at").(string) {
			t.Errorf("updated_at did not move: %s", changed.Text)
		}
		k.AdminCall("PATCH", "/products/"+id, apptest.Object{"description": nil}).Want(200).WantAt("data.translations", apptest.Object{
			"en": apptest.Object{"name": "Product", "description": nil}, "es": apptest.Object{"name": "Producto", "description": nil},
		})
		k.AdminCall("PATCH", "/products/"+id, apptest.Object{"description": apptest.Object{"en": "Back"}}).Want(200).WantAt("data.translations.en.description", "Back")

		// Default values. Unknown keys are ignored.
		k.AdminCall("POST", "/products", apptest.Object{"slug": "least", "name": apptest.Object{"en": "Least"}, "color": "red"}).Want(201).
			WantAt("data.is_active", true).WantAt("data.metadata", nil)

		// A deleted product is gone, along with its plans, and its slug is available.
		plan := k.CreatePlan(id, "in-pro")
		if a := k.AdminCall("DELETE", "/products/"+id, nil).Want(204); a.Text != "" {
			t.Errorf("204 with %s", a.Text)
		}
		for _, path := range []string{"/products/" + id, "/plans/" + plan} {
			k.AdminCall("GET", path, nil).WantRefused(404, "")
			k.AdminCall("PATCH", path, apptest.Object{}).WantRefused(404, "")
			k.AdminCall("DELETE", path, nil).WantRefused(404, "")
		}
		k.CreatePlan(k.CreateProduct("pro"), "in-pro")
	})
}

func TestAdminPlanRecord(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product, other := k.CreateProduct("main"), k.CreateProduct("other")
		made := k.AdminCall("POST", "/plans", apptest.WithChanges(apptest.PlanBody(product, "pro"), apptest.Object{
			"name": apptest.Object{"en": "Pro", "fr": "Pro fr"}, "description": apptest.Object{"en": "For\nprofessionals"}, "pricing_type": "seat",
			"billing_cycle": "quarterly", "trial_days": 14, "sort_order": 7, "is_active": false, "metadata": apptest.Object{"a": 1.0},
		})).Want(201)
		id := made.Str("data.id")
		want := apptest.Object{
			"id": id, "product_id": product, "slug": "pro", "pricing_type": "seat", "billing_cycle": "quarterly",
			"interval_unit": "month", "interval_count": 3.0, "trial_days": 14.0, "trial_requires_card": true, "sort_order": 7.0, "is_active": false, "is_default": false,
			"metadata": apptest.Object{"a": 1.0}, "prices": []any{}, "entitlements": []any{},
			"translations": apptest.Object{
				"en": apptest.Object{"name": "Pro", "description": "For\nprofessionals"}, "fr": apptest.Object{"name": "Pro fr", "description": nil},
			},
			"created_at": anyTime, "updated_at": anyTime,
		}
		wantShape(made, "data", want)
		wantShape(k.AdminCall("GET", "/plans/"+id, nil).Want(200), "data", want)
		wantShape(k.AdminCall("PATCH", "/plans/"+id, apptest.Object{}).Want(200), "data", want)
		wantShape(k.AdminCall("PATCH", "/plans/"+id, apptest.Object{
			"product_id": other, "slug": "pro2", "pricing_type": "usage", "trial_days": 0, "sort_order": 0, "is_active": true,
			"metadata": nil, "description": nil, "name": apptest.Object{"fr": nil},
		}).Want(200), "data", apptest.WithChanges(want, apptest.Object{
			"product_id": other, "slug": "pro2", "pricing_type": "usage", "trial_days": 0.0, "sort_order": 0.0, "is_active": true,
			"metadata": nil, "translations": apptest.Object{"en": apptest.Object{"name": "Pro", "description": nil}},
		}))
		k.AdminCall("POST", "/plans", apptest.PlanBody(product, "least")).Want(201).WantAt("data.is_active", true).
			WantAt("data.trial_days", 0.0).WantAt("data.sort_order", 0.0).WantAt("data.metadata", nil)
		k.AdminCall("GET", "/products/"+product, nil).Want(200).WantAt("data.plans_count", 1.0)

		k.AdminCall("DELETE", "/plans/"+id, nil).Want(204)
		k.AdminCall("GET", "/plans/"+id, nil).WantRefused(404, "")
		k.AdminCall("GET", "/plans/"+id+"/entitlements", nil).WantRefused(404, "")
		k.AdminCall("PUT", "/plans/"+id+"/prices", apptest.Object{}).WantRefused(404, "")
		k.AdminCall("PUT", "/plans/"+id+"/entitlements", apptest.Object{}).WantRefused(404, "")
		k.AdminCall("POST", "/plans/"+id+"/duplicate", nil).WantRefused(404, "")
		k.CreatePlan(product, "pro2")
	})
}

// The billing cycle sets the interval unless an interval is given. An interval alone sets the
// billing cycle with the same interval, if one exists.
func TestPlanInterval(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("main")
		id := ""
		for i, c := range []struct {
			change apptest.Object
			cycle  string
			unit   string
			count  float64
		}{
			{apptest.Object{"billing_cycle": "monthly"}, "monthly", "month", 1},
			{apptest.Object{"billing_cycle": "quarterly"}, "quarterly", "month", 3},
			{apptest.Object{"billing_cycle": "yearly"}, "yearly", "year", 1},
			{apptest.Object{"billing_cycle": "weekly"}, "weekly", "week", 1},
			{apptest.Object{"billing_cycle": "monthly", "interval_unit": "day", "interval_count": 10}, "monthly", "day", 10},
			{apptest.Object{"billing_cycle": "monthly", "interval_count": 2}, "monthly", "month", 2},
			{apptest.Object{"billing_cycle": "weekly", "interval_unit": "year"}, "yearly", "year", 1},
			{apptest.Object{"billing_cycle": "monthly", "interval_unit": "month", "interval_count": 3}, "quarterly", "month", 3},
		} {
			a := k.AdminCall("POST", "/plans", apptest.WithChanges(apptest.PlanBody(product, "plan-"+string(rune('a'+i))), c.change)).Want(201)
			a.WantAt("data.billing_cycle", c.cycle).WantAt("data.interval_unit", c.unit).WantAt("data.interval_count", c.count)
			id = a.Str("data.id")
		}
		for _, c := range []struct {
			change apptest.Object
			cycle  string
			unit   string
			count  float64
		}{
			{apptest.Object{"billing_cycle": "monthly"}, "monthly", "month", 1},
			{apptest.Object{"interval_count": 3}, "quarterly", "month", 3},
			{apptest.Object{"interval_count": 6}, "quarterly", "month", 6},
			{apptest.Object{"interval_unit": "year", "interval_count": 1}, "yearly", "year", 1},
			{apptest.Object{"billing_cycle": "weekly", "interval_count": 2}, "weekly", "week", 2},
			{apptest.Object{"sort_order": 1}, "weekly", "week", 2},
			{apptest.Object{"interval_unit": "month", "interval_count": 36}, "weekly", "month", 36},
		} {
			k.AdminCall("PATCH", "/plans/"+id, c.change).Want(200).
				WantAt("data.billing_cycle", c.cycle).WantAt("data.interval_unit", c.unit).WantAt("data.interval_count", c.count)
		}
		for unit, most := range map[string]int{"day": 1095, "week": 156, "month": 36, "year": 3} {
			k.AdminCall("PATCH", "/plans/"+id, apptest.Object{"interval_unit": unit, "interval_count": most}).Want(200)
			k.AdminCall("PATCH", "/plans/"+id, apptest.Object{"interval_unit": unit, "interval_count": most + 1}).As(unit).WantInvalid("interval_count")
		}
	})
}

func TestAdminFeatureRecord(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		made := k.AdminCall("POST", "/features", apptest.Object{
			"code": "priority-support", "name": apptest.Object{"en": "Priority", "it": "Priorità"}, "description": apptest.Object{"en": "Fast"},
			"is_active": false, "metadata": apptest.Object{"x": true},
		}).Want(201)
		id := made.Str("data.id")
		want := apptest.Object{
			"id": id, "code": "priority-support", "is_active": false, "is_system": false, "sort_order": 0.0, "metadata": apptest.Object{"x": true},
			"translations": apptest.Object{"en": apptest.Object{"name": "Priority", "description": "Fast"}, "it": apptest.Object{"name": "Priorità", "description": nil}},
			"created_at":   anyTime, "updated_at": anyTime,
		}
		wantShape(made, "data", want)
		wantShape(k.AdminCall("GET", "/features/"+id, nil).Want(200), "data", want)
		wantShape(k.AdminCall("PATCH", "/features/"+id, apptest.Object{"code": "support", "is_active": true, "metadata": apptest.Object{}, "name": apptest.Object{"it": nil}, "is_system": true}).
			Want(200), "data", apptest.WithChanges(want, apptest.Object{
			"code": "support", "is_active": true, "metadata": apptest.Object{},
			"translations": apptest.Object{"en": apptest.Object{"name": "Priority", "description": "Fast"}},
		}))
		k.AdminCall("DELETE", "/features/"+id, nil).Want(204)
		k.AdminCall("GET", "/features/"+id, nil).WantRefused(404, "")
		k.AdminCall("PATCH", "/features/"+id, apptest.Object{}).WantRefused(404, "")
		k.AdminCall("DELETE", "/features/"+id, nil).WantRefused(404, "")
		k.CreateFeature("support")

		// A system feature can be edited, but it cannot be deleted and its code cannot change.
		system := k.AdminCall("GET", "/features?filter[code]=team-members", nil).Want(200).WantAt("data.0.is_system", true).Str("data.0.id")
		k.AdminCall("DELETE", "/features/"+system, nil).WantRefused(403, "")
		k.AdminCall("PATCH", "/features/"+system, apptest.Object{"code": "seats"}).As("system code").WantInvalid("code")
		k.AdminCall("PATCH", "/features/"+system, apptest.Object{"code": "team-members", "name": apptest.Object{"en": "Seats"}}).Want(200).
			WantAt("data.translations.en.name", "Seats").WantAt("data.is_system", true)
	})
}
