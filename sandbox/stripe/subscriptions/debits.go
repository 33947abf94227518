package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// SettleDebit settles the debit of an invoice and updates the invoice and its subscription. It
// returns the invoice and reports whether it is paid.
func SettleDebit(ctx context.Context, st *kernel.Step, debit payments.Debit) (in *invoices.Invoice, paid bool, err error) {
	payment, in, err := invoices.PaidFor(ctx, st, debit.Intent)
	if err != nil {
		return nil, false, err
	}
	sub, err := All.Get(ctx, st.Q, in.SubscriptionID(), "subscription")
	if err != nil {
		return nil, false, err
	}
	before := sub.Clone()
	if paid, err = debit.Settle(ctx, st); err != nil {
		return nil, false, err
	}
	if paid {
		err = completeDebit(ctx, st, payment, in, sub)
	} else {
		err = paymentFailed(ctx, st, sub, in, debit.Intent.LastPaymentError)
	}
	if err != nil {
		return nil, false, err
	}
	return in, paid, Save(ctx, st, before, sub)
}

// completeDebit marks the invoice of a successful debit as paid.
func completeDebit(ctx context.Context, st *kernel.Step, payment *invoices.Payment, in *invoices.Invoice, sub *Subscription) error {
	if err := invoices.CompletePayment(ctx, st, payment, in); err != nil {
		return err
	}
	return paymentSucceeded(ctx, st, sub)
}
