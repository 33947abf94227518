package invoice

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errNotFound    = fault.New(fault.NotFound, "error.not_found")
	errNotVoidable = fault.NewCoded(fault.Invalid, fault.InvoiceNotVoidable)
	errNotPayable  = fault.NewCoded(fault.Conflict, fault.InvoiceNotPayable)
	errNotPaid     = fault.NewCoded(fault.Invalid, fault.PaymentFailed)
)

var (
	errUnknownCustomer = errors.New("the customer belongs to no tenant")
	errNotStored       = errors.New("nothing is stored of the provider's invoice")
	errNoPlan          = errors.New("the invoice bills no subscription of the tenant")
)
