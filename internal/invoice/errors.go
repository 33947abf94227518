package invoice

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errNotFound    = fault.New(fault.NotFound, "error.not_found")
	errNotVoidable = fault.Coded(fault.Invalid, fault.InvoiceNotVoidable)
	errNotPayable  = fault.Coded(fault.Conflict, fault.InvoiceNotPayable)
	errNotPaid     = fault.Coded(fault.Invalid, fault.PaymentFailed)
)

var (
	errUnknownCustomer = errors.New("the customer belongs to no tenant")
	errNotKept         = errors.New("nothing is stored of the provider's invoice")
	errNoPlan          = errors.New("the invoice bills no subscription of the tenant")
)
