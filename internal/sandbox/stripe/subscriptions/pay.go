package subscriptions

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// demand finalizes an invoice of a subscription, if it still is a draft, and has
// it paid with the subscription's card, whose owner is not there. The
// subscription's state follows the outcome; the caller stores it. A refusal of
// the card is returned, not an error.
func settleInvoice(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice) (refused *customers.PaymentError, err error) {
	return settleInvoiceWith(ctx, st, sub, in, nil, customers.BuyerAbsent)
}

// demandWith is demand with a card of the customer's instead of the
// subscription's, of which nil is the subscription's, and with the card's owner
// there or not.
func settleInvoiceWith(ctx context.Context, st *kernel.Step, sub *Subscription, in *invoices.Invoice, card *string, present customers.Presence) (refused *customers.PaymentError, err error) {
	if in.Status == invoices.Draft {
		if err := invoices.Finalize(ctx, st, in); err != nil {
			return nil, err
		}
	}
	if in.Status != invoices.Paid {
		pm, err := cardFor(ctx, st, sub, card)
		if err != nil {
			return nil, err
		}
		if refused, err = invoices.Collect(ctx, st, in, pm, present); err != nil {
			return nil, err
		}
	}
	if refused != nil {
		return refused, paymentFailed(ctx, st, sub, in)
	}
	if in.Status != invoices.Paid && sub.Status == Incomplete {
		sub.Status = Active // a debit is under way
	}
	return nil, paymentSucceeded(ctx, st, sub)
}

// defaultCard is what a subscription is paid with: its own card, or else its
// customer's; nil when there is none.
func defaultCard(ctx context.Context, st *kernel.Step, sub *Subscription) (*customers.PaymentMethod, error) {
	return cardFor(ctx, st, sub, sub.DefaultPaymentMethod)
}

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
		return nil, nil
	}
	return customers.PaymentMethods.Get(ctx, st.Q, *id, "default_payment_method")
}

// paymentMade lets a subscription that waited for a payment go on, once nothing
// is open on its latest invoice.
func paymentSucceeded(ctx context.Context, st *kernel.Step, sub *Subscription) error {
	switch sub.Status {
	case Incomplete, PastDue, Unpaid:
	default:
		return nil
	}
	latest, err := latestFinalized(ctx, st, sub)
	if err == nil && (latest == nil || latest.Status != invoices.Open) {
		sub.Status = Active
	}
	return err
}

// latestFinal is the newest invoice of a subscription that is no draft; nil when
// there is none.
func latestFinalized(ctx context.Context, st *kernel.Step, sub *Subscription) (*invoices.Invoice, error) {
	all, err := invoices.All.Where(ctx, st.Q,
		`doc ->> '$.customer' = ? AND doc ->> '$.parent.subscription_details.subscription' = ? AND doc ->> '$.status' <> 'draft'`, sub.Customer, sub.ID)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[len(all)-1], nil
}
