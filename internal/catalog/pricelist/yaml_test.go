package pricelist_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// drawText draws a text that the API accepts, preferring texts that YAML could read as another
// type.
func drawText(t *rapid.T, name string, multiline bool) string {
	awkward := []string{
		"yes", "null", "~", "1e3", "0x1F", "-", "- a", "a: b", "# c", " #", "'", `"`, `\n`, "{", "[a]", "&a", "*a", "!x", "%", "@", "`", "|", ">",
		"=", "<<", "2026-01-31", "é", "🎉", "\u200d", "\u2028", "\u00a0", "\ufeff", "\U0001f469\u200d\U0001f680", ":", " ", "\\U0001F389", "…",
	}
	if multiline {
		awkward = append(awkward, "\n", "\n\n", "\r\n", "\t", "\n ", " \n", "\n\t")
	}
	part := rapid.OneOf(rapid.SampledFrom(awkward), rapid.StringOfN(rapid.Rune(), 0, 6, -1))
	text := strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, name), "")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && (!multiline || !strings.ContainsRune("\n\r\t", r)) || !multiline && shape.NotInName(r) {
			return -1
		}
		return r
	}, text)
	if strings.TrimSpace(text) == "" {
		return "x"
	}
	return norm.NFC.String(text) // stored texts are in NFC
}

func drawMetadata(t *rapid.T) pricelist.Metadata {
	return rapid.SampledFrom([]pricelist.Metadata{
		"", `{}`, `{"a":1}`, `{"a":{"b":[1,-2.5,true,false,null,"null","1e3",""]},"yes":"no"}`, `{"":[]}`,
		`{"k":123456789012345678901234567890,"n":0.000000000000000000000001}`, `{"🎉":"line\nbreak\ttab \u2028 <&>"}`,
	}).Draw(t, "metadata")
}

// Every catalog that the API accepts survives a round trip through YAML, and the second encoding
// has the same bytes.
func TestYAMLIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		label := drawText(t, "unit", false)
		price, err := money.ParseUnitPrice(rapid.SampledFrom([]string{"0", "1", "0.000000000001", "1000000000000", "12.5"}).Draw(t, "price"))
		if err != nil {
			t.Fatal(err)
		}
		id := "price_" + strings.TrimSpace(drawText(t, "link", false))
		quota := rapid.Int64Min(1).Draw(t, "quota")
		wanted := pricelist.Catalog{
			Currencies: []pricelist.CurrencyData{{Code: "JPY", Name: drawText(t, "currency", false), Symbol: "¥", MinorUnits: 0}},
			Features: []pricelist.FeatureData{{
				Code: rapid.SampledFrom([]string{"a", "null", "1", "1e3", "0x1F", "-", "true"}).Draw(t, "code"), Metadata: drawMetadata(t),
				Name:        pricelist.Text{"en": drawText(t, "name", false), "fr": drawText(t, "nom", false)},
				Description: pricelist.Text{"en": drawText(t, "description", true)}, IsActive: pricelist.BoolOrNil(rapid.Bool().Draw(t, "active")),
			}},
			Products: []pricelist.ProductData{{
				Slug: "p", Name: pricelist.Text{"en": "P"}, Metadata: drawMetadata(t),
				Plans: []pricelist.PlanData{{
					Slug: "x", Name: pricelist.Text{"en": "X"}, PricingType: catalog.PricingFlat, BillingCycle: "monthly",
					Prices: map[string]pricelist.PriceData{
						"EUR": {PriceCents: rapid.Int64Min(0).Draw(t, "cents"), Link: pricelist.LinkTo(&id)}, "JPY": {}, "USD": {Link: pricelist.Link{Given: true}},
					},
					Entitlements: map[string]pricelist.Grant{"a": {}, "b": {Quota: &quota}},
				}},
			}},
			Meters: []pricelist.MeterData{{
				Code: "m", Name: drawText(t, "meter", false), AggregationType: "sum", ResetInterval: "none", QuotaEnforcement: "none", UnitLabel: &label,
				Prices: map[string]pricelist.UnitPriceData{"EUR": {UnitPrice: price, Link: pricelist.LinkTo(&id)}, "USD": {UnitPrice: price}},
			}},
		}
		text, err := wanted.YAML()
		if err != nil {
			t.Fatal(err)
		}
		read, err := pricelist.Parse(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		same := cmp.Options{cmpopts.IgnoreUnexported(pricelist.Catalog{}), cmp.Comparer(func(a, b money.UnitPrice) bool { return a == b })}
		if diff := cmp.Diff(wanted, read, same); diff != "" {
			t.Fatalf("(-written +read)\n%s\n%s", diff, text)
		}
		again, err := read.YAML()
		if err != nil || string(again) != string(text) {
			t.Fatalf("%v; written again as\n%s\nwas\n%s", err, again, text)
		}
	})
}
