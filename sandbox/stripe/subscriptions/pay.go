package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// settleInvoice finalizes a subscription's invoice if it is a draft, and tries to pay it with the
// subscription's payment method while the buyer is absent. It returns the reason if the payment was
// refused, or nil. It changes the subscription's status; the caller stores it. It does nothing if
// the invoice is sent to the customer.
func settleInvoice(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) (refused *customers.PaymentError, err error) {
	if in.IsSent() {
		return nil, nil //nolint:nilnil // a sent invoice is not charged
	}
	return settleInvoiceWith(ctx, st, sub, in, nil, customers.BuyerAbsent)
}

// settleInvoiceWith is like settleInvoice but uses the payment method card. If card is nil, it uses
// the subscription's payment method.
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
		if pm != nil && pm.IsDelayed() && sub.waitsFor(in) {
			return nil, form.Refuse("", "", "A pending update cannot be paid by a bank debit.")
		}
		if refused, err = invoices.Collect(ctx, st, in, pm, present); err != nil {
			return nil, err
		}
		if pm != nil && in.Status == invoices.StatusPaid && sub.PaymentSettings.SaveDefault == saveOnSubscription {
			sub.DefaultPaymentMethod = &pm.ID
		}
	}
	return refused, recordOutcome(ctx, st, sub, in, refused)
}

// recordOutcome updates a subscription after an attempt to pay its invoice. The caller stores it.
func recordOutcome(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice, refused *customers.PaymentError) error {
	switch {
	case refused != nil && sub.waitsFor(in):
		return storeFailure(ctx, st, in, refused)
	case refused != nil:
		return paymentFailed(ctx, st, sub, in, refused)
	case sub.waitsFor(in):
		return applyPending(ctx, st, sub)
	case in.Status != invoices.StatusPaid && sub.Status == StatusIncomplete:
		sub.Status = StatusActive // a debit is processing
		return nil
	}
	return paymentSucceeded(ctx, st, sub)
}

// Authenticate records whether the payer of an invoice confirmed the payment. It returns the reason
// why the invoice is not paid, or nil. It returns kernel.ErrNotFound if the payment does not wait
// for a confirmation.
func Authenticate(ctx context.Context, st *kernel.Step, in *invoices.Invoice, confirmed bool) (refused *customers.PaymentError, err error) {
	sub, err := All.Get(ctx, st.Q, in.SubscriptionID(), "subscription")
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

// PayWith tries to pay an open invoice with a payment method while the buyer is present. It returns
// the reason why the invoice is not paid, or nil.
func PayWith(ctx context.Context, st *kernel.Step, in *invoices.Invoice, pm string) (refused *customers.PaymentError, err error) {
	sub, err := All.Get(ctx, st.Q, in.SubscriptionID(), "subscription")
	if err != nil {
		return nil, err
	}
	before := sub.Clone()
	if refused, err = settleInvoiceWith(ctx, st, sub, in, &pm, customers.BuyerPresent); err != nil {
		return nil, err
	}
	return refused, Save(ctx, st, before, sub)
}

// errNoCard means that neither the subscription nor its customer has a payment method.
var errNoCard = errors.New("the payment method is missing")

// defaultCard returns the payment method of a subscription, or else of its customer. It returns
// errNoCard if both are missing.
func defaultCard(ctx context.Context, st *kernel.Step, sub *Subscription) (*customers.PaymentMethod, error) {
	return cardFor(ctx, st, sub, sub.DefaultPaymentMethod)
}

// cardFor returns the payment method with the id. If id is nil, it returns the subscription's
// payment method, or else the customer's. It returns errNoCard if both are missing.
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

// paymentSucceeded activates a subscription that was waiting for a payment, unless its latest
// invoice is open. The caller stores it.
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

// latestFinalized returns the newest invoice of a subscription that is not a draft. It returns
// kernel.ErrNotFound if all invoices are drafts.
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
