package pricelink

import (
	"context"
	"fmt"

	"github.com/tenantry/tenantry/internal/psp/charge"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
)

// Mismatch is a field in which a provider price differs from the local price.
type Mismatch struct {
	Field    string `json:"field" enum:"currency,interval,amount,usage_type,active,psp_price_id"`
	Expected any    `json:"expected"`
	Actual   any    `json:"actual"`
}

// mismatches compares a provider price with the local price: the currency code, the interval (as in
// "3 month") and the amount in minor units. The actual interval is null for a one-time price, and
// the actual amount is null for a price without a single integer amount per unit.
func mismatches(plan catalog.Plan, price catalog.Price, remote psp.Price) []Mismatch {
	var found []Mismatch
	note := func(field string, same bool, expected, actual any) {
		if !same {
			found = append(found, Mismatch{Field: field, Expected: expected, Actual: actual})
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

func mismatchError(found []Mismatch) error {
	return fault.NewCoded(fault.Invalid, fault.PSPPriceMismatch).With("mismatches", found)
}

// checkChargeable returns an error if the provider cannot charge the amount or would interpret it
// as another amount. It returns catalog.ErrNotFound for an unknown currency.
func (s *Service) checkChargeable(ctx context.Context, currency string, amount int64) error {
	c, err := s.catalog.Currency(ctx, currency)
	if err != nil {
		return err
	}
	if !charge.Supports(c.Code) {
		return charge.ErrCurrency
	}
	units, err := charge.UnitsOf(c.Code, int(c.MinorUnits))
	if err != nil {
		return err
	}
	return units.Check(amount)
}
