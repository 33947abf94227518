package stripe

import "context"

// demand finalizes an invoice of a subscription, if it still is a draft, and has
// it paid with the subscription's card, whose owner is not there. The
// subscription's state follows the outcome; the caller stores it. A refusal of
// the card is returned, not an error.
func (st *step) demand(ctx context.Context, sub *subscription, in *invoice) (refused *paymentError, err error) {
	if in.Status == invoiceDraft {
		if err := st.finalize(ctx, in); err != nil {
			return nil, err
		}
	}
	if in.Status == invoiceOpen {
		pm, err := st.defaultCard(ctx, sub)
		if err != nil {
			return nil, err
		}
		if refused, err = st.collect(ctx, in, pm, buyerAbsent); err != nil {
			return nil, err
		}
	}
	if refused != nil {
		return refused, st.paymentFailed(ctx, sub, in)
	}
	return nil, st.paymentMade(ctx, sub)
}

// defaultCard is what a subscription is paid with: its own card, or else its
// customer's; nil when there is none.
func (st *step) defaultCard(ctx context.Context, sub *subscription) (*paymentMethod, error) {
	id := sub.DefaultPaymentMethod
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

// paymentFailed keeps an open invoice that could not be paid.
func (st *step) paymentFailed(ctx context.Context, sub *subscription, in *invoice) error {
	if sub.Status == subscriptionActive {
		sub.Status = subscriptionPastDue
	}
	return st.create(ctx, "invoice.payment_failed", in)
}

// paymentMade lets a subscription that waited for a payment go on, once nothing
// is open on its latest invoice.
func (st *step) paymentMade(ctx context.Context, sub *subscription) error {
	if sub.Status != subscriptionPastDue && sub.Status != subscriptionUnpaid {
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
