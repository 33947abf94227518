package invoices

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// Lower reduces the amount due of an unpaid invoice by the amount of a credit note. A negative
// amount increases it again. Lower refuses the change while a payment of the invoice is processing.
// The caller stores the invoice.
func (in *Invoice) Lower(ctx context.Context, st *kernel.Step, amount int64) error {
	payment, pi, err := openPayment(ctx, st, in)
	switch {
	case err != nil:
		return err
	case pi.Status == payments.StatusProcessing:
		return form.Refuse("", "payment_intent_unexpected_state", "A payment of this invoice is still processing.")
	}
	in.AmountDue, in.AmountRemaining = in.AmountDue-amount, in.AmountRemaining-amount
	in.PrePaymentCreditNotes += amount
	pi.Amount, payment.AmountRequested = pi.Amount-amount, payment.AmountRequested-amount
	if err := kernel.Put(ctx, st.Q, pi); err != nil {
		return err
	}
	return kernel.Put(ctx, st.Q, payment)
}
