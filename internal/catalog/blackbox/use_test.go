package blackbox_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Records with an active subscription cannot be deleted, and the pricing type cannot change.
// Everything else can change, and the subscription keeps its price and interval.
func TestCatalogInUse(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product, feature, unused := k.CreateProduct("main"), k.CreateFeature("calls"), k.CreateFeature("unused")
		plan, idle := k.CreatePlan(product, "pro"), k.CreatePlan(product, "idle")
		give := []any{apptest.Object{"feature_id": feature, "type": "quota", "value": 9}}
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"prices": []any{apptest.Price("EUR", 500)}, "entitlements": give}).Want(200)
		k.AdminCall("PUT", "/plans/"+idle+"/entitlements", apptest.Object{"entitlements": []any{apptest.Object{"feature_id": unused, "type": "boolean"}}}).Want(200)
		o := k.Register("ada@example.com", true)
		k.BuyPlan(o, "pro")

		for _, path := range []string{"/products/" + product, "/plans/" + plan, "/features/" + feature} {
			k.AdminCall("DELETE", path, nil).WantRefused(409, "CATALOG_IN_USE")
			k.AdminCall("GET", path, nil).Want(200)
		}
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"pricing_type": "seat"}).WantRefused(409, "CATALOG_IN_USE")
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"pricing_type": "flat"}).Want(200)
		k.AdminCall("DELETE", "/features/"+unused, nil).Want(204)
		k.AdminCall("DELETE", "/plans/"+idle, nil).Want(204)

		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"billing_cycle": "yearly", "is_active": false, "prices": []any{apptest.Price("USD", 9)}}).Want(200)
		k.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200).
			WantAt("data.price_cents", 500.0).WantAt("data.currency", "EUR").WantAt("data.interval_unit", "month")
		k.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200).WantAt("data.0.limit", 9.0)
		id := k.AdminCall("GET", "/plans/"+plan, nil).Want(200).Str("data.entitlements.0.id")
		k.AdminCall("DELETE", "/entitlements/"+id, nil).Want(204)
		k.Call("GET", o.Path("/entitlements"), o.Token, nil).Want(200).WantAt("data", []any{})
		k.AdminCall("DELETE", "/features/"+feature, nil).Want(204) // no plan grants it now

		sub := k.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200).Str("data.id")
		k.AdminCall("POST", "/tenants/"+o.Tenant+"/subscriptions/"+sub+"/cancel", apptest.Object{"immediately": true}).Want(200)
		k.AdminCall("DELETE", "/plans/"+plan, nil).Want(204)
		k.AdminCall("DELETE", "/products/"+product, nil).Want(204)
		k.AdminCall("GET", "/tenants/"+o.Tenant+"/subscriptions", nil).Want(200).WantAt("data.0.plan.name", "Plan pro") // history remains readable
	})
}

// A change is visible in the public catalog immediately, on the instance that made it.
func TestPublicCatalogFollows(t *testing.T) {
	t.Parallel()
	apptest.OneInstance(t, "other instances show a change of the catalog within a minute")
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		public := func(list, slug string) apptest.Object {
			t.Helper()
			for _, e := range k.Call("GET", "/api/v1/catalog/"+list, "", nil).Want(200).At("data").([]any) {
				if e := e.(apptest.Object); e["slug"] == slug || e["code"] == slug {
					return e
				}
			}
			return nil
		}
		shown := func(what, list, slug string, want bool) {
			t.Helper()
			if got := public(list, slug) != nil; got != want {
				t.Errorf("%s: shown is %v", what, got)
			}
		}
		shown("before", "products", "main", false)
		product := k.CreateProduct("main")
		shown("a new product", "products", "main", true)
		plan := k.CreatePlan(product, "pro")
		shown("a new plan", "plans", "pro", true)
		feature := k.CreateFeature("calls")
		shown("a new feature", "features", "calls", true)
		prices := k.AdminCall("PUT", "/plans/"+plan+"/prices", apptest.Object{"prices": []any{apptest.Price("EUR", 5, "price_1"), apptest.Price("USD", 6)}}).Want(200)
		k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{"entitlements": []any{apptest.Object{"feature_id": feature, "type": "boolean"}}}).Want(200)
		if p := public("plans", "pro"); len(p["prices"].([]any)) != 2 || len(p["entitlements"].([]any)) != 1 || p["prices"].([]any)[0].(apptest.Object)["psp_price_id"] != nil {
			t.Errorf("public plan: %v", p)
		}
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"name": apptest.Object{"en": "Other"}}).Want(200)
		if p := public("plans", "pro"); p["name"] != "Other" {
			t.Errorf("public plan: %v", p)
		}
		k.AdminCall("DELETE", "/plans/"+plan+"/prices/"+idsBy(prices, "data", "currency")["USD"], nil).Want(204)
		if p := public("plans", "pro"); len(p["prices"].([]any)) != 1 {
			t.Errorf("public plan: %v", p)
		}
		k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil).Want(201)
		shown("a copy", "plans", "pro-copy", false)
		k.AdminCall("PATCH", "/features/"+feature, apptest.Object{"is_active": false}).Want(200)
		shown("an inactive feature", "features", "calls", false)
		k.AdminCall("PATCH", "/products/"+product, apptest.Object{"is_active": false}).Want(200)
		shown("an inactive product", "products", "main", false)
		shown("its plan", "plans", "pro", false)
		k.AdminCall("PATCH", "/products/"+product, apptest.Object{"is_active": true}).Want(200)
		shown("its plan again", "plans", "pro", true)
		k.AdminCall("DELETE", "/plans/"+plan, nil).Want(204)
		shown("a deleted plan", "plans", "pro", false)
	})
}

// Every change has one audit entry with only the changed fields. Rejected changes have no entry.
func TestCatalogTrail(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product := k.CreateProduct("main")
		k.AdminCall("PATCH", "/products/"+product, apptest.Object{"name": apptest.Object{"fr": "Principal"}, "slug": "core"}).Want(200)
		k.AdminCall("PATCH", "/products/"+product, apptest.Object{"slug": "a b"}).Want(422)
		feature := k.CreateFeature("api-token")
		k.AdminCall("PATCH", "/features/"+feature, apptest.Object{"is_active": false}).Want(200)
		plan := k.CreatePlan(product, "pro")
		k.AdminCall("PUT", "/plans/"+plan+"/prices", apptest.Object{"prices": []any{apptest.Price("EUR", 5)}}).Want(200)
		set := k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{"entitlements": []any{apptest.Object{"feature_id": feature, "type": "quota", "value": 3}}}).Want(200)
		k.AdminCall("DELETE", "/entitlements/"+set.Str("data.entitlements.0.id"), nil).Want(204)
		k.AdminCall("DELETE", "/plans/"+plan+"/prices/"+idsBy(set, "data.prices", "currency")["EUR"], nil).Want(204)
		k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil).Want(201)
		k.AdminCall("DELETE", "/plans/"+plan, nil).Want(204)
		k.AdminCall("DELETE", "/features/"+feature, nil).Want(204)
		k.AdminCall("DELETE", "/products/"+product, nil).Want(204)

		trail := s.AuditLog(url.Values{"sort": {"created_at"}, "per_page": {"100"}, "filter[actor]": {apptest.IDText(float64(s.UserID(s.Admin())))}}).Want(200)
		var entries []apptest.Object
		for _, e := range trail.At("data").([]any) {
			if resource := e.(apptest.Object)["resource"]; resource == "product" || resource == "plan" || resource == "feature" {
				entries = append(entries, e.(apptest.Object))
			}
		}
		name := apptest.Object{"en": "Product main"}
		want := []struct {
			action        string
			before, after any // the expected keys; nil is not checked
		}{
			{"product.created", nil, apptest.Object{"slug": "main", "is_active": true}},
			{
				"product.updated",
				apptest.Object{"slug": "main", "name": name},
				apptest.Object{"slug": "core", "name": apptest.Object{"en": "Product main", "fr": "Principal"}},
			},
			{"feature.created", nil, apptest.Object{"code": "api-token"}},
			{"feature.updated", apptest.Object{"is_active": true}, apptest.Object{"is_active": false}},
			{"plan.created", nil, apptest.Object{"slug": "pro", "billing_cycle": "monthly"}},
			{"plan.updated", apptest.Object{"prices": []any{}}, apptest.Object{"prices": []any{apptest.Object{"currency": "EUR", "price_cents": 5.0, "psp_price_id": nil}}}},
			{"plan.updated", apptest.Object{"entitlements": []any{}}, apptest.Object{"entitlements": []any{apptest.Object{"feature": "api-token", "type": "quota", "value": 3.0}}}},
			{"plan.updated", nil, apptest.Object{"entitlements": []any{}}},
			{"plan.updated", nil, apptest.Object{"prices": []any{}}},
			{"plan.duplicated", nil, apptest.Object{"slug": "pro-copy", "is_active": false}},
			{"plan.deleted", apptest.Object{"slug": "pro"}, nil},
			{"feature.deleted", apptest.Object{"code": "api-token"}, nil},
			{"product.deleted", apptest.Object{"slug": "core"}, nil},
		}
		if len(entries) != len(want) {
			t.Fatalf("%d entries, want %d: %s", len(entries), len(want), trail.Text)
		}
		for i, w := range want {
			e := entries[i]
			if e["action"] != w.action || e["actor_id"] == nil || e["resource_id"] == "" {
				t.Errorf("entry %d: %v, want %s", i, e, w.action)
			}
			for side, wanted := range map[string]any{"before": w.before, "after": w.after} {
				state, _ := e[side].(apptest.Object)
				for key, value := range apptest.WithChanges(apptest.Object{}, asObject(wanted)) {
					apptest.Reply{T: t, Body: apptest.Object{"v": state[key]}}.WantAt("v", value)
				}
				if w.action == "product.updated" && len(state) != 2 {
					t.Errorf("%s contains unchanged fields: %v", side, state)
				}
			}
		}
	})
}

func asObject(v any) apptest.Object { o, _ := v.(apptest.Object); return o }

// A price with changed terms is sold at its new terms. Neither its former provider price nor the
// operation that created it is used again.
func TestChangedPriceIsSold(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePlan(k.CreateProduct("main"), "pro")
		link := ""
		for i, c := range []struct {
			change apptest.Object
			cents  float64
			unit   string
		}{
			{apptest.Object{"prices": []any{apptest.Price("EUR", 500)}}, 500, "month"},
			{apptest.Object{"prices": []any{apptest.Price("EUR", 700)}}, 700, "month"},
			{apptest.Object{"billing_cycle": "yearly"}, 700, "year"},
			{apptest.Object{"billing_cycle": "monthly", "prices": []any{apptest.Price("EUR", 500)}}, 500, "month"},
		} {
			k.AdminCall("PATCH", "/plans/"+plan, c.change).Want(200).WantAt("data.prices.0.psp_price_id", nil)
			o := k.Register(string(rune('a'+i))+"@example.com", true)
			k.BuyPlan(o, "pro")
			k.Call("GET", o.Path("/subscription"), o.Token, nil).Want(200).
				WantAt("data.price_cents", c.cents).WantAt("data.interval_unit", c.unit)
			now := k.AdminCall("GET", "/plans/"+plan, nil).Want(200).Str("data.prices.0.psp_price_id")
			if !strings.HasPrefix(now, "price_") || now == link {
				t.Errorf("link %q after %q", now, link)
			}
			link = now
		}
	})
}
