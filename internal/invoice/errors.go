package invoice

import "github.com/tenantry/tenantry/internal/fault"

var (
	errNotFound    = fault.New(fault.NotFound, "error.not_found")
	errNotVoidable = fault.Coded(fault.Invalid, fault.InvoiceNotVoidable)
)
