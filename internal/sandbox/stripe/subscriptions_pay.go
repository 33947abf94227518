package stripe

import "context"

// demand finalizes an invoice of a subscription, if it still is a draft, and has
// it paid with the subscription's card, whose owner is not there. The
// subscription's state follows the outcome; the caller stores it. A refusal of
// the card is returned, not an error.
func (st *step) demand(ctx context.Context, sub *subscription, in *invoice) (refused *paymentError, err error) {
	return st.demandWith(ctx, sub, in, nil, buyerAbsent)
}

// demandWith is demand with a card of the customer's instead of the
// subscription's, of which nil is the subscription's, and with the card's owner
// there or not.
func (st *step) demandWith(ctx context.Context, sub *subscription, in *invoice, card *string, present presence) (refused *paymentError, err error) {
	if in.Status == invoiceDraft {
		if err := st.finalize(ctx, in); err != nil {
			return nil, err
		}
	}
	if in.Status != invoicePaid {
		pm, err := st.cardFor(ctx, sub, card)
		if err != nil {
			return nil, err
		}
		if refused, err = st.collect(ctx, in, pm, present); err != nil {
			return nil, err
		}
	}
	if refused != nil {
		return refused, st.paymentFailed(ctx, sub, in)
	}
	if in.Status != invoicePaid && sub.Status == subscriptionIncomplete {
		sub.Status = subscriptionActive // a debit is under way
	}
	return nil, st.paymentMade(ctx, sub)
}

// defaultCard is what a subscription is paid with: its own card, or else its
// customer's; nil when there is none.
func (st *step) defaultCard(ctx context.Context, sub *subscription) (*paymentMethod, error) {
	return st.cardFor(ctx, sub, sub.DefaultPaymentMethod)
}

func (st *step) cardFor(ctx context.Context, sub *subscription, id *string) (*paymentMethod, error) {
	if id == nil {
		id = sub.DefaultPaymentMethod
	}
	if id == nil {
		cu, err := customers.get(ctx, st.q, sub.Customer, "customer")
		if err != nil {
			return nil, err
		}
		id = cu.InvoiceSettings.DefaultPaymentMethod
	}
	if id == nil {
		return nil, nil
	}
	return paymentMethods.get(ctx, st.q, *id, "default_payment_method")
}

// paymentMade lets a subscription that waited for a payment go on, once nothing
// is open on its latest invoice.
func (st *step) paymentMade(ctx context.Context, sub *subscription) error {
	switch sub.Status {
	case subscriptionIncomplete, subscriptionPastDue, subscriptionUnpaid:
	default:
		return nil
	}
	latest, err := st.latestFinal(ctx, sub)
	if err == nil && (latest == nil || latest.Status != invoiceOpen) {
		sub.Status = subscriptionActive
	}
	return err
}

// latestFinal is the newest invoice of a subscription that is no draft; nil when
// there is none.
func (st *step) latestFinal(ctx context.Context, sub *subscription) (*invoice, error) {
	all, err := invoices.where(ctx, st.q,
		`doc ->> '$.customer' = ? AND doc ->> '$.parent.subscription_details.subscription' = ? AND doc ->> '$.status' <> 'draft'`, sub.Customer, sub.ID)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return all[len(all)-1], nil
}
