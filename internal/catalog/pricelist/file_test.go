package pricelist_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/i18n"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	c, err := pricelist.Demo()
	if err != nil {
		t.Fatal(err)
	}
	locales := slices.Sorted(slices.Values(i18n.Locales()))
	translated := func(what string, texts ...pricelist.Text) {
		for _, text := range texts {
			if diff := cmp.Diff(locales, slices.Sorted(maps.Keys(text))); diff != "" {
				t.Errorf("%s is not in every locale: %s", what, diff)
			}
		}
	}
	features, plans, meters := []string{}, map[string]pricelist.PlanData{}, []string{}
	for _, f := range c.Features {
		features = append(features, f.Code)
		translated(f.Code, f.Name, f.Description)
	}
	for _, p := range c.Products {
		translated(p.Slug, p.Name, p.Description)
		for _, plan := range p.Plans {
			plans[plan.Slug] = plan
			translated(plan.Slug, plan.Name, plan.Description)
			if diff := cmp.Diff([]string{"EUR", "USD"}, slices.Sorted(maps.Keys(plan.Prices))); diff != "" {
				t.Errorf("%s: %s", plan.Slug, diff)
			}
		}
	}
	for _, m := range c.Meters {
		meters = append(meters, m.Code+" "+m.AggregationType+" "+m.ResetInterval+" "+m.QuotaEnforcement)
	}
	if diff := cmp.Diff([]string{"team-members", "api-calls", "storage-gb", "sso", "studio-access"}, features); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"api-calls sum monthly hard", "storage-gb last_value none soft"}, meters); diff != "" {
		t.Error(diff)
	}
	for slug, want := range map[string]catalog.PricingType{
		"free": catalog.PricingFlat, "starter": catalog.PricingFlat, "team": catalog.PricingSeat, "scale": catalog.PricingUsage,
	} {
		if plans[slug].PricingType != want {
			t.Errorf("%s is a %q plan", slug, plans[slug].PricingType)
		}
	}
	if quota := plans["free"].Entitlements["api-calls"].Quota; quota == nil || *quota != 100 {
		t.Error("free does not end after 100 calls")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const (
		feature = "features: [{code: a, name: {en: A}%s}]"
		product = "products: [{slug: p, name: {en: P}, plans: [{slug: x, name: {en: X}, pricing_type: flat, billing_cycle: monthly%s}]}]"
		meter   = "meters: [{code: m, name: M, aggregation_type: sum, reset_interval: none, quota_enforcement: none%s}]"
	)
	for name, tt := range map[string]struct{ text, want string }{ // "" if the file is valid
		"a feature":                         {strings.Replace(feature, "%s", "", 1), ""},
		"a product":                         {strings.Replace(product, "%s", "", 1), ""},
		"a meter":                           {strings.Replace(meter, "%s", "", 1), ""},
		"nothing":                           {"", "the file is empty"},
		"not YAML":                          {"\t:", "cannot start any token"},
		"two documents":                     {"features: []\n---\nfeatures: []", "one document"},
		"an unknown key":                    {strings.Replace(feature, "%s", ", colour: red", 1), "line 1: features[0].colour is not a known key"},
		"a repeated key":                    {strings.Replace(feature, "%s", ", code: b", 1), "features[0].code appears twice"},
		"an unknown section":                {"plans: []", "line 1: plans is not a known key"},
		"a repeated code":                   {"features: [{code: a, name: {en: A}}, {code: a, name: {en: A}}]", `features[1].code "a" appears twice`},
		"a feature and a meter of one code": {"features: [{code: m, name: {en: A}}]\n" + strings.Replace(meter, "%s", "", 1), ""},
		"no code":                           {"features: [{name: {en: A}}]", "features[0].code must be"},
		"a bad slug":                        {"products: [{slug: a b, name: {en: A}}]", "products[0].slug must be"},
		"a slug too long":                   {"products: [{slug: " + strings.Repeat("a", 256) + ", name: {en: A}}]", "products[0].slug must be"},
		"no name":                           {"features: [{code: a}]", "features[0].name.en is required"},
		"no English name":                   {"features: [{code: a, name: {fr: A}}]", "features[0].name.en is required"},
		"an unknown locale":                 {"features: [{code: a, name: {en: A, de: A}}]", "features[0].name.de is not"},
		"a name too long":                   {"features: [{code: a, name: {en: " + strings.Repeat("é", 256) + "}}]", "features[0].name.en must have at most 255"},
		"no English description":            {strings.Replace(feature, "%s", ", description: {fr: A}", 1), "features[0].description.en is required"},
		"a pricing type":                    {strings.Replace(product, "flat", "fixed", 1), "products[0].plans[0].pricing_type must be one of flat, seat, usage, not"},
		"a billing cycle":                   {strings.Replace(product, "monthly", "daily", 1), "products[0].plans[0].billing_cycle must be one of"},
		"negative trial":                    {strings.Replace(product, "%s", ", trial_days: -1", 1), "trial_days must not be negative"},
		"negative order":                    {strings.Replace(product, "%s", ", sort_order: -1", 1), "sort_order must not be negative"},
		"half a day":                        {strings.Replace(product, "%s", ", trial_days: 0.5", 1), "plans[0].trial_days must be a whole number"},
		"an order too large":                {strings.Replace(product, "%s", ", sort_order: 99999999999", 1), "plans[0].sort_order must be a whole number"},
		"a price":                           {strings.Replace(product, "%s", ", prices: {EUR: 0}", 1), ""},
		"a negative price":                  {strings.Replace(product, "%s", ", prices: {EUR: -1}", 1), "prices.EUR must not be negative"},
		"a fraction of a cent":              {strings.Replace(product, "%s", ", prices: {EUR: 19.90}", 1), "line 1: products[0].plans[0].prices.EUR must be a whole number"},
		"a bad currency":                    {strings.Replace(product, "%s", ", prices: {euro: 1}", 1), "prices.euro is not a currency code"},
		"a price twice":                     {strings.Replace(product, "%s", ", prices: {eur: 1, EUR: 2}", 1), "prices.eur is the second price in EUR"},
		"an entitlement":                    {strings.Replace(product, "%s", ", entitlements: {a: true, b: 1}", 1), ""},
		"an entitlement to none of it":      {strings.Replace(product, "%s", ", entitlements: {a: false}", 1), "true or a whole number"},
		"a quota of zero":                   {strings.Replace(product, "%s", ", entitlements: {a: 0}", 1), "entitlements.a must be true or positive"},
		"a fractional quota":                {strings.Replace(product, "%s", ", entitlements: {a: 0.5}", 1), "true or a whole number"},
		"a quota as text":                   {strings.Replace(product, "%s", ", entitlements: {a: '5'}", 1), "true or a whole number"},
		"an aggregation":                    {strings.Replace(meter, "sum", "avg", 1), "meters[0].aggregation_type must be one of"},
		"a reset interval":                  {strings.Replace(meter, "reset_interval: none", "reset_interval: never", 1), "meters[0].reset_interval must be one of"},
		"a long price":                      {strings.Replace(product, "%s", ", prices: {EUR: {price_cents: 1, psp_price_id: price_1}}", 1), ""},
		"a price without a link":            {strings.Replace(product, "%s", ", prices: {EUR: {price_cents: 1, psp_price_id: null}}", 1), ""},
		"a long price without an amount":    {strings.Replace(product, "%s", ", prices: {EUR: {psp_price_id: price_1}}", 1), "prices.EUR.price_cents is required"},
		"a long price with more":            {strings.Replace(product, "%s", ", prices: {EUR: {price_cents: 1, colour: red}}", 1), "prices.EUR.colour is not a known key"},
		"a link of another form":            {strings.Replace(product, "%s", ", prices: {EUR: {price_cents: 1, psp_price_id: prod_1}}", 1), "psp_price_id must begin with price_"},
		"a link that appears twice":         {strings.Replace(product, "%s", ", prices: {EUR: {price_cents: 1, psp_price_id: price_1}, USD: {price_cents: 1, psp_price_id: price_1}}", 1), `"price_1" appears twice`},
		"a currency that appears twice":     {strings.Replace(product, "%s", ", prices: {EUR: 1, EUR: 2}", 1), "prices.EUR appears twice"},
		"a price as text":                   {strings.Replace(product, "%s", ", prices: {EUR: '1'}", 1), "prices.EUR must be a whole number"},
		"a price in thousands":              {strings.Replace(product, "%s", ", prices: {EUR: 1_000}", 1), "prices.EUR must be a whole number"},
		"no price":                          {strings.Replace(product, "%s", ", prices: {EUR: }", 1), "prices.EUR must have a value"},
		"an interval":                       {strings.Replace(product, "%s", ", interval_unit: day, interval_count: 10", 1), ""},
		"an interval of moons":              {strings.Replace(product, "%s", ", interval_unit: moon", 1), "interval_unit must be one of"},
		"metadata":                          {strings.Replace(feature, "%s", ", metadata: {a: [1, {b: null}], c: 1e3}", 1), ""},
		"metadata that is a list":           {strings.Replace(feature, "%s", ", metadata: [1]", 1), "features[0].metadata must be a mapping"},
		"an invalid number":                 {strings.Replace(feature, "%s", ", metadata: {a: {b: [.inf]}}", 1), "features[0].metadata.a.b[0] must be a number"},
		"a number too large":                {strings.Replace(feature, "%s", ", metadata: {a: 1e-9999}", 1), "features[0].metadata.a 1e-9999 is out of range or too precise"},
		"a key of metadata twice":           {strings.Replace(feature, "%s", ", metadata: {a: 1, a: 2}", 1), "features[0].metadata.a appears twice"},
		"deep metadata":                     {strings.Replace(feature, "%s", ", metadata: "+strings.Repeat("{a: ", 40)+"1"+strings.Repeat("}", 40), 1), "is nested too deeply"},
		"an alias":                          {"features: [{code: &a a, name: {en: *a}}]", "line 1: features[0].name.en is an alias"},
		"an alias in metadata":              {"features: [{code: &a a, name: {en: A}, metadata: {b: *a}}]", "features[0].metadata.b is an alias"},
		"a line break in a name":            {`features: [{code: a, name: {en: "A\nB"}}]`, "features[0].name.en contains invalid characters"},
		"a zero byte":                       {`features: [{code: a, name: {en: A}, description: {en: "A\0B"}}]`, "features[0].description.en contains invalid characters"},
		"a zero byte in metadata":           {`features: [{code: a, name: {en: A}, metadata: {b: "A\0B"}}]`, "features[0].metadata.b contains invalid characters"},
		"line breaks in a description":      {`features: [{code: a, name: {en: A}, description: {en: "A\r\n\tB"}}]`, ""},
		"a name that is a list":             {"features: [{code: a, name: [A]}]", "features[0].name must be a mapping"},
		"a feature that is a text":          {"features: [a]", "features[0] must be a mapping"},
		"features that are a mapping":       {"features: {a: b}", "features must be a list"},
		"a switch that is a text":           {strings.Replace(feature, "%s", ", is_active: 'true'", 1), "features[0].is_active must be true or false"},
		"no features at all":                {"features:", ""},
		"a currency":                        {"currencies: [{code: JPY, name: Yen, symbol: ¥, minor_units: 0}]", ""},
		"a currency in small letters":       {"currencies: [{code: jpy, name: Yen, symbol: ¥, minor_units: 0}]", ""},
		"a currency of two letters":         {"currencies: [{code: jp, name: Yen, symbol: ¥, minor_units: 0}]", "currencies[0].code must be three"},
		"a currency of a place":             {"currencies: [{code: JPY, name: Yen, symbol: ¥, minor_units: 1}]", "currencies[0].minor_units must be 0, 2 or 3"},
		"a currency without a name":         {"currencies: [{code: JPY, symbol: ¥, minor_units: 0}]", "currencies[0].name is required"},
		"a symbol too long":                 {"currencies: [{code: JPY, name: Yen, symbol: the long yen, minor_units: 0}]", "currencies[0].symbol must have at most 10"},
		"a unit price":                      {strings.Replace(meter, "%s", ", prices: {EUR: 0.000000000001}", 1), ""},
		"a long unit price":                 {strings.Replace(meter, "%s", ", prices: {EUR: {unit_price_cents: 2, psp_price_id: price_1}}", 1), ""},
		"a unit price too precise":          {strings.Replace(meter, "%s", ", prices: {EUR: 0.0000000000001}", 1), "meters[0].prices.EUR must have at most 12 decimals"},
		"a negative unit price":             {strings.Replace(meter, "%s", ", prices: {EUR: -0.5}", 1), "meters[0].prices.EUR must not be negative"},
		"a unit price too large":            {strings.Replace(meter, "%s", ", prices: {EUR: 1e13}", 1), "meters[0].prices.EUR must be at most"},
		"a unit price of another form":      {strings.Replace(meter, "%s", ", prices: {EUR: .5}", 1), "meters[0].prices.EUR must be a number such as"},
		"a unit price as text":              {strings.Replace(meter, "%s", ", prices: {EUR: '1'}", 1), "meters[0].prices.EUR must be a number"},
		"a long unit price without amount":  {strings.Replace(meter, "%s", ", prices: {EUR: {psp_price_id: price_1}}", 1), "meters[0].prices.EUR.unit_price_cents is required"},
		"an enforcement":                    {strings.Replace(meter, "quota_enforcement: none", "quota_enforcement: firm", 1), "meters[0].quota_enforcement must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := pricelist.Parse([]byte(strings.Replace(tt.text, "%s", "", 1)))
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error = %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}
}

// All problems are reported with their lines, in the order of the file.
func TestParseReportsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := pricelist.Parse([]byte("# prices\nproducts:\n  - slug: p\n    plans:\n      - slug: x\n        name: {fr: X}\n\nmeters:\n- code: m\n  prices:\n    EUR: -1\n"))
	want := "line 11: meters[0].prices.EUR must not be negative"
	if err == nil || err.Error() != want {
		t.Errorf("an unreadable file: %v", err)
	}
	_, err = pricelist.Parse([]byte("features: [{code: a}]\nproducts:\n  - slug: p\n    name: {en: P}\n    plans:\n      - slug: x\n        name:\n          fr: X\n        pricing_type: flat\n        billing_cycle: monthly\n        prices:\n          EUR: -5\n"))
	want = "line 1: features[0].name.en is required\n" +
		"line 7: products[0].plans[0].name.en is required\n" +
		"line 12: products[0].plans[0].prices.EUR must not be negative"
	if err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
}
