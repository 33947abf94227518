package currency

import "github.com/tenantry/tenantry/internal/fault"

// ErrInUse refuses to delete a currency that a price, meter, checkout,
// subscription, invoice or tenant uses. It also refuses to change the number of
// decimals while amounts are stored in the currency.
var ErrInUse = fault.NewCoded(fault.Conflict, fault.CurrencyInUse)

var errTaken = fault.OnField("code", "validation.taken")
