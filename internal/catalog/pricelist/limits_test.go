package pricelist_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
)

// Values at a limit are accepted, and values beyond it are rejected with the path of the field.
// Texts are measured in characters.
func TestLimitsOfAFile(t *testing.T) {
	t.Parallel()
	text := func(n int) string { return strings.Repeat("é", n) }
	slug := func(n int) string { return strings.Repeat("a", n) }
	valid := func() pricelist.Catalog {
		return pricelist.Catalog{
			Currencies: []pricelist.CurrencyData{{Code: "JPY", Name: "Yen", Symbol: "¥"}},
			Features:   []pricelist.FeatureData{{Code: "f", Name: pricelist.Text{"en": "F"}}},
			Products: []pricelist.ProductData{{Slug: "p", Name: pricelist.Text{"en": "P"}, Plans: []pricelist.PlanData{
				{Slug: "x", Name: pricelist.Text{"en": "X"}, PricingType: catalog.PricingFlat, BillingCycle: "monthly"},
			}}},
			Meters: []pricelist.MeterData{{Code: "m", Name: "M", AggregationType: "sum", ResetInterval: "none", QuotaEnforcement: "none"}},
		}
	}
	link := func(id string) pricelist.Link { return pricelist.LinkTo(&id) }
	quota := func(n int64) map[string]pricelist.Grant { return map[string]pricelist.Grant{"f": {Quota: &n}} }
	type change = func(c *pricelist.Catalog)
	currency := func(set func(*pricelist.CurrencyData)) change {
		return func(c *pricelist.Catalog) { set(&c.Currencies[0]) }
	}
	feature := func(set func(*pricelist.FeatureData)) change {
		return func(c *pricelist.Catalog) { set(&c.Features[0]) }
	}
	product := func(set func(*pricelist.ProductData)) change {
		return func(c *pricelist.Catalog) { set(&c.Products[0]) }
	}
	plan := func(set func(*pricelist.PlanData)) change {
		return func(c *pricelist.Catalog) { set(&c.Products[0].Plans[0]) }
	}
	meter := func(set func(*pricelist.MeterData)) change {
		return func(c *pricelist.Catalog) { set(&c.Meters[0]) }
	}
	planPrice := func(code string, p pricelist.PriceData) change {
		return plan(func(d *pricelist.PlanData) { d.Prices = map[string]pricelist.PriceData{code: p} })
	}
	for name, tt := range map[string]struct {
		change change
		want   []string // the paths of the invalid fields
	}{
		"nothing":     {func(*pricelist.Catalog) {}, nil},
		"no records":  {func(c *pricelist.Catalog) { *c = pricelist.Catalog{} }, nil},
		"lower case":  {currency(func(d *pricelist.CurrencyData) { d.Code = "Jpy" }), []string{"currencies[0].code"}},
		"two letters": {currency(func(d *pricelist.CurrencyData) { d.Code = "JP" }), []string{"currencies[0].code"}},
		"four":        {currency(func(d *pricelist.CurrencyData) { d.Code = "JPYX" }), []string{"currencies[0].code"}},
		"digits":      {currency(func(d *pricelist.CurrencyData) { d.Code = "JP1" }), []string{"currencies[0].code"}},
		"line end":    {currency(func(d *pricelist.CurrencyData) { d.Code = "JPY\n" }), []string{"currencies[0].code"}},
		"name 100":    {currency(func(d *pricelist.CurrencyData) { d.Name = text(100) }), nil},
		"name 101":    {currency(func(d *pricelist.CurrencyData) { d.Name = text(101) }), []string{"currencies[0].name"}},
		"symbol 10":   {currency(func(d *pricelist.CurrencyData) { d.Symbol = text(10) }), nil},
		"symbol 11":   {currency(func(d *pricelist.CurrencyData) { d.Symbol = text(11) }), []string{"currencies[0].symbol"}},
		"no symbol":   {currency(func(d *pricelist.CurrencyData) { d.Symbol = "" }), []string{"currencies[0].symbol"}},
		"two lines":   {currency(func(d *pricelist.CurrencyData) { d.Name = "a\nb" }), []string{"currencies[0].name"}},
		"units 2":     {currency(func(d *pricelist.CurrencyData) { d.MinorUnits = 2 }), nil},
		"units 3":     {currency(func(d *pricelist.CurrencyData) { d.MinorUnits = 3 }), nil},
		"units 4":     {currency(func(d *pricelist.CurrencyData) { d.MinorUnits = 4 }), []string{"currencies[0].minor_units"}},
		"units -1":    {currency(func(d *pricelist.CurrencyData) { d.MinorUnits = -1 }), []string{"currencies[0].minor_units"}},
		"currencies twice": {
			func(c *pricelist.Catalog) { c.Currencies = append(c.Currencies, c.Currencies[0]) }, []string{"currencies[1].code"},
		},

		"code 255":          {feature(func(d *pricelist.FeatureData) { d.Code = slug(255) }), nil},
		"code 256":          {feature(func(d *pricelist.FeatureData) { d.Code = slug(256) }), []string{"features[0].code"}},
		"code -_":           {feature(func(d *pricelist.FeatureData) { d.Code = "-_A9" }), nil},
		"code é":            {feature(func(d *pricelist.FeatureData) { d.Code = "é" }), []string{"features[0].code"}},
		"code with dot":     {feature(func(d *pricelist.FeatureData) { d.Code = "a.b" }), []string{"features[0].code"}},
		"code with newline": {feature(func(d *pricelist.FeatureData) { d.Code = "a\n" }), []string{"features[0].code"}},
		"name 255":          {feature(func(d *pricelist.FeatureData) { d.Name["fr"] = text(255) }), nil},
		"name 256":          {feature(func(d *pricelist.FeatureData) { d.Name["fr"] = text(256) }), []string{"features[0].name.fr"}},
		"locale EN":         {feature(func(d *pricelist.FeatureData) { d.Name["EN"] = "x" }), []string{"features[0].name.EN"}},
		"tab in a name":     {feature(func(d *pricelist.FeatureData) { d.Name["es"] = "a\tb" }), []string{"features[0].name.es"}},
		"no UTF-8":          {feature(func(d *pricelist.FeatureData) { d.Name["it"] = "a\xff" }), []string{"features[0].name.it"}},
		"empty French":      {feature(func(d *pricelist.FeatureData) { d.Name["fr"] = "" }), nil},
		"empty English":     {feature(func(d *pricelist.FeatureData) { d.Name["en"] = "" }), []string{"features[0].name.en"}},
		"long description":  {feature(func(d *pricelist.FeatureData) { d.Description = pricelist.Text{"en": text(65535)} }), nil},
		"longer":            {feature(func(d *pricelist.FeatureData) { d.Description = pricelist.Text{"en": text(65536)} }), []string{"features[0].description.en"}},
		"described: lines":  {feature(func(d *pricelist.FeatureData) { d.Description = pricelist.Text{"en": "a\r\n\tb"} }), nil},
		"described: bell":   {feature(func(d *pricelist.FeatureData) { d.Description = pricelist.Text{"en": "\a"} }), []string{"features[0].description.en"}},
		"described: empty":  {feature(func(d *pricelist.FeatureData) { d.Description = pricelist.Text{} }), []string{"features[0].description.en"}},
		"three features": {func(c *pricelist.Catalog) {
			c.Features = append(c.Features, c.Features[0], c.Features[0])
		}, []string{"features[1].code", "features[2].code"}},
		// Codes are case-sensitive.
		"feature F": {func(c *pricelist.Catalog) {
			c.Features = append(c.Features, pricelist.FeatureData{Code: "F", Name: pricelist.Text{"en": "F"}})
		}, nil},

		"slug 255": {product(func(d *pricelist.ProductData) { d.Slug = slug(255) }), nil},
		"slug 256": {product(func(d *pricelist.ProductData) { d.Slug = slug(256) }), []string{"products[0].slug"}},
		"a product and a plan of one slug": {
			product(func(d *pricelist.ProductData) { d.Slug = "x" }), nil,
		},
		"a plan in two products": {func(c *pricelist.Catalog) {
			c.Products = append(c.Products, pricelist.ProductData{Slug: "q", Name: pricelist.Text{"en": "Q"}, Plans: c.Products[0].Plans})
		}, []string{"products[1].plans[0].slug"}},
		"a product without plans": {product(func(d *pricelist.ProductData) { d.Plans = nil }), nil},

		"seat":           {plan(func(d *pricelist.PlanData) { d.PricingType = catalog.PricingSeat }), nil},
		"usage":          {plan(func(d *pricelist.PlanData) { d.PricingType = catalog.PricingUsage }), nil},
		"no type":        {plan(func(d *pricelist.PlanData) { d.PricingType = "" }), []string{"products[0].plans[0].pricing_type"}},
		"quarterly":      {plan(func(d *pricelist.PlanData) { d.BillingCycle = "quarterly" }), nil},
		"no cycle":       {plan(func(d *pricelist.PlanData) { d.BillingCycle = "" }), []string{"products[0].plans[0].billing_cycle"}},
		"weeks":          {plan(func(d *pricelist.PlanData) { d.IntervalUnit, d.IntervalCount = "week", 2 }), nil},
		"months":         {plan(func(d *pricelist.PlanData) { d.IntervalUnit = "months" }), []string{"products[0].plans[0].interval_unit"}},
		"count -1":       {plan(func(d *pricelist.PlanData) { d.IntervalCount = -1 }), []string{"products[0].plans[0].interval_count"}},
		"trial 730":      {plan(func(d *pricelist.PlanData) { d.TrialDays = 730 }), nil},
		"trial 731":      {plan(func(d *pricelist.PlanData) { d.TrialDays = 731 }), []string{"products[0].plans[0].trial_days"}},
		"trial -1":       {plan(func(d *pricelist.PlanData) { d.TrialDays = -1 }), []string{"products[0].plans[0].trial_days"}},
		"order -1":       {plan(func(d *pricelist.PlanData) { d.SortOrder = -1 }), []string{"products[0].plans[0].sort_order"}},
		"quota 1":        {plan(func(d *pricelist.PlanData) { d.Entitlements = quota(1) }), nil},
		"quota 0":        {plan(func(d *pricelist.PlanData) { d.Entitlements = quota(0) }), []string{"products[0].plans[0].entitlements.f"}},
		"quota -1":       {plan(func(d *pricelist.PlanData) { d.Entitlements = quota(-1) }), []string{"products[0].plans[0].entitlements.f"}},
		"price 0":        {planPrice("EUR", pricelist.PriceData{}), nil},
		"price -1":       {planPrice("EUR", pricelist.PriceData{PriceCents: -1}), []string{"products[0].plans[0].prices.EUR"}},
		"price in euros": {planPrice("eur", pricelist.PriceData{}), []string{"products[0].plans[0].prices.eur"}},
		"link 255":       {planPrice("EUR", pricelist.PriceData{Link: link("price_" + slug(249))}), nil},
		"link 256":       {planPrice("EUR", pricelist.PriceData{Link: link("price_" + slug(250))}), []string{"products[0].plans[0].prices.EUR.psp_price_id"}},
		"link empty":     {planPrice("EUR", pricelist.PriceData{Link: link("")}), []string{"products[0].plans[0].prices.EUR.psp_price_id"}},
		"link of lines":  {planPrice("EUR", pricelist.PriceData{Link: link("price_\n")}), []string{"products[0].plans[0].prices.EUR.psp_price_id"}},

		"meter code":    {meter(func(d *pricelist.MeterData) { d.Code = "a b" }), []string{"meters[0].code"}},
		"meter unnamed": {meter(func(d *pricelist.MeterData) { d.Name = "" }), []string{"meters[0].name"}},
		"meter 255":     {meter(func(d *pricelist.MeterData) { d.Name = text(255) }), nil},
		"meter 256":     {meter(func(d *pricelist.MeterData) { d.Name = text(256) }), []string{"meters[0].name"}},
		"label empty":   {meter(func(d *pricelist.MeterData) { d.UnitLabel = new(string) }), []string{"meters[0].unit_label"}},
		"label 256":     {meter(func(d *pricelist.MeterData) { label := text(256); d.UnitLabel = &label }), []string{"meters[0].unit_label"}},
		"last value":    {meter(func(d *pricelist.MeterData) { d.AggregationType = "last_value" }), nil},
		"yearly":        {meter(func(d *pricelist.MeterData) { d.ResetInterval = "yearly" }), []string{"meters[0].reset_interval"}},
		"one link for two": {meter(func(d *pricelist.MeterData) {
			d.Prices = map[string]pricelist.UnitPriceData{"EUR": {Link: link("price_1")}, "USD": {Link: link("price_1")}}
		}), []string{"meters[0].prices.USD.psp_price_id"}},
		"meters twice": {func(c *pricelist.Catalog) { c.Meters = append(c.Meters, c.Meters[0]) }, []string{"meters[1].code"}},
		"much at once": {func(c *pricelist.Catalog) {
			c.Currencies[0].Code, c.Features[0].Code = "", ""
			c.Products[0].Plans[0].SortOrder, c.Meters[0].QuotaEnforcement = -1, ""
		}, []string{"currencies[0].code", "features[0].code", "products[0].plans[0].sort_order", "meters[0].quota_enforcement"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := valid()
			tt.change(&c)
			if diff := cmp.Diff(tt.want, pathsOf(t, c.Check())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// pathsOf returns the paths in an error of Parse or Check.
func pathsOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var paths []string
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%v is not joined", err)
	}
	for _, e := range joined.Unwrap() {
		problem, ok := errors.AsType[*pricelist.ProblemError](e)
		if !ok || problem.Message == "" {
			t.Fatalf("%v is not a ProblemError with a message", e)
		}
		paths = append(paths, problem.Path)
	}
	return paths
}

// Equal metadata has the same canonical text, whatever its notation and nesting.
func TestMetadataIsCanonical(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("{a: ", 32) + "1" + strings.Repeat("}", 32)
	for given, want := range map[string]string{
		"{}":           `{}`,
		"":             ``,
		"null":         ``,
		"{b: 1, a: 2}": `{"a":2,"b":1}`,

		"{a: {d: 1, c: [3, {f: 1, e: 2}]}}": `{"a":{"c":[3,{"e":2,"f":1}],"d":1}}`,
		"{a: 1.50}":                         `{"a":1.5}`,
		"{a: 1.0}":                          `{"a":1}`,
		"{a: 1e3}":                          `{"a":1000}`,
		"{a: 25E-1}":                        `{"a":2.5}`,
		"{a: -0.0}":                         `{"a":0}`,
		"{a: 1e-10}":                        `{"a":0.0000000001}`,
		"{a: 9007199254740993}":             `{"a":9007199254740993}`,
		"{a: '1'}":                          `{"a":"1"}`,
		"{a: yes, b: True, c: false}":       `{"a":"yes","b":true,"c":false}`,
		"{a: ~}":                            `{"a":null}`,
		"{a: []}":                           `{"a":[]}`,
		"{a: '<b>&'}":                       `{"a":"<b>&"}`,
		`{a: "x\ty\nz"}`:                    `{"a":"x\ty\nz"}`,
		"{1: a}":                            `{"1":"a"}`,
		"{a: 2026-01-31}":                   `{"a":"2026-01-31"}`,
		deep:                                strings.ReplaceAll(strings.ReplaceAll(deep, "a", `"a"`), " ", ""),
	} {
		c, err := pricelist.Parse([]byte("features: [{code: a, name: {en: A}, metadata: " + given + "}]"))
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		if got := string(c.Features[0].Metadata); got != want {
			t.Errorf("%s is %s, want %s", given, got, want)
		}
	}
	tooDeep := strings.Repeat("{a: ", 33) + strings.Repeat("}", 33)
	if _, err := pricelist.Parse([]byte("features: [{code: a, name: {en: A}, metadata: " + tooDeep + "}]")); err == nil {
		t.Error("33 nested objects were accepted")
	}
	for _, given := range []string{"0x1F", "1_000", "017", ".5", "5.", "+1", ".nan", "1e-400000"} {
		_, err := pricelist.Parse([]byte("features: [{code: a, name: {en: A}, metadata: {k: " + given + "}}]"))
		if diff := cmp.Diff([]string{"features[0].metadata.k"}, pathsOf(t, err)); diff != "" {
			t.Errorf("%s: %s", given, diff)
		}
	}
}

// A missing field is reported at the line of the record that lacks it.
func TestLinesOfProblems(t *testing.T) {
	t.Parallel()
	file := strings.Join([]string{
		"currencies:",                  // 1
		"  - code: JPY",                // 2
		"    symbol: ¥",                // 3
		"    minor_units: 7",           // 4
		"products:",                    // 5
		"  - slug: p",                  // 6
		"    name: {en: P}",            // 7
		"    plans:",                   // 8
		"      - slug: x",              // 9
		"        name: {en: X}",        // 10
		"        pricing_type: flat",   // 11
		"        billing_cycle: daily", // 12
		"        prices:",              // 13
		"          EUR: 1",             // 14
		"          USD:",               // 15
		"            price_cents: -1",  // 16
		"      - slug: x",              // 17
		"        name: {en: X}",        // 18
		"        billing_cycle: weekly",
	}, "\n")
	_, err := pricelist.Parse([]byte(file))
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error = %v", err)
	}
	var got []string
	for _, e := range joined.Unwrap() {
		problem, _ := errors.AsType[*pricelist.ProblemError](e)
		got = append(got, strconv.Itoa(problem.Line)+" "+problem.Path)
	}
	want := []string{
		"2 currencies[0].name", "4 currencies[0].minor_units", "12 products[0].plans[0].billing_cycle",
		"15 products[0].plans[0].prices.USD", "17 products[0].plans[1].slug", "17 products[0].plans[1].pricing_type",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
