package app

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// shape compares a whole object of an answer, its times by their form.
func (a reply) shape(path string, want object) {
	a.t.Helper()
	if diff := cmp.Diff(want, a.at(path), timestamp); diff != "" {
		a.t.Errorf("%s: %s", path, diff)
	}
}

func TestAdminProductRecord(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		full := object{
			"slug": "Pro_duct-1", "is_active": false, "metadata": object{"tier": 1.0, "tags": []any{"a"}},
			"name":        object{"en": " Product ", "fr": "Produit", "es": nil, "it": " "},
			"description": object{"en": "Line one\nline two", "it": "Uno"},
		}
		made := k.on("POST", "/products", full).want(201)
		id := made.str("data.id")
		want := object{
			"id": id, "slug": "Pro_duct-1", "is_active": false, "metadata": object{"tier": 1.0, "tags": []any{"a"}},
			"translations": object{
				"en": object{"name": "Product", "description": "Line one\nline two"},
				"fr": object{"name": "Produit", "description": nil},
				"it": object{"name": nil, "description": "Uno"},
			},
			"created_at": anyTime, "updated_at": anyTime,
		}
		made.shape("data", want)
		k.on("GET", "/products/"+id, nil).want(200).shape("data", with(want, object{"plans_count": 0.0}))
		k.on("GET", "/products/"+strings.ToUpper(id), nil).want(200)

		// Absent keys stay, null clears, a text changes in the locales it names.
		k.on("PATCH", "/products/"+id, object{}).want(200).shape("data", want)
		changed := k.on("PATCH", "/products/"+id, object{
			"name": object{"fr": nil, "es": "Producto"}, "metadata": nil, "is_active": true, "slug": "pro",
			"description": object{"en": "New"},
		}).want(200)
		want = with(want, object{
			"slug": "pro", "is_active": true, "metadata": nil,
			"translations": object{
				"en": object{"name": "Product", "description": "New"},
				"es": object{"name": "Producto", "description": nil},
				"it": object{"name": nil, "description": "Uno"},
			},
		})
		changed.shape("data", want)
		if changed.at("data.updated_at").(string) <= changed.at("data.created_at").(string) {
			t.Errorf("updated_at did not move: %s", changed.text)
		}
		k.on("PATCH", "/products/"+id, object{"description": nil}).want(200).same("data.translations", object{
			"en": object{"name": "Product", "description": nil}, "es": object{"name": "Producto", "description": nil},
		})
		k.on("PATCH", "/products/"+id, object{"description": object{"en": "Back"}}).want(200).same("data.translations.en.description", "Back")

		// Its defaults, and the unknown key that is ignored.
		k.on("POST", "/products", object{"slug": "least", "name": object{"en": "Least"}, "color": "red"}).want(201).
			same("data.is_active", true).same("data.metadata", nil)

		// A deleted one is gone, with its plans, and its slug is free.
		plan := k.planOf(id, "in-pro")
		if a := k.on("DELETE", "/products/"+id, nil).want(204); a.text != "" {
			t.Errorf("204 with %s", a.text)
		}
		for _, path := range []string{"/products/" + id, "/plans/" + plan} {
			k.on("GET", path, nil).refused(404, "")
			k.on("PATCH", path, object{}).refused(404, "")
			k.on("DELETE", path, nil).refused(404, "")
		}
		k.planOf(k.product("pro"), "in-pro")
	})
}

func TestAdminPlanRecord(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product, other := k.product("main"), k.product("other")
		made := k.on("POST", "/plans", with(planBody(product, "pro"), object{
			"name": object{"en": "Pro", "fr": "Pro fr"}, "description": object{"en": "For\nprofessionals"}, "pricing_type": "seat",
			"billing_cycle": "quarterly", "trial_days": 14, "sort_order": 7, "is_active": false, "metadata": object{"a": 1.0},
		})).want(201)
		id := made.str("data.id")
		want := object{
			"id": id, "product_id": product, "slug": "pro", "pricing_type": "seat", "billing_cycle": "quarterly",
			"interval_unit": "month", "interval_count": 3.0, "trial_days": 14.0, "sort_order": 7.0, "is_active": false,
			"metadata": object{"a": 1.0}, "prices": []any{}, "entitlements": []any{},
			"translations": object{
				"en": object{"name": "Pro", "description": "For\nprofessionals"}, "fr": object{"name": "Pro fr", "description": nil},
			},
			"created_at": anyTime, "updated_at": anyTime,
		}
		made.shape("data", want)
		k.on("GET", "/plans/"+id, nil).want(200).shape("data", want)
		k.on("PATCH", "/plans/"+id, object{}).want(200).shape("data", want)
		k.on("PATCH", "/plans/"+id, object{
			"product_id": other, "slug": "pro2", "pricing_type": "usage", "trial_days": 0, "sort_order": 0, "is_active": true,
			"metadata": nil, "description": nil, "name": object{"fr": nil},
		}).want(200).shape("data", with(want, object{
			"product_id": other, "slug": "pro2", "pricing_type": "usage", "trial_days": 0.0, "sort_order": 0.0, "is_active": true,
			"metadata": nil, "translations": object{"en": object{"name": "Pro", "description": nil}},
		}))
		k.on("POST", "/plans", planBody(product, "least")).want(201).same("data.is_active", true).
			same("data.trial_days", 0.0).same("data.sort_order", 0.0).same("data.metadata", nil)
		k.on("GET", "/products/"+product, nil).want(200).same("data.plans_count", 1.0)

		k.on("DELETE", "/plans/"+id, nil).want(204)
		k.on("GET", "/plans/"+id, nil).refused(404, "")
		k.on("GET", "/plans/"+id+"/entitlements", nil).refused(404, "")
		k.on("PUT", "/plans/"+id+"/prices", object{}).refused(404, "")
		k.on("PUT", "/plans/"+id+"/entitlements", object{}).refused(404, "")
		k.on("POST", "/plans/"+id+"/duplicate", nil).refused(404, "")
		k.planOf(product, "pro2")
	})
}

// A cycle gives the interval; what is given with it wins; without it the cycle
// follows where it has a name for the interval.
func TestPlanInterval(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("main")
		id := ""
		for i, c := range []struct {
			change object
			cycle  string
			unit   string
			count  float64
		}{
			{object{"billing_cycle": "monthly"}, "monthly", "month", 1},
			{object{"billing_cycle": "quarterly"}, "quarterly", "month", 3},
			{object{"billing_cycle": "yearly"}, "yearly", "year", 1},
			{object{"billing_cycle": "weekly"}, "weekly", "week", 1},
			{object{"billing_cycle": "monthly", "interval_unit": "day", "interval_count": 10}, "monthly", "day", 10},
			{object{"billing_cycle": "monthly", "interval_count": 2}, "monthly", "month", 2},
			{object{"billing_cycle": "weekly", "interval_unit": "year"}, "weekly", "year", 1},
		} {
			a := k.on("POST", "/plans", with(planBody(product, "plan-"+string(rune('a'+i))), c.change)).want(201)
			a.same("data.billing_cycle", c.cycle).same("data.interval_unit", c.unit).same("data.interval_count", c.count)
			id = a.str("data.id")
		}
		for _, c := range []struct {
			change object
			cycle  string
			unit   string
			count  float64
		}{
			{object{"billing_cycle": "monthly"}, "monthly", "month", 1},
			{object{"interval_count": 3}, "quarterly", "month", 3},
			{object{"interval_count": 6}, "quarterly", "month", 6},
			{object{"interval_unit": "year", "interval_count": 1}, "yearly", "year", 1},
			{object{"billing_cycle": "weekly", "interval_count": 2}, "weekly", "week", 2},
			{object{"sort_order": 1}, "weekly", "week", 2},
			{object{"interval_unit": "month", "interval_count": 36}, "weekly", "month", 36},
		} {
			k.on("PATCH", "/plans/"+id, c.change).want(200).
				same("data.billing_cycle", c.cycle).same("data.interval_unit", c.unit).same("data.interval_count", c.count)
		}
		for unit, most := range map[string]int{"day": 1095, "week": 156, "month": 36, "year": 3} {
			k.on("PATCH", "/plans/"+id, object{"interval_unit": unit, "interval_count": most}).want(200)
			k.on("PATCH", "/plans/"+id, object{"interval_unit": unit, "interval_count": most + 1}).fields(t, unit, "interval_count")
		}
	})
}

func TestAdminFeatureRecord(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		made := k.on("POST", "/features", object{
			"code": "priority-support", "name": object{"en": "Priority", "it": "Priorità"}, "description": object{"en": "Fast"},
			"is_active": false, "metadata": object{"x": true},
		}).want(201)
		id := made.str("data.id")
		want := object{
			"id": id, "code": "priority-support", "is_active": false, "is_system": false, "metadata": object{"x": true},
			"translations": object{"en": object{"name": "Priority", "description": "Fast"}, "it": object{"name": "Priorità", "description": nil}},
			"created_at":   anyTime, "updated_at": anyTime,
		}
		made.shape("data", want)
		k.on("GET", "/features/"+id, nil).want(200).shape("data", want)
		k.on("PATCH", "/features/"+id, object{"code": "support", "is_active": true, "metadata": object{}, "name": object{"it": nil}, "is_system": true}).
			want(200).shape("data", with(want, object{
			"code": "support", "is_active": true, "metadata": object{},
			"translations": object{"en": object{"name": "Priority", "description": "Fast"}},
		}))
		k.on("DELETE", "/features/"+id, nil).want(204)
		k.on("GET", "/features/"+id, nil).refused(404, "")
		k.on("PATCH", "/features/"+id, object{}).refused(404, "")
		k.on("DELETE", "/features/"+id, nil).refused(404, "")
		k.feature("support")

		// The system's own feature can be described otherwise, but stays and keeps
		// its code.
		system := k.on("GET", "/features?filter[code]=team-members", nil).want(200).same("data.0.is_system", true).str("data.0.id")
		k.on("DELETE", "/features/"+system, nil).refused(403, "")
		k.on("PATCH", "/features/"+system, object{"code": "seats"}).fields(t, "system code", "code")
		k.on("PATCH", "/features/"+system, object{"code": "team-members", "name": object{"en": "Seats"}}).want(200).
			same("data.translations.en.name", "Seats").same("data.is_system", true)
	})
}
