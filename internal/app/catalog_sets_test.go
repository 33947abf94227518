package app

import (
	"strings"
	"testing"
)

// ids reads the ids of a list of prices or entitlements, by the key that tells
// them apart.
func (a reply) ids(path, key string) map[string]string {
	a.t.Helper()
	out := map[string]string{}
	entries, ok := a.at(path).([]any)
	if !ok {
		a.t.Fatalf("no list at %s in %s", path, a.text)
	}
	for _, e := range entries {
		out[e.(object)[key].(string)] = e.(object)["id"].(string)
	}
	return out
}

func price(currency string, cents int, link ...any) object {
	p := object{"currency": currency, "price_cents": cents}
	if len(link) > 0 {
		p["psp_price_id"] = link[0]
	}
	return p
}

// links reads the links of prices: "EUR:price_1 USD:-".
func (a reply) links(path string) string {
	a.t.Helper()
	var all []string
	for _, p := range a.want(200).at(path).([]any) {
		link, _ := p.(object)["psp_price_id"].(string)
		if link == "" {
			link = "-"
		}
		all = append(all, p.(object)["currency"].(string)+":"+link)
	}
	return strings.Join(all, " ")
}

func TestPlanPrices(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		plan := k.planOf(k.product("main"), "pro")
		path := "/plans/" + plan + "/prices"
		put := func(prices ...any) reply { t.Helper(); return k.on("PUT", path, object{"prices": prices}) }

		first := put(price("USD", 1200), price("EUR", 1000, "price_eur")).want(200)
		ids := first.ids("data", "currency")
		first.same("data.0", object{"id": ids["EUR"], "currency": "EUR", "price_cents": 1000.0, "psp_price_id": "price_eur"}).
			same("data.1", object{"id": ids["USD"], "currency": "USD", "price_cents": 1200.0, "psp_price_id": nil})
		k.on("GET", "/plans/"+plan, nil).want(200).same("data.prices", first.at("data"))

		// A currency that stays keeps its id, one that goes and comes back does not.
		second := put(price("GBP", 0), price("EUR", 1000)).want(200)
		if now := second.ids("data", "currency"); now["EUR"] != ids["EUR"] || now["GBP"] == "" || len(now) != 2 {
			t.Errorf("ids %v after %v", now, ids)
		}
		if now := put(price("EUR", 1000), price("USD", 1200)).want(200).ids("data", "currency"); now["USD"] == ids["USD"] || now["EUR"] != ids["EUR"] {
			t.Errorf("ids %v after %v", now, ids)
		}

		// A link stays with its amount and interval, and goes with either, unless
		// one is given.
		steps := []struct {
			name string
			do   func() reply
			want string
		}{
			{"same amount", func() reply { return put(price("EUR", 1000)) }, "EUR:price_eur"},
			{"other amount", func() reply { return put(price("EUR", 1001)) }, "EUR:-"},
			{"given", func() reply { return put(price("EUR", 1001, "price_a"), price("USD", 5, "price_b")) }, "EUR:price_a USD:price_b"},
			{"exchanged", func() reply { return put(price("EUR", 1001, "price_b"), price("USD", 5, "price_a")) }, "EUR:price_b USD:price_a"},
			{"given with another amount", func() reply { return put(price("EUR", 7, "price_b"), price("USD", 5)) }, "EUR:price_b USD:price_a"},
			{"null", func() reply { return put(price("EUR", 7, nil), price("USD", 5)) }, "EUR:- USD:price_a"},
			{"empty", func() reply { return put(price("EUR", 7, "price_c"), price("USD", 5, "")) }, "EUR:price_c USD:-"},
			{"moved to another", func() reply { return put(price("EUR", 7, nil), price("USD", 5, "price_c")) }, "EUR:- USD:price_c"},
		}
		for _, step := range steps {
			if got := step.do().links("data"); got != step.want {
				t.Errorf("%s: %s, want %s", step.name, got, step.want)
			}
		}
		change := func(body object) reply { t.Helper(); return k.on("PATCH", "/plans/"+plan, body) }
		put(price("EUR", 7, "price_e"), price("USD", 5, "price_u")).want(200)
		for _, step := range []struct {
			name string
			body object
			want string
		}{
			{"no set", object{"sort_order": 3, "trial_days": 5, "name": object{"en": "New"}}, "EUR:price_e USD:price_u"},
			{"same interval", object{"billing_cycle": "monthly", "pricing_type": "flat"}, "EUR:price_e USD:price_u"},
			{"a set", object{"prices": []any{price("EUR", 7), price("USD", 6)}}, "EUR:price_e USD:-"},
			{"an interval", object{"billing_cycle": "yearly"}, "EUR:- USD:-"},
			{"an interval with links", object{"billing_cycle": "monthly", "prices": []any{price("EUR", 7, "price_e"), price("USD", 6)}}, "EUR:price_e USD:-"},
			{"a pricing type", object{"pricing_type": "seat"}, "EUR:- USD:-"},
			{"an empty set", object{"prices": []any{}}, ""},
		} {
			if got := change(step.body).links("data.prices"); got != step.want {
				t.Errorf("%s: %s, want %s", step.name, got, step.want)
			}
		}
		if now := change(object{"prices": []any{price("EUR", 1)}}).want(200).ids("data.prices", "currency"); now["EUR"] == ids["EUR"] {
			t.Error("a price that was removed came back with its id")
		}

		// One price is removed under its own plan alone.
		id := put(price("EUR", 1), price("USD", 2)).want(200).ids("data", "currency")["EUR"]
		other := k.on("POST", "/plans/"+plan+"/duplicate", nil).want(201).str("data.id")
		for _, p := range []string{"/plans/" + other + "/prices/" + id, path + "/" + noSuchID, path + "/x", "/plans/" + noSuchID + "/prices/" + id} {
			k.on("DELETE", p, nil).refused(404, "")
		}
		k.on("DELETE", path+"/"+id, nil).want(204)
		k.on("DELETE", path+"/"+id, nil).refused(404, "")
		if got := k.on("GET", "/plans/"+plan, nil).links("data.prices"); got != "USD:-" {
			t.Errorf("left: %s", got)
		}

		put(price("USD", 2, "price_kept")).want(200)
		for name, c := range map[string]struct {
			prices any
			fields []string
		}{
			"no set":                    {absent, []string{"prices"}},
			"null":                      {nil, []string{"prices"}},
			"no list":                   {object{}, []string{"prices"}},
			"no price":                  {[]any{5}, []string{"prices.0"}},
			"nothing":                   {[]any{object{}}, []string{"prices.0.currency", "prices.0.price_cents"}},
			"no such currency":          {[]any{price("EUR", 1), price("XTS", 1)}, []string{"prices.1.currency"}},
			"lower case":                {[]any{price("eur", 1)}, []string{"prices.0.currency"}},
			"four letters":              {[]any{price("EURO", 1)}, []string{"prices.0.currency"}},
			"a currency twice":          {[]any{price("EUR", 1), price("USD", 1), price("EUR", 2)}, []string{"prices.2.currency"}},
			"negative":                  {[]any{price("EUR", -1)}, []string{"prices.0.price_cents"}},
			"too much":                  {[]any{price("EUR", 1_000_000_000_000)}, []string{"prices.0.price_cents"}},
			"a fraction":                {[]any{object{"currency": "EUR", "price_cents": 9.99}}, []string{"prices.0.price_cents"}},
			"a text":                    {[]any{object{"currency": "EUR", "price_cents": "9"}}, []string{"prices.0.price_cents"}},
			"a product's id":            {[]any{price("EUR", 1, "prod_1")}, []string{"prices.0.psp_price_id"}},
			"a link in capitals":        {[]any{price("EUR", 1, "PRICE_1")}, []string{"prices.0.psp_price_id"}},
			"a link as number":          {[]any{price("EUR", 1, 5)}, []string{"prices.0.psp_price_id"}},
			"a link twice":              {[]any{price("EUR", 1, "price_1"), price("USD", 1, "price_1")}, []string{"prices.1.psp_price_id"}},
			"a link that another keeps": {[]any{price("EUR", 1, "price_kept"), price("USD", 2)}, []string{"prices.0.psp_price_id"}},
			"kept, then given":          {[]any{price("USD", 2), price("EUR", 1, "price_kept")}, []string{"prices.1.psp_price_id"}},
			"several at once":           {[]any{price("XTS", 1, "price_1"), price("EUR", 2, "price_1")}, []string{"prices.0.currency", "prices.1.psp_price_id"}},
		} {
			body := with(object{}, object{"prices": c.prices})
			k.on("PUT", path, body).fields(t, name, c.fields...)
			if c.prices != absent {
				change(with(body, object{"sort_order": 99})).fields(t, "PATCH: "+name, c.fields...)
			}
		}
		kept := k.on("GET", "/plans/"+plan, nil)
		if got := kept.links("data.prices"); got != "USD:price_kept" || kept.at("data.sort_order") != 3.0 {
			t.Errorf("refused sets left %s", kept.text)
		}
		change(object{"product_id": noSuchID, "prices": []any{price("XTS", 1)}, "entitlements": []any{object{"feature_id": noSuchID, "type": "boolean"}}}).
			fields(t, "everything at once", "product_id", "prices.0.currency", "entitlements.0.feature_id")

		// Another plan may have the same provider's price.
		k.on("PUT", "/plans/"+other+"/prices", object{"prices": []any{price("USD", 2, "price_kept")}}).want(200)
	})
}

func TestPlanEntitlements(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		plan := k.planOf(k.product("main"), "pro")
		sso, calls := k.feature("a-sso"), k.feature("b-calls", object{"is_active": false, "description": object{"en": "Calls"}})
		path := "/plans/" + plan + "/entitlements"
		boolean := func(id string) object { return object{"feature_id": id, "type": "boolean"} }
		quota := func(id string, n any) object { return object{"feature_id": id, "type": "quota", "value": n} }
		put := func(set ...any) reply {
			t.Helper()
			return k.on("PUT", path, object{"entitlements": append([]any{}, set...)})
		}

		k.on("GET", path, nil).want(200).same("data", []any{})
		first := put(quota(calls, 9007199254740993), boolean(sso)).want(200)
		ids := first.ids("data.entitlements", "feature_id")
		entry := func(id, feature string, kind string, value any) object {
			nested := k.on("GET", "/features/"+feature, nil).want(200).at("data")
			return object{
				"id": id, "plan_id": plan, "feature_id": feature, "type": kind, "value": value, "feature": nested,
				"created_at": anyTime, "updated_at": anyTime,
			}
		}
		first.shape("data.entitlements.0", entry(ids[sso], sso, "boolean", nil))
		first.shape("data.entitlements.1", entry(ids[calls], calls, "quota", 9007199254740993.0))
		if !strings.Contains(first.text, "9007199254740993") {
			t.Errorf("a long quota is bent: %s", first.text)
		}
		first.same("data.id", plan)
		k.on("GET", path, nil).want(200).same("data", first.at("data.entitlements"))
		k.on("GET", "/plans/"+plan, nil).want(200).same("data", first.at("data"))

		// A feature that stays keeps its entitlement's id, whatever it becomes.
		second := put(quota(sso, 5), object{"feature_id": calls, "type": "boolean", "value": nil}).want(200)
		if now := second.ids("data.entitlements", "feature_id"); now[sso] != ids[sso] || now[calls] != ids[calls] {
			t.Errorf("ids %v after %v", now, ids)
		}
		second.same("data.entitlements.0.value", 5.0).same("data.entitlements.1.value", nil)
		third := k.on("PATCH", "/plans/"+plan, object{"entitlements": []any{boolean(calls)}}).want(200)
		if now := third.ids("data.entitlements", "feature_id"); now[calls] != ids[calls] || len(now) != 1 {
			t.Errorf("ids %v after %v", now, ids)
		}
		third.same("data.entitlements.0.updated_at", second.at("data.entitlements.1.updated_at")) // it did not change
		k.on("PATCH", "/plans/"+plan, object{"sort_order": 1}).want(200).same("data.entitlements", third.at("data.entitlements"))
		if again := put(boolean(sso), boolean(calls)).want(200).ids("data.entitlements", "feature_id"); again[sso] == ids[sso] {
			t.Error("an entitlement that was removed came back with its id")
		}

		// One is removed by its id alone.
		k.on("DELETE", "/entitlements/"+ids[calls], nil).want(204)
		for _, id := range []string{ids[calls], noSuchID, "x"} {
			k.on("DELETE", "/entitlements/"+id, nil).refused(404, "")
		}
		if left := k.on("GET", path, nil).want(200).ids("data", "feature_id"); len(left) != 1 || left[sso] == "" {
			t.Errorf("left: %v", left)
		}

		gone := k.feature("gone")
		k.on("DELETE", "/features/"+gone, nil).want(204)
		for name, c := range map[string]struct {
			set    any
			fields []string
		}{
			"no set":                  {absent, []string{"entitlements"}},
			"null":                    {nil, []string{"entitlements"}},
			"nothing":                 {[]any{object{}}, []string{"entitlements.0.feature_id", "entitlements.0.type"}},
			"no such feature":         {[]any{boolean(sso), boolean(noSuchID)}, []string{"entitlements.1.feature_id"}},
			"a deleted feature":       {[]any{boolean(gone)}, []string{"entitlements.0.feature_id"}},
			"no UUID":                 {[]any{boolean("sso")}, []string{"entitlements.0.feature_id"}},
			"a feature twice":         {[]any{boolean(sso), quota(sso, 1)}, []string{"entitlements.1.feature_id"}},
			"another type":            {[]any{object{"feature_id": sso, "type": "flag"}}, []string{"entitlements.0.type"}},
			"a boolean with a value":  {[]any{object{"feature_id": sso, "type": "boolean", "value": 1}}, []string{"entitlements.0.value"}},
			"a quota without":         {[]any{object{"feature_id": sso, "type": "quota"}}, []string{"entitlements.0.value"}},
			"a quota of null":         {[]any{quota(sso, nil)}, []string{"entitlements.0.value"}},
			"a quota of 0":            {[]any{quota(sso, 0)}, []string{"entitlements.0.value"}},
			"a negative quota":        {[]any{quota(sso, -5)}, []string{"entitlements.0.value"}},
			"a fraction":              {[]any{quota(sso, 1.5)}, []string{"entitlements.0.value"}},
			"a text":                  {[]any{quota(sso, "5")}, []string{"entitlements.0.value"}},
			"more than can be stored": {`{"entitlements":[{"feature_id":"` + sso + `","type":"quota","value":9223372036854775808}]}`, []string{"entitlements.0.value"}},
			"several at once":         {[]any{quota(noSuchID, nil), object{"feature_id": sso, "type": "boolean", "value": 2}}, []string{"entitlements.0.feature_id", "entitlements.0.value", "entitlements.1.value"}},
		} {
			body := any(with(object{}, object{"entitlements": c.set}))
			if text, ok := c.set.(string); ok && text != absent {
				body = text
			}
			k.on("PUT", path, body).fields(t, name, c.fields...)
			if c.set != absent {
				k.on("PATCH", "/plans/"+plan, body).fields(t, "PATCH: "+name, c.fields...)
			}
		}
		if left := k.on("GET", path, nil).want(200).ids("data", "feature_id"); len(left) != 1 || left[sso] == "" {
			t.Errorf("refused sets left %v", left)
		}

		// What a deleted feature gave, no plan gives.
		k.on("DELETE", "/features/"+sso, nil).want(204)
		k.on("GET", path, nil).want(200).same("data", []any{})
		put(boolean(calls)).want(200)
		put().want(200).same("data.entitlements", []any{})
	})
}

func TestDuplicatePlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *server) {
		k := s.keeper()
		product, feature := k.product("main"), k.feature("calls")
		plan := k.planOf(product, "pro", object{"trial_days": 3, "sort_order": 4, "metadata": object{"a": 1}, "description": object{"en": "D"}})
		original := k.on("PATCH", "/plans/"+plan, object{
			"prices":       []any{price("EUR", 5, "price_1"), price("USD", 6)},
			"entitlements": []any{object{"feature_id": feature, "type": "quota", "value": 9}},
		}).want(200)
		made := k.on("POST", "/plans/"+plan+"/duplicate", nil).want(201)
		data, prices := made.at("data").(object), made.ids("data.prices", "currency")
		made.shape("data", with(original.at("data").(object), object{
			"id": data["id"], "slug": "pro-copy", "is_active": false,
			"prices": []any{
				object{"id": prices["EUR"], "currency": "EUR", "price_cents": 5.0, "psp_price_id": nil},
				object{"id": prices["USD"], "currency": "USD", "price_cents": 6.0, "psp_price_id": nil},
			},
			"entitlements": data["entitlements"],
		}))
		made.same("data.entitlements.0.value", 9.0).same("data.entitlements.0.plan_id", data["id"]).same("data.entitlements.0.feature_id", feature)
		if prices["EUR"] == original.ids("data.prices", "currency")["EUR"] || made.at("data.entitlements.0.id") == original.at("data.entitlements.0.id") {
			t.Error("a copy shares rows with its original")
		}
		copyOf := func(id string) string { return k.on("POST", "/plans/"+id+"/duplicate", nil).want(201).str("data.slug") }
		if second, third := copyOf(plan), copyOf(plan); second != "pro-copy-2" || third != "pro-copy-3" {
			t.Errorf("copies are called %s and %s", second, third)
		}
		k.on("DELETE", "/plans/"+data["id"].(string), nil).want(204)
		if again := copyOf(plan); again != "pro-copy" {
			t.Errorf("the free slug is not used: %s", again)
		}
		long := k.planOf(product, strings.Repeat("x", 255), object{"name": object{"en": "Long"}})
		first, second := copyOf(long), copyOf(long)
		if len(first) > 255 || len(second) > 255 || !strings.HasSuffix(first, "x-copy") || !strings.HasSuffix(second, "x-copy-2") {
			t.Errorf("copies of a long slug: %s, %s", first, second)
		}
	})
}
