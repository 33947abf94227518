package psp

import (
	"context"
	"errors"
	"strings"

	"github.com/tenantry/tenantry/internal/psp/charge"
)

// units returns the units of a currency, or charge.ErrMinorUnits if it cannot be charged. For a
// currency that this service does not have, it returns the provider's units.
func (c *Client) units(ctx context.Context, currency string) (charge.Units, error) {
	if c.decimals == nil {
		return charge.ProviderUnits(currency), nil
	}
	decimals, known, err := c.decimals(ctx, strings.ToUpper(currency))
	if err != nil {
		return charge.Units{}, charge.LookupError(err)
	}
	if !known {
		return charge.ProviderUnits(currency), nil
	}
	return charge.UnitsOf(currency, decimals)
}

// UnitsRead returns the units for reading amounts of a currency. If the currency cannot be charged,
// the service has not sold anything in it, and the amounts of other sales are in the provider's
// units.
func (c *Client) UnitsRead(ctx context.Context, currency string) (charge.Units, error) {
	u, err := c.units(ctx, currency)
	if errors.Is(err, charge.ErrMinorUnits) {
		return charge.ProviderUnits(currency), nil
	}
	return u, err
}
