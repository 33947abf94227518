package invoice

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errNotFound    = fault.New(fault.NotFound, "error.not_found")
	errNotVoidable = fault.NewCoded(fault.Invalid, fault.InvoiceNotVoidable)
	errHasNotes    = fault.NewCoded(fault.Conflict, fault.InvoiceHasCreditNotes)
	errNotPayable  = fault.NewCoded(fault.Conflict, fault.InvoiceNotPayable)
	errNotPaid     = fault.NewCoded(fault.Invalid, fault.PaymentFailed)
)

var (
	errUnknownCustomer = errors.New("the customer does not belong to a tenant")
	errNotStored       = errors.New("the provider's invoice is not stored")
	errNoPlan          = errors.New("the invoice does not belong to a subscription of the tenant")
)
