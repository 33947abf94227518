package catalog

import (
	"context"
	"fmt"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
)

// Difference is where a price of the provider is not what it is linked as (spec:
// Codes, psp_price_mismatch).
type Difference struct {
	Field    string `json:"field" enum:"currency,interval,amount,usage_type,active"`
	Expected any    `json:"expected"`
	Actual   any    `json:"actual"`
}

// differences compares what the provider sells with what is sold here: the
// currency's code, the interval as in "3 month", the amount in minor units. The
// actual value is null where the provider's price has none: paid once, or without
// one whole amount for a unit.
func differences(plan Plan, price Price, remote psp.Price) []Difference {
	var found []Difference
	note := func(field string, same bool, expected, actual any) {
		if !same {
			found = append(found, Difference{Field: field, Expected: expected, Actual: actual})
		}
	}
	note("currency", remote.Currency == price.Currency, price.Currency, remote.Currency)
	interval := fmt.Sprintf("%d %s", plan.Interval.Count, plan.Interval.Unit)
	if remote.IntervalUnit == "" {
		note("interval", false, interval, nil)
	} else {
		actual := fmt.Sprintf("%d %s", remote.IntervalCount, remote.IntervalUnit)
		note("interval", actual == interval, interval, actual)
	}
	note("amount", remote.UnitAmount != nil && *remote.UnitAmount == price.PriceCents, price.PriceCents, remote.UnitAmount)
	if remote.Metered {
		note("usage_type", false, "licensed", "metered")
	}
	note("active", remote.Active, true, remote.Active)
	return found
}

func mismatch(differences []Difference) error {
	return fault.Coded(fault.Invalid, fault.PSPPriceMismatch).With("mismatches", differences)
}

// chargeable refuses an amount that the provider would take for another one, or
// not at all. It is ErrNotFound for an unknown currency.
func (p *PSPPrices) chargeable(ctx context.Context, currency string, amount int64) error {
	c, err := p.catalog.Currency(ctx, currency)
	if err != nil {
		return err
	}
	if err := psp.CheckMinorUnits(c.Code, int(c.MinorUnits)); err != nil {
		return err
	}
	return psp.CheckAmount(c.Code, amount)
}
