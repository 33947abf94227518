package invoices

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// Close voids an invoice or marks it uncollectible. It refuses to void an invoice whose payment is
// processing.
func Close(ctx context.Context, st *kernel.Step, in *Invoice, status string) error {
	now := st.Now
	in.Status, in.NextPaymentAttempt, in.AutoAdvance = status, nil, false
	for _, timer := range []string{TimerRetries, TimerDue} {
		if err := st.StopTimer(ctx, timer, in.ID); err != nil {
			return err
		}
	}
	if status == StatusUncollectible {
		in.StatusTransitions.MarkedUncollectibleAt = &now
		return st.Create(ctx, "invoice.marked_uncollectible", in)
	}
	reason := "void_invoice"
	if err := cancelPayment(ctx, st, in, &reason); err != nil {
		return err
	}
	if err := restoreBalance(ctx, st, in); err != nil {
		return err
	}
	in.StatusTransitions.VoidedAt = &now
	return st.Create(ctx, "invoice.voided", in)
}

// cancelPayment cancels the open payment of an invoice. It refuses to cancel a payment in progress.
func cancelPayment(ctx context.Context, st *kernel.Step, in *Invoice, reason *string) error {
	payment, pi, err := openPayment(ctx, st, in)
	switch {
	case err != nil:
		return err
	case pi.Status == payments.StatusProcessing:
		return form.Refuse("", "payment_intent_unexpected_state", "A payment of this invoice is still processing.")
	}
	now := st.Now
	pi.Status, pi.CanceledAt, pi.CancellationReason, pi.NextAction = "canceled", &now, reason, nil
	if err := st.Create(ctx, "payment_intent.canceled", pi); err != nil {
		return err
	}
	payment.Status, payment.StatusTransitions.CanceledAt = "canceled", &now
	return kernel.Put(ctx, st.Q, payment)
}

// restoreBalance returns the balance that was applied to the invoice to the customer.
func restoreBalance(ctx context.Context, st *kernel.Step, in *Invoice) error {
	cu, err := customers.All.Get(ctx, st.Q, in.Customer, "customer")
	if err != nil || cu.Deleted {
		return err
	}
	before := *cu
	cu.Balance += in.StartingBalance - *in.EndingBalance
	return st.Change(ctx, "customer.updated", before, cu)
}
