package customer

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	// ErrNone says that a tenant has no customer at the payment provider.
	ErrNone = errors.New("the tenant has no customer at the payment provider")
	// ErrForeign says that a customer of the payment provider is no tenant's.
	ErrForeign = errors.New("the customer of the payment provider belongs to no tenant")
)

// The refusals that callers are told.
var (
	errNoTenant         = fault.New(fault.NotFound, "error.not_found")
	errNoCustomer       = fault.New(fault.Invalid, "error.no_billing_customer")
	errPortalUnset      = fault.NewCoded(fault.Invalid, fault.PortalNotConfigured)
	errForeignReturnURL = fault.OnField("return_url", "validation.frontend_url")
)
