package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// settleInvoice finalizes an invoice of a subscription if it is a draft, and
// tries to pay it with the subscription's payment method while the buyer is
// absent. It returns why the payment was refused, or nil. It changes the
// subscription's status; the caller stores it.
func settleInvoice(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) (refused *customers.PaymentError, err error) {
	return settleInvoiceWith(ctx, st, sub, in, nil, customers.BuyerAbsent)
}

// settleInvoiceWith is settleInvoice with the customer's payment method card;
// nil is the subscription's. present says whether the buyer is there.
func settleInvoiceWith(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice, card *string, present customers.Presence) (refused *customers.PaymentError, err error) {
	if in.Status == invoices.StatusDraft {
		if err := invoices.Finalize(ctx, st, in); err != nil {
			return nil, err
		}
	}
	if in.Status != invoices.StatusPaid {
		pm, err := cardFor(ctx, st, sub, card)
		if err != nil && !errors.Is(err, errNoCard) {
			return nil, err
		}
		if pm != nil && pm.Delayed() && sub.waitsFor(in) {
			return nil, form.Refuse("", "", "A pending update cannot be paid by a bank debit.")
		}
		if refused, err = invoices.Collect(ctx, st, in, pm, present); err != nil {
			return nil, err
		}
	}
	return refused, recordOutcome(ctx, st, sub, in, refused)
}

// recordOutcome changes a subscription after an attempt to pay an invoice of it.
// The caller stores it.
func recordOutcome(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice, refused *customers.PaymentError) error {
	switch {
	case refused != nil && sub.waitsFor(in):
		return storeFailure(ctx, st, in, refused)
	case refused != nil:
		return paymentFailed(ctx, st, sub, in, refused)
	case sub.waitsFor(in):
		return applyPending(ctx, st, sub)
	case in.Status != invoices.StatusPaid && sub.Status == StatusIncomplete:
		sub.Status = StatusActive // a debit is under way
		return nil
	}
	return paymentSucceeded(ctx, st, sub)
}

// Authenticate ends the wait for the payer of an invoice, who confirmed or
// refused. It returns why the invoice is not paid, or nil. Errors:
// kernel.ErrAbsent if nobody waits.
func Authenticate(ctx context.Context, st *kernel.Step, in *invoices.Invoice, confirmed bool) (refused *customers.PaymentError, err error) {
	sub, err := All.Get(ctx, st.Q, in.Parent.SubscriptionDetails.Subscription, "subscription")
	if err != nil {
		return nil, err
	}
	before := sub.Clone()
	if refused, err = invoices.Authenticate(ctx, st, in, confirmed); err != nil {
		return nil, err
	}
	if err := recordOutcome(ctx, st, sub, in, refused); err != nil {
		return nil, err
	}
	return refused, Save(ctx, st, before, sub)
}

// PayWith tries to pay an open invoice with a payment method while its owner is
// present. It returns why the invoice is not paid, or nil.
func PayWith(ctx context.Context, st *kernel.Step, in *invoices.Invoice, pm string) (refused *customers.PaymentError, err error) {
	sub, err := All.Get(ctx, st.Q, in.Parent.SubscriptionDetails.Subscription, "subscription")
	if err != nil {
		return nil, err
	}
	before := sub.Clone()
	if refused, err = settleInvoiceWith(ctx, st, sub, in, &pm, customers.BuyerPresent); err != nil {
		return nil, err
	}
	return refused, Save(ctx, st, before, sub)
}

// errNoCard says that neither a subscription nor its customer has a payment
// method.
var errNoCard = errors.New("there is no payment method")

// defaultCard reads what a subscription is paid with: its own payment method or
// else its customer's. Errors: errNoCard.
func defaultCard(ctx context.Context, st *kernel.Step, sub *Subscription) (*customers.PaymentMethod, error) {
	return cardFor(ctx, st, sub, sub.DefaultPaymentMethod)
}

// cardFor reads the payment method with the id, or what a subscription is paid
// with if id is nil. Errors: errNoCard.
func cardFor(ctx context.Context, st *kernel.Step, sub *Subscription, id *string) (*customers.PaymentMethod, error) {
	if id == nil {
		id = sub.DefaultPaymentMethod
	}
	if id == nil {
		cu, err := customers.All.Get(ctx, st.Q, sub.Customer, "customer")
		if err != nil {
			return nil, err
		}
		id = cu.InvoiceSettings.DefaultPaymentMethod
	}
	if id == nil {
		return nil, errNoCard
	}
	return customers.PaymentMethods.Get(ctx, st.Q, *id, "default_payment_method")
}

// paymentSucceeded makes a subscription that waited for a payment active,
// unless its latest invoice is open. The caller stores it.
func paymentSucceeded(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	switch sub.Status {
	case StatusIncomplete, StatusPastDue, StatusUnpaid:
	default:
		return nil
	}
	latest, err := latestFinalized(ctx, st, sub)
	if err != nil && !errors.Is(err, kernel.ErrNotFound) {
		return err
	}
	if err != nil || latest.Status != invoices.StatusOpen {
		sub.Status = StatusActive
	}
	return nil
}

// latestFinalized reads the newest invoice of a subscription that is not a
// draft. Errors: kernel.ErrAbsent.
func latestFinalized(ctx context.Context, st *kernel.Step, sub *Subscription) (*invoices.Invoice, error) {
	all, err := invoices.All.FindWhere(ctx, st.Q,
		`doc ->> '$.customer' = ? AND doc ->> '$.parent.subscription_details.subscription' = ? AND doc ->> '$.status' <> 'draft'`, sub.Customer, sub.ID)
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, kernel.ErrNotFound
	}
	return all[len(all)-1], nil
}
