package app

import (
	"net/url"
	"strings"
	"testing"
)

// What somebody is subscribed to cannot be deleted, nor can its pricing type
// change, until the subscription is over; all else can be changed, and the
// subscription keeps its own price and interval.
func TestCatalogInUse(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product, feature, unused := k.product("main"), k.feature("calls"), k.feature("unused")
		plan, idle := k.planOf(product, "pro"), k.planOf(product, "idle")
		give := []any{object{"feature_id": feature, "type": "quota", "value": 9}}
		k.on("PATCH", "/plans/"+plan, object{"prices": []any{price("EUR", 500)}, "entitlements": give}).want(200)
		k.on("PUT", "/plans/"+idle+"/entitlements", object{"entitlements": []any{object{"feature_id": unused, "type": "boolean"}}}).want(200)
		o := k.register("ada@example.com", true)
		k.subscribe(o, "pro")

		for _, path := range []string{"/products/" + product, "/plans/" + plan, "/features/" + feature} {
			k.on("DELETE", path, nil).refused(409, "CATALOG_IN_USE")
			k.on("GET", path, nil).want(200)
		}
		k.on("PATCH", "/plans/"+plan, object{"pricing_type": "seat"}).refused(409, "CATALOG_IN_USE")
		k.on("PATCH", "/plans/"+plan, object{"pricing_type": "flat"}).want(200)
		k.on("DELETE", "/features/"+unused, nil).want(204)
		k.on("DELETE", "/plans/"+idle, nil).want(204)

		k.on("PATCH", "/plans/"+plan, object{"billing_cycle": "yearly", "is_active": false, "prices": []any{price("USD", 9)}}).want(200)
		k.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200).
			same("data.price_cents", 500.0).same("data.currency", "EUR").same("data.interval_unit", "month")
		k.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200).same("data.0.limit", 9.0)
		id := k.on("GET", "/plans/"+plan, nil).want(200).str("data.entitlements.0.id")
		k.on("DELETE", "/entitlements/"+id, nil).want(204)
		k.call("GET", "/api/v1/tenant/"+o.tenant+"/entitlements", o.token, nil).want(200).same("data", []any{})
		k.on("DELETE", "/features/"+feature, nil).want(204) // no plan gives it any more

		sub := k.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200).str("data.id")
		k.on("POST", "/tenants/"+o.tenant+"/subscriptions/"+sub+"/cancel", object{"immediately": true}).want(200)
		k.on("DELETE", "/plans/"+plan, nil).want(204)
		k.on("DELETE", "/products/"+product, nil).want(204)
		k.on("GET", "/tenants/"+o.tenant+"/subscriptions", nil).want(200).same("data.0.plan.name", "Plan pro") // history stays readable
	})
}

// A change shows in the public catalog at once, on the instance that made it.
func TestPublicCatalogFollows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		public := func(list, slug string) object {
			t.Helper()
			for _, e := range k.call("GET", "/api/v1/catalog/"+list, "", nil).want(200).at("data").([]any) {
				if e := e.(object); e["slug"] == slug || e["code"] == slug {
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
		product := k.product("main")
		shown("a new product", "products", "main", true)
		plan := k.planOf(product, "pro")
		shown("a new plan", "plans", "pro", true)
		feature := k.feature("calls")
		shown("a new feature", "features", "calls", true)
		prices := k.on("PUT", "/plans/"+plan+"/prices", object{"prices": []any{price("EUR", 5, "price_1"), price("USD", 6)}}).want(200)
		k.on("PUT", "/plans/"+plan+"/entitlements", object{"entitlements": []any{object{"feature_id": feature, "type": "boolean"}}}).want(200)
		if p := public("plans", "pro"); len(p["prices"].([]any)) != 2 || len(p["entitlements"].([]any)) != 1 || p["prices"].([]any)[0].(object)["psp_price_id"] != nil {
			t.Errorf("public plan: %v", p)
		}
		k.on("PATCH", "/plans/"+plan, object{"name": object{"en": "Other"}}).want(200)
		if p := public("plans", "pro"); p["name"] != "Other" {
			t.Errorf("public plan: %v", p)
		}
		k.on("DELETE", "/plans/"+plan+"/prices/"+prices.ids("data", "currency")["USD"], nil).want(204)
		if p := public("plans", "pro"); len(p["prices"].([]any)) != 1 {
			t.Errorf("public plan: %v", p)
		}
		k.on("POST", "/plans/"+plan+"/duplicate", nil).want(201)
		shown("a copy", "plans", "pro-copy", false)
		k.on("PATCH", "/features/"+feature, object{"is_active": false}).want(200)
		shown("an inactive feature", "features", "calls", false)
		k.on("PATCH", "/products/"+product, object{"is_active": false}).want(200)
		shown("an inactive product", "products", "main", false)
		shown("its plan", "plans", "pro", false)
		k.on("PATCH", "/products/"+product, object{"is_active": true}).want(200)
		shown("its plan again", "plans", "pro", true)
		k.on("DELETE", "/plans/"+plan, nil).want(204)
		shown("a deleted plan", "plans", "pro", false)
	})
}

// Every change is in the trail once, with what it changed and nothing else; a
// refused one is not.
func TestCatalogTrail(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product := k.product("main")
		k.on("PATCH", "/products/"+product, object{"name": object{"fr": "Principal"}, "slug": "core"}).want(200)
		k.on("PATCH", "/products/"+product, object{"slug": "a b"}).want(422)
		feature := k.feature("api-token")
		k.on("PATCH", "/features/"+feature, object{"is_active": false}).want(200)
		plan := k.planOf(product, "pro")
		k.on("PUT", "/plans/"+plan+"/prices", object{"prices": []any{price("EUR", 5)}}).want(200)
		set := k.on("PUT", "/plans/"+plan+"/entitlements", object{"entitlements": []any{object{"feature_id": feature, "type": "quota", "value": 3}}}).want(200)
		k.on("DELETE", "/entitlements/"+set.str("data.entitlements.0.id"), nil).want(204)
		k.on("DELETE", "/plans/"+plan+"/prices/"+set.ids("data.prices", "currency")["EUR"], nil).want(204)
		k.on("POST", "/plans/"+plan+"/duplicate", nil).want(201)
		k.on("DELETE", "/plans/"+plan, nil).want(204)
		k.on("DELETE", "/features/"+feature, nil).want(204)
		k.on("DELETE", "/products/"+product, nil).want(204)

		trail := s.trail(url.Values{"sort": {"created_at"}, "per_page": {"100"}, "filter[actor]": {itoa(s.meID(s.admin()))}}).want(200)
		var entries []object
		for _, e := range trail.at("data").([]any) {
			if resource := e.(object)["resource"]; resource == "product" || resource == "plan" || resource == "feature" {
				entries = append(entries, e.(object))
			}
		}
		name := object{"en": "Product main"}
		want := []struct {
			action        string
			before, after any // of keys that must be there; nil is not looked at
		}{
			{"product.created", nil, object{"slug": "main", "is_active": true}},
			{
				"product.updated",
				object{"slug": "main", "name": name},
				object{"slug": "core", "name": object{"en": "Product main", "fr": "Principal"}},
			},
			{"feature.created", nil, object{"code": "api-token"}},
			{"feature.updated", object{"is_active": true}, object{"is_active": false}},
			{"plan.created", nil, object{"slug": "pro", "billing_cycle": "monthly"}},
			{"plan.updated", object{"prices": []any{}}, object{"prices": []any{object{"currency": "EUR", "price_cents": 5.0, "psp_price_id": nil}}}},
			{"plan.updated", object{"entitlements": []any{}}, object{"entitlements": []any{object{"feature": "api-token", "type": "quota", "value": 3.0}}}},
			{"plan.updated", nil, object{"entitlements": []any{}}},
			{"plan.updated", nil, object{"prices": []any{}}},
			{"plan.duplicated", nil, object{"slug": "pro-copy", "is_active": false}},
			{"plan.deleted", object{"slug": "pro"}, nil},
			{"feature.deleted", object{"code": "api-token"}, nil},
			{"product.deleted", object{"slug": "core"}, nil},
		}
		if len(entries) != len(want) {
			t.Fatalf("%d entries, want %d: %s", len(entries), len(want), trail.text)
		}
		for i, w := range want {
			e := entries[i]
			if e["action"] != w.action || e["actor_id"] == nil || e["resource_id"] == "" {
				t.Errorf("entry %d: %v, want %s", i, e, w.action)
			}
			for side, wanted := range map[string]any{"before": w.before, "after": w.after} {
				state, _ := e[side].(object)
				for key, value := range with(object{}, asObject(wanted)) {
					reply{t: t, body: object{"v": state[key]}}.same("v", value)
				}
				if w.action == "product.updated" && len(state) != 2 {
					t.Errorf("%s has what did not change: %v", side, state)
				}
			}
		}
	})
}

func asObject(v any) object { o, _ := v.(object); return o }

// A price whose terms changed is sold at its new terms: the provider's price that
// it had is not used again, and neither is the request that made it.
func TestChangedPriceIsSold(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		plan := k.planOf(k.product("main"), "pro")
		link := ""
		for i, c := range []struct {
			change object
			cents  float64
			unit   string
		}{
			{object{"prices": []any{price("EUR", 500)}}, 500, "month"},
			{object{"prices": []any{price("EUR", 700)}}, 700, "month"},
			{object{"billing_cycle": "yearly"}, 700, "year"},
			{object{"billing_cycle": "monthly", "prices": []any{price("EUR", 500)}}, 500, "month"},
		} {
			k.on("PATCH", "/plans/"+plan, c.change).want(200).same("data.prices.0.psp_price_id", nil)
			o := k.register(string(rune('a'+i))+"@example.com", true)
			k.subscribe(o, "pro")
			k.call("GET", "/api/v1/tenant/"+o.tenant+"/subscription", o.token, nil).want(200).
				same("data.price_cents", c.cents).same("data.interval_unit", c.unit)
			now := k.on("GET", "/plans/"+plan, nil).want(200).str("data.prices.0.psp_price_id")
			if !strings.HasPrefix(now, "price_") || now == link {
				t.Errorf("link %q after %q", now, link)
			}
			link = now
		}
	})
}
