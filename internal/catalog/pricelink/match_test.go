package pricelink

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
)

// The provider's price must be equal in each field. Differing fields are reported in a fixed order.
func TestMismatches(t *testing.T) {
	t.Parallel()
	plan := catalog.Plan{Interval: catalog.Interval{Unit: "month", Count: 3}}
	price := catalog.Price{Currency: "EUR", PriceCents: 1900}
	amount := func(n int64) *int64 { return &n }
	none := (*int64)(nil)
	for name, tt := range map[string]struct {
		change func(p *psp.Price)
		want   []Mismatch
	}{
		"nothing": {func(*psp.Price) {}, nil},
		"texts for people": {func(p *psp.Price) {
			p.ID, p.ProductID, p.Nickname, p.Metadata = "price_2", "prod_2", "Team", map[string]string{"a": "b"}
		}, nil},
		"the currency":     {func(p *psp.Price) { p.Currency = "USD" }, []Mismatch{{"currency", "EUR", "USD"}}},
		"the unit":         {func(p *psp.Price) { p.IntervalUnit = "year" }, []Mismatch{{"interval", "3 month", "3 year"}}},
		"the count":        {func(p *psp.Price) { p.IntervalCount = 1 }, []Mismatch{{"interval", "3 month", "1 month"}}},
		"paid once":        {func(p *psp.Price) { p.IntervalUnit, p.IntervalCount = "", 0 }, []Mismatch{{"interval", "3 month", nil}}},
		"a cent more":      {func(p *psp.Price) { p.UnitAmount = amount(1901) }, []Mismatch{{"amount", int64(1900), amount(1901)}}},
		"for nothing":      {func(p *psp.Price) { p.UnitAmount = amount(0) }, []Mismatch{{"amount", int64(1900), amount(0)}}},
		"no whole amount":  {func(p *psp.Price) { p.UnitAmount = nil }, []Mismatch{{"amount", int64(1900), none}}},
		"by usage":         {func(p *psp.Price) { p.Metered = true }, []Mismatch{{"usage_type", "licensed", "metered"}}},
		"taken off sale":   {func(p *psp.Price) { p.Active = false }, []Mismatch{{"active", true, false}}},
		"a unit of months": {func(p *psp.Price) { p.IntervalUnit, p.IntervalCount = "day", 90 }, []Mismatch{{"interval", "3 month", "90 day"}}},
		"everything": {func(p *psp.Price) { *p = psp.Price{Currency: "USD", Metered: true} }, []Mismatch{
			{"currency", "EUR", "USD"},
			{"interval", "3 month", nil},
			{"amount", int64(1900), none},
			{"usage_type", "licensed", "metered"},
			{"active", true, false},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			remote := psp.Price{ID: "price_1", Currency: "EUR", UnitAmount: amount(1900), IntervalUnit: "month", IntervalCount: 3, Active: true}
			tt.change(&remote)
			if diff := cmp.Diff(tt.want, mismatches(plan, price, remote)); diff != "" {
				t.Error(diff)
			}
		})
	}
	free := catalog.Price{Currency: "EUR"}
	if found := mismatches(plan, free, psp.Price{Currency: "EUR", IntervalUnit: "month", IntervalCount: 3, Active: true}); len(found) != 1 {
		t.Errorf("price without an amount equals 0: %v", found)
	}
}
