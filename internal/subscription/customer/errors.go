package customer

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	// ErrNone means that the tenant does not have a customer at the payment provider.
	ErrNone = errors.New("the tenant does not have a customer at the payment provider")
	// ErrForeign means that the payment provider's customer belongs to no tenant.
	ErrForeign = errors.New("the customer of the payment provider does not belong to a tenant")
)

// Errors that reject a request.
var (
	errNoTenant         = fault.New(fault.NotFound, "error.not_found")
	errNoCustomer       = fault.New(fault.Invalid, "error.no_billing_customer")
	errPortalUnset      = fault.NewCoded(fault.Invalid, fault.PortalNotConfigured)
	errForeignReturnURL = fault.OnField("return_url", "validation.frontend_url")
)
