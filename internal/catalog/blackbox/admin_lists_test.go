package blackbox_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// listed returns the slugs or codes of a list, in order.
func listed(k apptest.CatalogAdmin, list string, query map[string]string) string {
	k.T.Helper()
	values := url.Values{}
	for key, value := range query {
		values.Set(key, value)
	}
	key := "slug"
	if list == "features" {
		key = "code"
	}
	var names []string
	for _, v := range k.AdminCall("GET", "/"+list+"?"+values.Encode(), nil).Want(200).Column(key) {
		names = append(names, v.(string))
	}
	return strings.Join(names, " ")
}

// atHour sets the clock to an hour of a day in March 2027. The admin's session has expired by then
// and must be renewed.
func atHour(k apptest.CatalogAdmin, day, hour int) apptest.CatalogAdmin {
	k.T.Helper()
	at := time.Date(2027, 3, day, hour, 0, 0, 0, time.UTC)
	k.Call("POST", "/sandbox/clock", "", apptest.Object{"to": at.Format(time.RFC3339)}).Want(200)
	return k.CatalogAdmin()
}

// odd are names with characters that are special in a search, each with a search that finds only
// this name.
var odd = []struct{ key, en, fr, finds string }{
	{"percent", "100% Cotton", "", "%"},
	{"underscore", "snake_case", "", "_"},
	{"backslash", `C:\temp`, "", `\`},
	{"quotes", `It's "quoted"`, "", `'s "Q`},
	{"emoji", "Rocket 🚀", "", "🚀"},
	{"ecole", "School", "École supérieure", "éCOLE"},
	{"brackets", "[a-z]* (x|y)", "", "[A-Z]* ("},
}

// The behavior that all three lists share.
func TestCatalogLists(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := atHour(s.CatalogAdmin(), 1, 0)
		home := k.CreateProduct("home-of-plans")
		k = atHour(k, 1, 12)
		for kind, body := range map[string]apptest.Object{
			"products": {"slug": "x"}, "features": {"code": "x"}, "plans": apptest.PlanBody(home, "x"),
		} {
			delete(body, "name")
			for _, o := range odd {
				name := apptest.Object{"en": o.en}
				if o.fr != "" {
					name["fr"] = o.fr
				}
				k.Create(kind, body, apptest.Object{"slug": o.key, "code": o.key, "name": name, "description": apptest.Object{"en": "About", "it": "Dice-" + o.key}})
			}
		}
		k = atHour(k, 2, 0)
		for kind, body := range map[string]apptest.Object{
			"products": {"slug": "late"}, "features": {"code": "late"}, "plans": apptest.PlanBody(home, "late"),
		} {
			k.Create(kind, body, apptest.Object{"name": apptest.Object{"en": "Tardy"}, "is_active": false})
			all := strings.Count(listed(k, kind, map[string]string{"per_page": "100"}), " ") + 1
			for _, o := range odd {
				for _, filter := range []string{"filter[name]", "filter[search]"} {
					if got := listed(k, kind, map[string]string{filter: o.finds, "filter[created_after]": "2027-03-01T06:00:00Z"}); got != o.key {
						t.Errorf("%s, %s=%s: %q, want %q", kind, filter, o.finds, got, o.key)
					}
				}
			}
			for name, c := range map[string]struct {
				query map[string]string
				want  string
			}{
				"search sees keys":                {map[string]string{"filter[search]": "DERSCOR"}, "underscore"},
				"search sees descriptions":        {map[string]string{"filter[search]": "dice-EMO"}, "emoji"},
				"name does not match description": {map[string]string{"filter[name]": "dice-emo"}, ""},
				"name does not match key":         {map[string]string{"filter[name]": "underscore"}, ""},
				"accents count":                   {map[string]string{"filter[name]": "ecole"}, ""},
				"an injection":                    {map[string]string{"filter[name]": "' OR 1=1 --"}, ""},
				"inactive":                        {map[string]string{"filter[is_active]": "false"}, "late"},
				"inactive as 0":                   {map[string]string{"filter[is_active]": "0", "filter[name]": "a"}, "late"},
				"active":                          {map[string]string{"filter[is_active]": "1", "filter[name]": "tardy"}, ""},
				"after":                           {map[string]string{"filter[created_after]": "2027-03-02"}, "late"},
				"after the last":                  {map[string]string{"filter[created_after]": "2027-03-02T01:00:00Z"}, ""},
				"before with after":               {map[string]string{"filter[created_after]": "2027-03-01T06:00:00Z", "filter[created_before]": "2027-03-01", "filter[name]": "%"}, "percent"},
				"before the day":                  {map[string]string{"filter[created_before]": "2027-02-28", "filter[name]": "%"}, ""},
				"newest first":                    {map[string]string{"sort": "-created_at", "per_page": "1"}, "late"},
				"a page past the end":             {map[string]string{"page": "99"}, ""},
				"empty filter":                    {map[string]string{"filter[name]": "", "filter[is_active]": "false"}, "late"},
			} {
				if got := listed(k, kind, c.query); got != c.want {
					t.Errorf("%s, %s: %q, want %q", kind, name, got, c.want)
				}
			}
			page := k.AdminCall("GET", "/"+kind+"?per_page=2&page=2&sort=created_at&filter[is_active]=true", nil).Want(200)
			page.WantAt("meta.total", float64(all-1)).WantAt("meta.current_page", 2.0).WantAt("meta.per_page", 2.0)
			if next := page.Str("links.next"); !strings.HasPrefix(next, k.URL+"/api/v1/admin/"+kind+"?") || !strings.Contains(next, "page=3") || !strings.Contains(next, "filter") {
				t.Errorf("next: %s", next)
			}
			for _, query := range []string{
				"filter[slugs]=x", "filter[id]=x", "filter=x", "filter[]=x", "filter[name][]=x", "filter[price]=x", "sort=name", "sort=id", "sort=created_at,name",
				"sort=--created_at", "sort[]=created_at", "include=tenants", "include=plans.product", "include=plans,nope", "include[]=plans",
			} {
				if a := k.AdminCall("GET", "/"+kind+"?"+strings.NewReplacer("[", "%5B", "]", "%5D").Replace(query), nil); a.Status != 400 || a.At("message") == nil {
					t.Errorf("%s?%s: %d %s", kind, query, a.Status, a.Text)
				}
			}
			k.AdminCall("GET", "/"+kind+"?filter[is_active]=yes&filter[created_after]=soon&per_page=101&page=0", nil).
				As(kind).WantInvalid("filter.is_active", "filter.created_after", "per_page", "page")
		}
	})
}

// The behavior that is specific to each list.
func TestCatalogListsOwnObjects(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := atHour(s.CatalogAdmin(), 1, 0)
		one, two := k.CreateProduct("one"), k.CreateProduct("two")
		feature := k.CreateFeature("z-calls", apptest.Object{"description": apptest.Object{"en": "Calls"}})
		k.CreateFeature("Z-calls")
		k = atHour(k, 1, 1)
		plan := k.CreatePlan(one, "p-flat", apptest.Object{"sort_order": 900, "trial_days": 1})
		k = atHour(k, 1, 2)
		k.CreatePlan(one, "p-seat", apptest.Object{"sort_order": 800, "pricing_type": "seat", "billing_cycle": "yearly"})
		k = atHour(k, 1, 3)
		k.CreatePlan(two, "p-usage", apptest.Object{"sort_order": 900, "pricing_type": "usage", "billing_cycle": "weekly"})
		k.AdminCall("PATCH", "/plans/"+plan, apptest.Object{
			"prices": []any{apptest.Price("EUR", 5, "price_1")}, "entitlements": []any{apptest.Object{"feature_id": feature, "type": "quota", "value": 2}},
		}).Want(200)
		k.Run(t, "plans are filtered and sorted", func(t *testing.T, k apptest.CatalogAdmin) { listPlans(t, k, one, two) })
		k.Run(t, "a plan in a list has the fields of the plan alone", func(_ *testing.T, k apptest.CatalogAdmin) { includeProduct(k, one, plan) })
		k.Run(t, "a product includes its plans and their number on request", func(t *testing.T, k apptest.CatalogAdmin) { includePlans(t, k, plan) })
		k.Run(t, "features are sorted by code, upper case first", func(t *testing.T, k apptest.CatalogAdmin) { listFeatures(t, k) })
	})
}

func listPlans(t *testing.T, k apptest.CatalogAdmin, one, two string) {
	mine := func(query map[string]string) map[string]string {
		out := map[string]string{"filter[name]": "plan p-"}
		for key, value := range query {
			out[key] = value
		}
		return out
	}
	for _, c := range []struct {
		query map[string]string
		want  string
	}{
		{nil, "p-seat p-flat p-usage"},
		{map[string]string{"sort": "sort_order"}, "p-seat p-flat p-usage"},
		{map[string]string{"sort": "-sort_order,created_at"}, "p-flat p-usage p-seat"},
		{map[string]string{"sort": "-sort_order,-created_at"}, "p-usage p-flat p-seat"},
		{map[string]string{"sort": "-created_at"}, "p-usage p-seat p-flat"},
		{map[string]string{"filter[product_id]": one}, "p-seat p-flat"},
		{map[string]string{"filter[product_id]": strings.ToUpper(two)}, "p-usage"},
		{map[string]string{"filter[product_id]": apptest.NoSuchID}, ""},
		{map[string]string{"filter[pricing_type]": "seat"}, "p-seat"},
		{map[string]string{"filter[billing_cycle]": "weekly"}, "p-usage"},
		{map[string]string{"filter[billing_cycle]": "quarterly"}, ""},
		{map[string]string{"filter[search]": "P-SEA"}, "p-seat"},
	} {
		if got := listed(k, "plans", mine(c.query)); got != c.want {
			t.Errorf("plans %v: %q, want %q", c.query, got, c.want)
		}
	}
	k.AdminCall("GET", "/plans?filter[product_id]=x&filter[pricing_type]=tiered&filter[billing_cycle]=daily", nil).
		As("plans").WantInvalid("filter.product_id", "filter.pricing_type", "filter.billing_cycle")
}

// A plan in a list has the same fields as the plan alone. The product is included on request.
func includeProduct(k apptest.CatalogAdmin, one, plan string) {
	alone := k.AdminCall("GET", "/plans/"+plan, nil).Want(200).At("data").(apptest.Object)
	query := "/plans?filter[product_id]=" + one + "&filter[search]=p-flat&include="
	k.AdminCall("GET", query, nil).Want(200).WantAt("data.0", alone)
	k.AdminCall("GET", query+"entitlements,entitlements.feature", nil).Want(200).WantAt("data.0", alone)
	bare := k.AdminCall("GET", "/products?filter[search]=one", nil).Want(200).At("data.0").(apptest.Object)
	k.AdminCall("GET", query+"product", nil).Want(200).WantAt("data.0", apptest.WithChanges(alone, apptest.Object{"product": bare}))
}

func includePlans(t *testing.T, k apptest.CatalogAdmin, plan string) {
	alone := k.AdminCall("GET", "/plans/"+plan, nil).Want(200).At("data").(apptest.Object)
	bare := k.AdminCall("GET", "/products?filter[search]=one", nil).Want(200).At("data.0").(apptest.Object)
	if _, there := bare["plans_count"]; there || bare["plans"] != nil {
		t.Errorf("a product of the list has %v", bare)
	}
	k.AdminCall("GET", "/products?filter[search]=one&include=plansCount", nil).Want(200).WantAt("data.0", apptest.WithChanges(bare, apptest.Object{"plans_count": 2.0}))
	full := k.AdminCall("GET", "/products?filter[search]=one&include=plans", nil).Want(200)
	full.WantAt("data.0.plans.0.slug", "p-seat").WantAt("data.0.plans.1", alone)
	if _, there := full.At("data.0").(apptest.Object)["plans_count"]; there {
		t.Errorf("plans_count without an include: %s", full.Text)
	}
	k.AdminCall("GET", "/products?filter[search]=two&include=plans,plansCount", nil).Want(200).WantAt("data.0.plans.0.slug", "p-usage").WantAt("data.0.plans_count", 1.0)
	k.AdminCall("DELETE", "/plans/"+plan, nil).Want(204)
	k.AdminCall("GET", "/products?filter[search]=one&include=plans,plansCount", nil).Want(200).WantAt("data.0.plans_count", 1.0).WantAt("data.0.plans.1", nil)
}

// Features are sorted by code, upper case first, the same on both databases.
func listFeatures(t *testing.T, k apptest.CatalogAdmin) {
	for sort, want := range map[string]string{"": "Z-calls z-calls", "-code": "z-calls Z-calls", "created_at": "z-calls Z-calls"} {
		if got := listed(k, "features", map[string]string{"filter[name]": "Feature z-", "sort": sort}); got != want {
			t.Errorf("features by %q: %q, want %q", sort, got, want)
		}
	}
	for code, want := range map[string]string{"z-calls": "z-calls", "z-call": "", "%": ""} {
		if diff := cmp.Diff(want, listed(k, "features", map[string]string{"filter[code]": code})); diff != "" {
			t.Errorf("features of the code %s: %s", code, diff)
		}
	}
}

// If a page of large records exceeds the byte limit, the error has the page size that fits. Each
// record can be read on its own.
func TestCatalogListsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		k := s.CatalogAdmin()
		text := strings.Repeat("d", 65_535)
		large := apptest.Object{"description": apptest.Object{"en": text, "fr": text, "es": text, "it": text}} // 262 KB
		product := k.CreateProduct("large", large)
		features := make([]any, 12)
		for i := range features {
			id := k.CreateFeature(fmt.Sprint("large-", i), large)
			features[i] = apptest.Object{"feature_id": id, "type": "boolean"}
		}
		for i := range 4 {
			plan := k.CreatePlan(product, fmt.Sprint("plan-", i))
			k.AdminCall("PUT", "/plans/"+plan+"/entitlements", apptest.Object{"entitlements": features}).Want(200)
		}
		k.AdminCall("GET", "/plans?per_page=100", nil).WantInvalid("per_page") // 12 MB of features
		k.AdminCall("GET", "/plans?per_page=1", nil).Want(200)
		k.AdminCall("GET", "/features?per_page=100", nil).Want(200)
		k.AdminCall("GET", "/products?include=plans&filter[search]=large", nil).Want(200) // one product
		for i := range 32 {
			k.CreateProduct(fmt.Sprint("large-", i), large)
		}
		k.AdminCall("GET", "/products?per_page=33", nil).WantInvalid("per_page")
		if got := k.AdminCall("GET", "/products", nil).Want(200); len(got.Text) > 9<<20 {
			t.Errorf("a page of %d bytes", len(got.Text))
		}
		body := apptest.Object{"slug": "meta", "name": apptest.Object{"en": "Meta"}, "metadata": apptest.Object{"x": strings.Repeat("m", 17<<10)}}
		k.AdminCall("POST", "/products", body).WantInvalid("metadata")
	})
}
