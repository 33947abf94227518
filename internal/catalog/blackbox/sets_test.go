package blackbox_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// idsBy returns the IDs of a list of prices or entitlements by the values of key.
func idsBy(a apptest.Reply, path, key string) map[string]string {
	a.T.Helper()
	out := map[string]string{}
	entries, ok := a.At(path).([]any)
	if !ok {
		a.T.Fatalf("no list at %s in %s", path, a.Text)
	}
	for _, e := range entries {
		out[e.(apptest.Object)[key].(string)] = e.(apptest.Object)["id"].(string)
	}
	return out
}

// linksIn formats the links of prices: "EUR:price_1 USD:-".
func linksIn(a apptest.Reply, path string) string {
	a.T.Helper()
	var all []string
	for _, p := range a.Want(200).At(path).([]any) {
		link, _ := p.(apptest.Object)["psp_price_id"].(string)
		if link == "" {
			link = "-"
		}
		all = append(all, p.(apptest.Object)["currency"].(string)+":"+link)
	}
	return strings.Join(all, " ")
}

func TestPlanPrices(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePlan(k.CreateProduct("main"), "pro")
		var ids map[string]string
		run := func(name string, f func(t *testing.T, p pricedPlan)) {
			k.Run(t, name, func(t *testing.T, k apptest.CatalogAdmin) { f(t, pricedPlan{k, plan}) })
		}
		run("a currency that remains keeps its price ID", func(t *testing.T, p pricedPlan) { ids = p.keepsIDs(t) })
		run("a price keeps its link until its amount changes", func(t *testing.T, p pricedPlan) { p.keepsLinks(t) })
		run("a price loses its link with another interval", func(t *testing.T, p pricedPlan) { p.patchesPrices(t, ids) })
		run("a price is removed through its own plan", func(t *testing.T, p pricedPlan) { p.removesPrice(t) })
		run("an invalid set is refused and changes nothing", func(t *testing.T, p pricedPlan) { p.refusesPrices(t) })
		run("another plan can use the same provider price", func(_ *testing.T, p pricedPlan) {
			other := p.k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil).Want(201).Str("data.id")
			pricedPlan{p.k, other}.put(apptest.Price("USD", 2, "price_kept")).Want(200)
		})
	})
}

// pricedPlan is a plan whose prices change.
type pricedPlan struct {
	k    apptest.CatalogAdmin
	plan string
}

func (p pricedPlan) path() string { return "/plans/" + p.plan + "/prices" }

func (p pricedPlan) put(prices ...any) apptest.Reply {
	p.k.T.Helper()
	return p.k.AdminCall("PUT", p.path(), apptest.Object{"prices": prices})
}

func (p pricedPlan) change(body apptest.Object) apptest.Reply {
	p.k.T.Helper()
	return p.k.AdminCall("PATCH", "/plans/"+p.plan, body)
}

// keepsIDs checks that a price keeps its ID while its currency remains. It returns the IDs of the
// first prices.
func (p pricedPlan) keepsIDs(t *testing.T) map[string]string {
	k, plan, put := p.k, p.plan, p.put
	first := put(apptest.Price("USD", 1200), apptest.Price("EUR", 1000, "price_eur")).Want(200)
	ids := idsBy(first, "data", "currency")
	first.WantAt("data.0", apptest.Object{"id": ids["EUR"], "currency": "EUR", "price_cents": 1000.0, "psp_price_id": "price_eur"}).
		WantAt("data.1", apptest.Object{"id": ids["USD"], "currency": "USD", "price_cents": 1200.0, "psp_price_id": nil})
	k.AdminCall("GET", "/plans/"+plan, nil).Want(200).WantAt("data.prices", first.At("data"))

	// A currency that is removed and added again gets a new price ID.
	second := put(apptest.Price("GBP", 0), apptest.Price("EUR", 1000)).Want(200)
	if now := idsBy(second, "data", "currency"); now["EUR"] != ids["EUR"] || now["GBP"] == "" || len(now) != 2 {
		t.Errorf("ids %v after %v", now, ids)
	}
	if now := idsBy(put(apptest.Price("EUR", 1000), apptest.Price("USD", 1200)).Want(200), "data", "currency"); now["USD"] == ids["USD"] || now["EUR"] != ids["EUR"] {
		t.Errorf("ids %v after %v", now, ids)
	}
	return ids
}

// A price keeps its link until its amount or interval changes, unless a link is given.
func (p pricedPlan) keepsLinks(t *testing.T) {
	put := p.put
	steps := []struct {
		name string
		do   func() apptest.Reply
		want string
	}{
		{"same amount", func() apptest.Reply { return put(apptest.Price("EUR", 1000)) }, "EUR:price_eur"},
		{"other amount", func() apptest.Reply { return put(apptest.Price("EUR", 1001)) }, "EUR:-"},
		{"given", func() apptest.Reply {
			return put(apptest.Price("EUR", 1001, "price_a"), apptest.Price("USD", 5, "price_b"))
		}, "EUR:price_a USD:price_b"},
		{"exchanged", func() apptest.Reply {
			return put(apptest.Price("EUR", 1001, "price_b"), apptest.Price("USD", 5, "price_a"))
		}, "EUR:price_b USD:price_a"},
		{"given with another amount", func() apptest.Reply { return put(apptest.Price("EUR", 7, "price_b"), apptest.Price("USD", 5)) }, "EUR:price_b USD:price_a"},
		{"null", func() apptest.Reply { return put(apptest.Price("EUR", 7, nil), apptest.Price("USD", 5)) }, "EUR:- USD:price_a"},
		{"empty", func() apptest.Reply { return put(apptest.Price("EUR", 7, "price_c"), apptest.Price("USD", 5, "")) }, "EUR:price_c USD:-"},
		{"moved to another", func() apptest.Reply { return put(apptest.Price("EUR", 7, nil), apptest.Price("USD", 5, "price_c")) }, "EUR:- USD:price_c"},
	}
	for _, step := range steps {
		if got := linksIn(step.do(), "data"); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
}

func (p pricedPlan) patchesPrices(t *testing.T, ids map[string]string) {
	p.put(apptest.Price("EUR", 7, "price_e"), apptest.Price("USD", 5, "price_u")).Want(200)
	for _, step := range []struct {
		name string
		body apptest.Object
		want string
	}{
		{"no set", apptest.Object{"sort_order": 3, "trial_days": 5, "name": apptest.Object{"en": "New"}}, "EUR:price_e USD:price_u"},
		{"same interval", apptest.Object{"billing_cycle": "monthly", "pricing_type": "flat"}, "EUR:price_e USD:price_u"},
		{"a set", apptest.Object{"prices": []any{apptest.Price("EUR", 7), apptest.Price("USD", 6)}}, "EUR:price_e USD:-"},
		{"an interval", apptest.Object{"billing_cycle": "yearly"}, "EUR:- USD:-"},
		{"an interval with links", apptest.Object{"billing_cycle": "monthly", "prices": []any{apptest.Price("EUR", 7, "price_e"), apptest.Price("USD", 6)}}, "EUR:price_e USD:-"},
		{"a pricing type", apptest.Object{"pricing_type": "seat"}, "EUR:- USD:-"},
		{"an empty set", apptest.Object{"prices": []any{}}, ""},
	} {
		if got := linksIn(p.change(step.body), "data.prices"); got != step.want {
			t.Errorf("%s: %s, want %s", step.name, got, step.want)
		}
	}
	if now := idsBy(p.change(apptest.Object{"prices": []any{apptest.Price("EUR", 1)}}).Want(200), "data.prices", "currency"); now["EUR"] == ids["EUR"] {
		t.Error("a price that was removed came back with its id")
	}
}

func (p pricedPlan) removesPrice(t *testing.T) {
	k, plan, path := p.k, p.plan, p.path()
	id := idsBy(p.put(apptest.Price("EUR", 1), apptest.Price("USD", 2)).Want(200), "data", "currency")["EUR"]
	other := k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil).Want(201).Str("data.id")
	for _, wrong := range []string{"/plans/" + other + "/prices/" + id, path + "/" + apptest.NoSuchID, path + "/x", "/plans/" + apptest.NoSuchID + "/prices/" + id} {
		k.AdminCall("DELETE", wrong, nil).WantRefused(404, "")
	}
	k.AdminCall("DELETE", path+"/"+id, nil).Want(204)
	k.AdminCall("DELETE", path+"/"+id, nil).WantRefused(404, "")
	if got := linksIn(k.AdminCall("GET", "/plans/"+plan, nil), "data.prices"); got != "USD:-" {
		t.Errorf("left: %s", got)
	}
}

func (p pricedPlan) refusesPrices(t *testing.T) {
	p.put(apptest.Price("USD", 2, "price_kept")).Want(200)
	for name, c := range map[string]struct {
		prices any
		fields []string
	}{
		"no set":                    {apptest.Absent, []string{"prices"}},
		"null":                      {nil, []string{"prices"}},
		"no list":                   {apptest.Object{}, []string{"prices"}},
		"no price":                  {[]any{5}, []string{"prices.0"}},
		"nothing":                   {[]any{apptest.Object{}}, []string{"prices.0.currency", "prices.0.price_cents"}},
		"no such currency":          {[]any{apptest.Price("EUR", 1), apptest.Price("XTS", 1)}, []string{"prices.1.currency"}},
		"two letters":               {[]any{apptest.Price("eu", 1)}, []string{"prices.0.currency"}},
		"once in lower case":        {[]any{apptest.Price("EUR", 1), apptest.Price("eur", 2)}, []string{"prices.1.currency"}},
		"four letters":              {[]any{apptest.Price("EURO", 1)}, []string{"prices.0.currency"}},
		"a currency twice":          {[]any{apptest.Price("EUR", 1), apptest.Price("USD", 1), apptest.Price("EUR", 2)}, []string{"prices.2.currency"}},
		"negative":                  {[]any{apptest.Price("EUR", -1)}, []string{"prices.0.price_cents"}},
		"too much":                  {[]any{apptest.Price("EUR", 1_000_000_000_000)}, []string{"prices.0.price_cents"}},
		"a fraction":                {[]any{apptest.Object{"currency": "EUR", "price_cents": 9.99}}, []string{"prices.0.price_cents"}},
		"a text":                    {[]any{apptest.Object{"currency": "EUR", "price_cents": "9"}}, []string{"prices.0.price_cents"}},
		"a product's id":            {[]any{apptest.Price("EUR", 1, "prod_1")}, []string{"prices.0.psp_price_id"}},
		"a link in capitals":        {[]any{apptest.Price("EUR", 1, "PRICE_1")}, []string{"prices.0.psp_price_id"}},
		"a link as number":          {[]any{apptest.Price("EUR", 1, 5)}, []string{"prices.0.psp_price_id"}},
		"a link twice":              {[]any{apptest.Price("EUR", 1, "price_1"), apptest.Price("USD", 1, "price_1")}, []string{"prices.1.psp_price_id"}},
		"a link that another keeps": {[]any{apptest.Price("EUR", 1, "price_kept"), apptest.Price("USD", 2)}, []string{"prices.0.psp_price_id"}},
		"kept, then given":          {[]any{apptest.Price("USD", 2), apptest.Price("EUR", 1, "price_kept")}, []string{"prices.1.psp_price_id"}},
		"several at once":           {[]any{apptest.Price("XTS", 1, "price_1"), apptest.Price("EUR", 2, "price_1")}, []string{"prices.0.currency", "prices.1.psp_price_id"}},
	} {
		body := apptest.WithChanges(apptest.Object{}, apptest.Object{"prices": c.prices})
		p.k.AdminCall("PUT", p.path(), body).As(name).WantInvalid(c.fields...)
		if c.prices != apptest.Absent {
			p.change(apptest.WithChanges(body, apptest.Object{"sort_order": 99})).As("PATCH: " + name).WantInvalid(c.fields...)
		}
	}
	kept := p.k.AdminCall("GET", "/plans/"+p.plan, nil)
	if got := linksIn(kept, "data.prices"); got != "USD:price_kept" || kept.At("data.sort_order") != 3.0 {
		t.Errorf("refused sets left %s", kept.Text)
	}
	p.change(apptest.Object{"product_id": apptest.NoSuchID, "prices": []any{apptest.Price("XTS", 1)}, "entitlements": []any{apptest.Object{"feature_id": apptest.NoSuchID, "type": "boolean"}}}).
		As("everything at once").WantInvalid("product_id", "prices.0.currency", "entitlements.0.feature_id")
}

func TestPlanEntitlements(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		plan := k.CreatePlan(k.CreateProduct("main"), "pro")
		sso, calls := k.CreateFeature("a-sso"), k.CreateFeature("b-calls", apptest.Object{"is_active": false, "description": apptest.Object{"en": "Calls"}})
		run := func(name string, f func(t *testing.T, p entitledPlan)) {
			k.Run(t, name, func(t *testing.T, k apptest.CatalogAdmin) { f(t, entitledPlan{k, plan, sso, calls}) })
		}
		var ids map[string]string
		run("a set is shown with its features", func(t *testing.T, p entitledPlan) { ids = p.showsSet(t) })
		run("a feature that remains keeps its entitlement ID", func(t *testing.T, p entitledPlan) { p.keepsIDs(t, ids) })
		run("an entitlement is deleted by its ID", func(t *testing.T, p entitledPlan) { p.deletesEntitlement(t, ids) })
		run("an invalid set is refused and changes nothing", func(t *testing.T, p entitledPlan) { p.refusesSets(t) })
		run("deleting a feature removes its entitlements", func(_ *testing.T, p entitledPlan) {
			p.k.AdminCall("DELETE", "/features/"+sso, nil).Want(204)
			p.k.AdminCall("GET", p.path(), nil).Want(200).WantAt("data", []any{})
			p.put(boolean(calls)).Want(200)
			p.put().Want(200).WantAt("data.entitlements", []any{})
		})
	})
}

// entitledPlan is a plan whose entitlements change.
type entitledPlan struct {
	k                apptest.CatalogAdmin
	plan, sso, calls string // IDs
}

func boolean(feature string) apptest.Object {
	return apptest.Object{"feature_id": feature, "type": "boolean"}
}

func quota(feature string, n any) apptest.Object {
	return apptest.Object{"feature_id": feature, "type": "quota", "value": n}
}

func (p entitledPlan) path() string { return "/plans/" + p.plan + "/entitlements" }

func (p entitledPlan) put(set ...any) apptest.Reply {
	p.k.T.Helper()
	return p.k.AdminCall("PUT", p.path(), apptest.Object{"entitlements": append([]any{}, set...)})
}

// showsSet checks the entitlements that the plan shows. It returns their IDs by feature.
func (p entitledPlan) showsSet(t *testing.T) map[string]string {
	k, plan, sso, calls, path, put := p.k, p.plan, p.sso, p.calls, p.path(), p.put
	k.AdminCall("GET", path, nil).Want(200).WantAt("data", []any{})
	first := put(quota(calls, 9007199254740993), boolean(sso)).Want(200)
	ids := idsBy(first, "data.entitlements", "feature_id")
	entry := func(id, feature string, kind string, value any) apptest.Object {
		nested := k.AdminCall("GET", "/features/"+feature, nil).Want(200).At("data")
		return apptest.Object{
			"id": id, "plan_id": plan, "feature_id": feature, "type": kind, "value": value, "feature": nested,
			"created_at": anyTime, "updated_at": anyTime,
		}
	}
	wantShape(first, "data.entitlements.0", entry(ids[sso], sso, "boolean", nil))
	wantShape(first, "data.entitlements.1", entry(ids[calls], calls, "quota", 9007199254740993.0))
	if !strings.Contains(first.Text, "9007199254740993") {
		t.Errorf("a large quota was changed: %s", first.Text)
	}
	first.WantAt("data.id", plan)
	k.AdminCall("GET", path, nil).Want(200).WantAt("data", first.At("data.entitlements"))
	k.AdminCall("GET", "/plans/"+plan, nil).Want(200).WantAt("data", first.At("data"))
	return ids
}

// A feature that remains keeps its entitlement ID, even if the entitlement changes.
func (p entitledPlan) keepsIDs(t *testing.T, ids map[string]string) {
	k, plan, sso, calls, put := p.k, p.plan, p.sso, p.calls, p.put
	second := put(quota(sso, 5), apptest.Object{"feature_id": calls, "type": "boolean", "value": nil}).Want(200)
	if now := idsBy(second, "data.entitlements", "feature_id"); now[sso] != ids[sso] || now[calls] != ids[calls] {
		t.Errorf("ids %v after %v", now, ids)
	}
	second.WantAt("data.entitlements.0.value", 5.0).WantAt("data.entitlements.1.value", nil)
	third := k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"entitlements": []any{boolean(calls)}}).Want(200)
	if now := idsBy(third, "data.entitlements", "feature_id"); now[calls] != ids[calls] || len(now) != 1 {
		t.Errorf("ids %v after %v", now, ids)
	}
	third.WantAt("data.entitlements.0.updated_at", second.At("data.entitlements.1.updated_at")) // it is unchanged
	k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{"sort_order": 1}).Want(200).WantAt("data.entitlements", third.At("data.entitlements"))
	if again := idsBy(put(boolean(sso), boolean(calls)).Want(200), "data.entitlements", "feature_id"); again[sso] == ids[sso] {
		t.Error("an entitlement that was removed came back with its id")
	}
}

func (p entitledPlan) deletesEntitlement(t *testing.T, ids map[string]string) {
	k, sso, calls, path := p.k, p.sso, p.calls, p.path()
	k.AdminCall("DELETE", "/entitlements/"+ids[calls], nil).Want(204)
	for _, id := range []string{ids[calls], apptest.NoSuchID, "x"} {
		k.AdminCall("DELETE", "/entitlements/"+id, nil).WantRefused(404, "")
	}
	if left := idsBy(k.AdminCall("GET", path, nil).Want(200), "data", "feature_id"); len(left) != 1 || left[sso] == "" {
		t.Errorf("left: %v", left)
	}
}

func (p entitledPlan) refusesSets(t *testing.T) {
	k, plan, sso, path := p.k, p.plan, p.sso, p.path()
	gone := k.CreateFeature("gone")
	k.AdminCall("DELETE", "/features/"+gone, nil).Want(204)
	for name, c := range map[string]struct {
		set    any
		fields []string
	}{
		"no set":                  {apptest.Absent, []string{"entitlements"}},
		"null":                    {nil, []string{"entitlements"}},
		"nothing":                 {[]any{apptest.Object{}}, []string{"entitlements.0.feature_id", "entitlements.0.type"}},
		"no such feature":         {[]any{boolean(sso), boolean(apptest.NoSuchID)}, []string{"entitlements.1.feature_id"}},
		"a deleted feature":       {[]any{boolean(gone)}, []string{"entitlements.0.feature_id"}},
		"no UUID":                 {[]any{boolean("sso")}, []string{"entitlements.0.feature_id"}},
		"a feature twice":         {[]any{boolean(sso), quota(sso, 1)}, []string{"entitlements.1.feature_id"}},
		"another type":            {[]any{apptest.Object{"feature_id": sso, "type": "flag"}}, []string{"entitlements.0.type"}},
		"a boolean with a value":  {[]any{apptest.Object{"feature_id": sso, "type": "boolean", "value": 1}}, []string{"entitlements.0.value"}},
		"a quota without":         {[]any{apptest.Object{"feature_id": sso, "type": "quota"}}, []string{"entitlements.0.value"}},
		"a quota of null":         {[]any{quota(sso, nil)}, []string{"entitlements.0.value"}},
		"a quota of 0":            {[]any{quota(sso, 0)}, []string{"entitlements.0.value"}},
		"a negative quota":        {[]any{quota(sso, -5)}, []string{"entitlements.0.value"}},
		"a fraction":              {[]any{quota(sso, 1.5)}, []string{"entitlements.0.value"}},
		"a text":                  {[]any{quota(sso, "5")}, []string{"entitlements.0.value"}},
		"more than can be stored": {`{"entitlements":[{"feature_id":"` + sso + `","type":"quota","value":9223372036854775808}]}`, []string{"entitlements.0.value"}},
		"several at once":         {[]any{quota(apptest.NoSuchID, nil), apptest.Object{"feature_id": sso, "type": "boolean", "value": 2}}, []string{"entitlements.0.feature_id", "entitlements.0.value", "entitlements.1.value"}},
	} {
		body := any(apptest.WithChanges(apptest.Object{}, apptest.Object{"entitlements": c.set}))
		if text, ok := c.set.(string); ok && text != apptest.Absent {
			body = text
		}
		k.AdminCall("PUT", path, body).As(name).WantInvalid(c.fields...)
		if c.set != apptest.Absent {
			k.AdminCall("PATCH", "/plans/"+plan, body).As("PATCH: " + name).WantInvalid(c.fields...)
		}
	}
	if left := idsBy(k.AdminCall("GET", path, nil).Want(200), "data", "feature_id"); len(left) != 1 || left[sso] == "" {
		t.Errorf("refused sets left %v", left)
	}
}

func TestDuplicatePlan(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		product, feature := k.CreateProduct("main"), k.CreateFeature("calls")
		plan := k.CreatePlan(product, "pro", apptest.Object{"trial_days": 3, "sort_order": 4, "metadata": apptest.Object{"a": 1}, "description": apptest.Object{"en": "D"}})
		original := k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{
			"prices":       []any{apptest.Price("EUR", 5, "price_1"), apptest.Price("USD", 6)},
			"entitlements": []any{apptest.Object{"feature_id": feature, "type": "quota", "value": 9}},
		}).Want(200)
		made := k.AdminCall("POST", "/plans/"+plan+"/duplicate", nil).Want(201)
		data, prices := made.At("data").(apptest.Object), idsBy(made, "data.prices", "currency")
		wantShape(made, "data", apptest.WithChanges(original.At("data").(apptest.Object), apptest.Object{
			"id": data["id"], "slug": "pro-copy", "is_active": false,
			"prices": []any{
				apptest.Object{"id": prices["EUR"], "currency": "EUR", "price_cents": 5.0, "psp_price_id": nil},
				apptest.Object{"id": prices["USD"], "currency": "USD", "price_cents": 6.0, "psp_price_id": nil},
			},
			"entitlements": data["entitlements"],
		}))
		made.WantAt("data.entitlements.0.value", 9.0).WantAt("data.entitlements.0.plan_id", data["id"]).WantAt("data.entitlements.0.feature_id", feature)
		if prices["EUR"] == idsBy(original, "data.prices", "currency")["EUR"] || made.At("data.entitlements.0.id") == original.At("data.entitlements.0.id") {
			t.Error("a copy shares rows with its original")
		}
		copyOf := func(id string) string {
			return k.AdminCall("POST", "/plans/"+id+"/duplicate", nil).Want(201).Str("data.slug")
		}
		if second, third := copyOf(plan), copyOf(plan); second != "pro-copy-2" || third != "pro-copy-3" {
			t.Errorf("copies are called %s and %s", second, third)
		}
		k.AdminCall("DELETE", "/plans/"+data["id"].(string), nil).Want(204)
		if again := copyOf(plan); again != "pro-copy" {
			t.Errorf("the free slug is not used: %s", again)
		}
		long := k.CreatePlan(product, strings.Repeat("x", 255), apptest.Object{"name": apptest.Object{"en": "Long"}})
		first, second := copyOf(long), copyOf(long)
		if len(first) > 255 || len(second) > 255 || !strings.HasSuffix(first, "x-copy") || !strings.HasSuffix(second, "x-copy-2") {
			t.Errorf("copies of a long slug: %s, %s", first, second)
		}
	})
}
