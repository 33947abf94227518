package creditnote

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errNotFound      = fault.New(fault.NotFound, "error.not_found")
	errTooLarge      = fault.NewCoded(fault.Invalid, fault.AmountTooLarge)
	errNotCreditable = fault.NewCoded(fault.Conflict, fault.InvoiceNotCreditable)
	errNotFailed     = fault.NewCoded(fault.Conflict, fault.RefundNotFailed)
	errBusy          = fault.NewCoded(fault.Conflict, fault.SubscriptionBusy)
	errSettlement    = fault.OnField("settlement", "validation.settlement_none")
	errOneAmount     = fault.OnField("amount_cents", "validation.lines_or_amount")
)

// errNoNote means that the credit note does not exist.
var errNoNote = errors.New("no such credit note")
