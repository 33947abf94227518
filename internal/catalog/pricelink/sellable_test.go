package pricelink

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// unit parses a unit price.
func unit(t *testing.T, text string) money.UnitPrice {
	t.Helper()
	price, err := money.ParseUnitPrice(text)
	if err != nil {
		t.Fatal(err)
	}
	return price
}

// The first obstacle is reported: the plan's own price first, then the meters by code. Prices of
// unknown state are not obstacles.
func TestObstacles(t *testing.T) {
	t.Parallel()
	link, whole := "price_plan", int64(1900)
	good := func() map[string]state {
		return map[string]state{
			"price_plan": {Price: psp.Price{
				Currency: "EUR", UnitAmount: &whole, IntervalUnit: "month", IntervalCount: 1, Active: true,
			}},
			"price_calls": {Price: psp.Price{
				Currency: "EUR", UnitPrice: "0.25", IntervalUnit: "month", IntervalCount: 1, Active: true, Metered: true,
			}},
			"price_mails": {Price: psp.Price{
				Currency: "EUR", UnitPrice: "2", IntervalUnit: "month", IntervalCount: 1, Active: true, Metered: true,
			}},
		}
	}
	metered := []MeterPrice{
		{MeterCode: "calls", PSPPriceID: "price_calls", UnitPrice: unit(t, "0.25")},
		{MeterCode: "mails", PSPPriceID: "price_mails", UnitPrice: unit(t, "2")},
	}
	for name, tt := range map[string]struct {
		pricing catalog.PricingType
		cents   int64
		units   int64
		// currency defaults to EUR. meters is the number of additional meters of unknown state.
		currency string
		meters   int
		change   func(states map[string]state, plan *catalog.Plan)
		want     Obstacle
	}{
		"nothing": {
			pricing: catalog.PricingUsage,
		},
		"nothing is known": {
			pricing: catalog.PricingUsage,
			change:  func(states map[string]state, _ *catalog.Plan) { clear(states) },
		},
		"missing there": {
			change: func(states map[string]state, _ *catalog.Plan) { states["price_plan"] = state{missing: true} },
			want:   Obstacle{PriceStatus: StatusMissingAtStripe},
		},
		"inactive": {
			change: func(states map[string]state, _ *catalog.Plan) {
				now := states["price_plan"]
				now.Active = false
				states["price_plan"] = now
			},
			want: Obstacle{PriceStatus: StatusInactive},
		},
		"another interval": {
			change: func(_ map[string]state, plan *catalog.Plan) { plan.Interval.Count = 3 },
			want:   Obstacle{PriceStatus: StatusMismatched},
		},
		"another amount": {
			cents: 1901,
			want:  Obstacle{PriceStatus: StatusMismatched},
		},
		"below the minimum": {
			cents: 49,
			want:  Obstacle{PriceStatus: StatusBelowMinimum},
		},
		"two seats below it": {
			pricing: catalog.PricingSeat,
			cents:   24,
			units:   2,
			want:    Obstacle{PriceStatus: StatusBelowMinimum},
		},
		"two seats that are enough": {
			pricing: catalog.PricingSeat,
			cents:   25,
			units:   2,
			want:    Obstacle{PriceStatus: StatusMismatched}, // the linked price has another amount
		},
		"too much": {
			cents: 100_000_000,
			want:  Obstacle{PriceStatus: StatusUnchargeable},
		},
		"a meter that is missing there": {
			pricing: catalog.PricingUsage,
			change:  func(states map[string]state, _ *catalog.Plan) { states["price_mails"] = state{missing: true} },
			want:    Obstacle{PriceStatus: StatusMissingAtStripe, MeterCode: "mails"},
		},
		"a meter that is inactive, before another": {
			pricing: catalog.PricingUsage,
			change: func(states map[string]state, _ *catalog.Plan) {
				states["price_calls"] = state{}
				states["price_mails"] = state{missing: true}
			},
			want: Obstacle{PriceStatus: StatusInactive, MeterCode: "calls"},
		},
		"a meter of another interval": {
			pricing: catalog.PricingUsage,
			change: func(states map[string]state, _ *catalog.Plan) {
				now := states["price_mails"]
				now.IntervalUnit = "year"
				states["price_mails"] = now
			},
			want: Obstacle{PriceStatus: StatusMismatched, MeterCode: "mails"},
		},
		"a currency that the provider does not support": {
			currency: "IRR",
			want:     Obstacle{PriceStatus: StatusCurrencyUnsupported},
		},
		"19 meters": {
			pricing: catalog.PricingUsage,
			meters:  19,
		},
		"20 meters": {
			pricing: catalog.PricingUsage,
			meters:  20,
			want:    Obstacle{PriceStatus: StatusTooManyMeters},
		},
		"20 meters that a flat plan does not sell": {
			meters: 20,
		},
		"a meter that a flat plan does not sell": {
			change: func(states map[string]state, _ *catalog.Plan) { states["price_mails"] = state{missing: true} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			states := good()
			plan := catalog.Plan{PricingType: catalog.PricingFlat, Interval: catalog.Interval{Unit: "month", Count: 1}}
			price := catalog.Price{Currency: "EUR", PriceCents: whole, PSPPriceID: &link}
			if tt.pricing != "" {
				plan.PricingType = tt.pricing
			}
			if tt.cents != 0 {
				price.PriceCents = tt.cents
			}
			if tt.change != nil {
				tt.change(states, &plan)
			}
			v := &view{currency: catalog.Currency{Code: cmp.Or(tt.currency, "EUR"), MinorUnits: 2}, metered: metered, states: states}
			if tt.meters > 0 {
				v.metered = slices.Repeat([]MeterPrice{{MeterCode: "more", PSPPriceID: "price_more"}}, tt.meters)
			}
			got, is := v.findObstacle(plan, price, max(tt.units, 1))
			if diff := gocmp.Diff(tt.want, got); diff != "" || is != (tt.want != Obstacle{}) {
				t.Errorf("%t %s", is, diff)
			}
		})
	}
}

// The number of units per sale is limited by the provider's maximum charge.
func TestChargeable(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		currency catalog.Currency
		cents    int64
		units    int64
		good     bool
	}{
		"a price":                   {catalog.Currency{Code: "EUR", MinorUnits: 2}, 1900, 1, true},
		"nothing, many times":       {catalog.Currency{Code: "EUR", MinorUnits: 2}, 0, 999_999, true},
		"the most":                  {catalog.Currency{Code: "EUR", MinorUnits: 2}, 99_999_999, 1, true},
		"twice the most":            {catalog.Currency{Code: "EUR", MinorUnits: 2}, 99_999_999, 2, false},
		"more than the most":        {catalog.Currency{Code: "EUR", MinorUnits: 2}, 100_000_000, 1, false},
		"many seats":                {catalog.Currency{Code: "EUR", MinorUnits: 2}, 100, 999_999, true},
		"a few seats more":          {catalog.Currency{Code: "EUR", MinorUnits: 2}, 101, 999_999, false},
		"too few decimals":          {catalog.Currency{Code: "EUR"}, 19, 1, false},
		"whole krónur":              {catalog.Currency{Code: "ISK"}, 1900, 1, true},
		"a part of a króna":         {catalog.Currency{Code: "ISK", MinorUnits: 2}, 1950, 1, false},
		"the most krónur":           {catalog.Currency{Code: "ISK"}, 999_999, 1, true},
		"a króna more than allowed": {catalog.Currency{Code: "ISK"}, 1_000_000, 1, false},
	} {
		v := &view{currency: tt.currency}
		if err := v.checkChargeable(tt.cents, tt.units); (err == nil) != tt.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The provider's price matches the meter's price, or the mismatches are reported.
func TestMeterMismatches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(p *psp.Price)
		want   []Mismatch
	}{
		"nothing":        {func(*psp.Price) {}, nil},
		"any interval":   {func(p *psp.Price) { p.IntervalUnit = "year" }, nil}, // plans with that interval can sell it
		"the currency":   {func(p *psp.Price) { p.Currency = "USD" }, []Mismatch{{"currency", "EUR", "USD"}}},
		"a little more":  {func(p *psp.Price) { p.UnitPrice = "0.250000000001" }, []Mismatch{{"amount", "0.25", "0.250000000001"}}},
		"no single one":  {func(p *psp.Price) { p.UnitPrice = "" }, []Mismatch{{"amount", "0.25", ""}}},
		"by quantity":    {func(p *psp.Price) { p.Metered = false }, []Mismatch{{"usage_type", "metered", "licensed"}}},
		"taken off sale": {func(p *psp.Price) { p.Active = false }, []Mismatch{{"active", true, false}}},
	} {
		remote := psp.Price{Currency: "EUR", UnitPrice: "0.25", IntervalUnit: "month", IntervalCount: 1, Active: true, Metered: true}
		tt.change(&remote)
		if diff := gocmp.Diff(tt.want, meterMismatches("EUR", unit(t, "0.25"), remote)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
