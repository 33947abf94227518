package invoices

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// Lower reduces the amount due of an unpaid invoice by a credit note, or increases it again for a
// negative amount. It refuses to change an amount that a payment in progress collects. The caller
// stores the invoice.
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

// PaidCharge returns the charge that paid an invoice, or nil if it was not paid by a charge.
func PaidCharge(ctx context.Context, st *kernel.Step, in *Invoice) (*payments.Charge, error) {
	paid, err := Payments.FindWhere(ctx, st.Q, `doc ->> '$.invoice' = ? AND doc ->> '$.status' = 'paid'`, in.ID)
	if err != nil || len(paid) == 0 {
		return nil, err
	}
	pi, err := payments.Intents.Get(ctx, st.Q, paid[0].Payment.PaymentIntent, "payment_intent")
	if err != nil || pi.LatestCharge == nil {
		return nil, err
	}
	return payments.Charges.Get(ctx, st.Q, *pi.LatestCharge, "charge")
}
