package pricelink

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// errLinked refuses to link a price that has been linked in the meantime.
var errLinked = fault.NewCoded(fault.Invalid, fault.PSPPriceAlreadyLinked)

// Refusals of the field psp_price_id.
var (
	errPriceUnknown    = fault.OnField("psp_price_id", "validation.exists")
	errCurrencyUnknown = fault.OnField("psp_price_id", "validation.psp_price_currency_unknown")
	errCurrencyTaken   = fault.OnField("psp_price_id", "validation.psp_price_currency_taken")
)

// Refusals of the field product_id.
var (
	errProductUnknown  = fault.OnField("product_id", "validation.exists")
	errProductInactive = fault.OnField("product_id", "validation.psp_inactive")
	errOtherProduct    = fault.OnField("product_id", "validation.plan_product")
)

// errBusy gives up after too many changes in between.
var errBusy = fault.New(fault.Unavailable, "error.unavailable")

var (
	// errChanged says that a price is no longer what the provider was asked for.
	errChanged = errors.New("the price was changed in between")

	errNoOperation = errors.New("no operation is open")
)
