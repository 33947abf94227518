package currency

import "github.com/tenantry/tenantry/internal/fault"

// ErrInUse means that a price, meter, checkout, subscription, invoice or tenant uses the currency,
// which therefore cannot be deleted. It is also returned for a change of the number of decimals
// while amounts are stored in the currency, and for the deactivation or deletion of the base currency.
var ErrInUse = fault.NewCoded(fault.Conflict, fault.CurrencyInUse)

var errTaken = fault.OnField("code", "validation.taken")
