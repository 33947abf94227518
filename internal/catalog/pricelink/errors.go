package pricelink

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// errLinked means that the price has been linked concurrently.
var errLinked = fault.NewCoded(fault.Invalid, fault.PSPPriceAlreadyLinked)

// Errors on the field psp_price_id.
var (
	errPriceUnknown    = fault.OnField("psp_price_id", "validation.exists")
	errCurrencyUnknown = fault.OnField("psp_price_id", "validation.psp_price_currency_unknown")
	errCurrencyTaken   = fault.OnField("psp_price_id", "validation.psp_price_currency_taken")
)

// Errors on the field product_id.
var (
	errProductUnknown  = fault.OnField("product_id", "validation.exists")
	errProductInactive = fault.OnField("product_id", "validation.psp_inactive")
	errOtherProduct    = fault.OnField("product_id", "validation.plan_product")
)

// errBusy means that the operation gave up after too many concurrent changes.
var errBusy = fault.New(fault.Unavailable, "error.unavailable")

var (
	// errChanged means that the price no longer has the terms that were sent to the provider.
	errChanged = errors.New("the price was changed concurrently")

	errNoOperation = errors.New("no operation is open")
)
