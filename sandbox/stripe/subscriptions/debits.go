package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
)

// SettleDebit returns the action that settles a debit and updates its invoice and subscription. It
// then calls tell with the invoice and the name of the checkout session's event, because the
// invoice may belong to a checkout session.
func SettleDebit(tell func(ctx context.Context, st *kernel.Step, in *invoices.Invoice, event string) error) kernel.Action {
	return func(ctx context.Context, st *kernel.Step, id string) error {
		pi, err := payments.Intents.Get(ctx, st.Q, id, "id")
		if err != nil || pi.Status != payments.StatusProcessing {
			return err
		}
		ch, err := payments.Charges.Get(ctx, st.Q, *pi.LatestCharge, "charge")
		if err != nil {
			return err
		}
		payment, in, err := invoices.PaidFor(ctx, st, pi)
		if err != nil {
			return err
		}
		sub, err := All.Get(ctx, st.Q, in.Parent.SubscriptionDetails.Subscription, "subscription")
		if err != nil {
			return err
		}
		before, event := sub.Clone(), "checkout.session.async_payment_succeeded"
		if ch.PaymentMethodDetails.SepaDebit.Last4 == "3001" {
			event = "checkout.session.async_payment_failed"
			err = debitFails(ctx, st, pi, ch, in, sub)
		} else {
			err = debitSucceeds(ctx, st, pi, ch, payment, in, sub)
		}
		if err != nil {
			return err
		}
		if err := Save(ctx, st, before, sub); err != nil {
			return err
		}
		return tell(ctx, st, in, event)
	}
}

// debitSucceeds records a successful debit and marks its invoice as paid.
func debitSucceeds(ctx context.Context, st *kernel.Step, pi *payments.Intent, ch *payments.Charge, payment *invoices.Payment, in *invoices.Invoice, sub *Subscription) error {
	ch.Status, ch.Paid = "succeeded", true
	if err := st.Create(ctx, "charge.succeeded", ch); err != nil {
		return err
	}
	pi.Status, pi.AmountReceived = "succeeded", pi.Amount
	if err := st.Create(ctx, "payment_intent.succeeded", pi); err != nil {
		return err
	}
	if err := invoices.CompletePayment(ctx, st, payment, in); err != nil {
		return err
	}
	return paymentSucceeded(ctx, st, sub)
}

// debitFails records a failed debit.
func debitFails(ctx context.Context, st *kernel.Step, pi *payments.Intent, ch *payments.Charge, in *invoices.Invoice, sub *Subscription) error {
	code, message := "insufficient_funds", "The customer's account has insufficient funds to cover this payment."
	ch.Status, ch.Captured, ch.AmountCaptured = "failed", false, 0
	ch.FailureCode, ch.FailureMessage = &code, &message
	if err := st.Create(ctx, "charge.failed", ch); err != nil {
		return err
	}
	pi.Status, pi.PaymentMethod = "requires_payment_method", nil
	pi.LastPaymentError = &customers.PaymentError{Charge: ch.ID, Code: code, Message: message, Type: "invalid_request_error"}
	if err := st.Create(ctx, "payment_intent.payment_failed", pi); err != nil {
		return err
	}
	return paymentFailed(ctx, st, sub, in, pi.LastPaymentError)
}
