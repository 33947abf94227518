package catalog_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	c, err := catalog.Demo()
	if err != nil {
		t.Fatal(err)
	}
	locales := slices.Sorted(slices.Values(i18n.Locales()))
	translated := func(what string, texts ...catalog.Text) {
		for _, text := range texts {
			if diff := cmp.Diff(locales, slices.Sorted(maps.Keys(text))); diff != "" {
				t.Errorf("%s is not in every locale: %s", what, diff)
			}
		}
	}
	features, plans, meters := []string{}, map[string]catalog.PlanData{}, []string{}
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
		"free": catalog.Flat, "starter": catalog.Flat, "team": catalog.Seat, "scale": catalog.Usage,
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
	for name, tt := range map[string]struct{ text, want string }{ // "" is no error
		"a feature":                         {strings.Replace(feature, "%s", "", 1), ""},
		"a product":                         {strings.Replace(product, "%s", "", 1), ""},
		"a meter":                           {strings.Replace(meter, "%s", "", 1), ""},
		"nothing":                           {"", "EOF"},
		"not YAML":                          {"\t:", "cannot start any token"},
		"two documents":                     {"features: []\n---\nfeatures: []", "one document"},
		"an unknown key":                    {strings.Replace(feature, "%s", ", colour: red", 1), "colour"},
		"a repeated key":                    {strings.Replace(feature, "%s", ", code: b", 1), "already defined"},
		"an unknown section":                {"plans: []", "plans"},
		"a repeated code":                   {"features: [{code: a, name: {en: A}}, {code: a, name: {en: A}}]", `features[1].code "a" is there twice`},
		"a feature and a meter of one code": {"features: [{code: m, name: {en: A}}]\n" + strings.Replace(meter, "%s", "", 1), ""},
		"no code":                           {"features: [{name: {en: A}}]", "features[0].code must be"},
		"a bad slug":                        {"products: [{slug: a b, name: {en: A}}]", "products[0].slug must be"},
		"a slug too long":                   {"products: [{slug: " + strings.Repeat("a", 256) + ", name: {en: A}}]", "products[0].slug must be"},
		"no name":                           {"features: [{code: a}]", "features[0].name.en is required"},
		"no English name":                   {"features: [{code: a, name: {fr: A}}]", "features[0].name.en is required"},
		"an unknown locale":                 {"features: [{code: a, name: {en: A, de: A}}]", "features[0].name.de is not"},
		"a name too long":                   {"features: [{code: a, name: {en: " + strings.Repeat("é", 256) + "}}]", "features[0].name.en must have at most 255"},
		"no English description":            {strings.Replace(feature, "%s", ", description: {fr: A}", 1), "features[0].description.en is required"},
		"a pricing type":                    {strings.Replace(product, "flat", "fixed", 1), "products[0].plans[0].pricing_type must be one of"},
		"a billing cycle":                   {strings.Replace(product, "monthly", "daily", 1), "products[0].plans[0].billing_cycle must be one of"},
		"negative trial":                    {strings.Replace(product, "%s", ", trial_days: -1", 1), "trial_days must not be negative"},
		"negative order":                    {strings.Replace(product, "%s", ", sort_order: -1", 1), "sort_order must not be negative"},
		"half a day":                        {strings.Replace(product, "%s", ", trial_days: 0.5", 1), "0.5 is not a whole number"},
		"an order too large":                {strings.Replace(product, "%s", ", sort_order: 99999999999", 1), "cannot unmarshal"},
		"a price":                           {strings.Replace(product, "%s", ", prices: {EUR: 0}", 1), ""},
		"a negative price":                  {strings.Replace(product, "%s", ", prices: {EUR: -1}", 1), "prices.EUR must not be negative"},
		"a fraction of a cent":              {strings.Replace(product, "%s", ", prices: {EUR: 19.90}", 1), "line 1: 19.90 is not a whole number"},
		"a bad currency":                    {strings.Replace(product, "%s", ", prices: {euro: 1}", 1), `"euro"`},
		"an entitlement":                    {strings.Replace(product, "%s", ", entitlements: {a: true, b: 1}", 1), ""},
		"an entitlement to none of it":      {strings.Replace(product, "%s", ", entitlements: {a: false}", 1), "true or a whole number"},
		"a quota of zero":                   {strings.Replace(product, "%s", ", entitlements: {a: 0}", 1), "entitlements.a must be true or positive"},
		"a fractional quota":                {strings.Replace(product, "%s", ", entitlements: {a: 0.5}", 1), "true or a whole number"},
		"a quota as text":                   {strings.Replace(product, "%s", ", entitlements: {a: '5'}", 1), "true or a whole number"},
		"an aggregation":                    {strings.Replace(meter, "sum", "avg", 1), "meters[0].aggregation_type must be one of"},
		"a reset interval":                  {strings.Replace(meter, "reset_interval: none", "reset_interval: never", 1), "meters[0].reset_interval must be one of"},
		"an enforcement":                    {strings.Replace(meter, "quota_enforcement: none", "quota_enforcement: firm", 1), "meters[0].quota_enforcement must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := catalog.Parse([]byte(strings.Replace(tt.text, "%s", "", 1)))
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error = %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("error = %v, want one with %q", err, tt.want)
			}
		})
	}

	_, err := catalog.Parse([]byte("features: [{code: a}, {code: b}]"))
	if err == nil || strings.Count(err.Error(), "is required") != 2 {
		t.Errorf("not all broken rules are told: %v", err)
	}
}
