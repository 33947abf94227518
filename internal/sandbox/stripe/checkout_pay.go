package stripe

import (
	"context"
	"errors"
)

// errDeclined is the bank's refusal of a card.
var errDeclined = errors.New("the card was declined")

// complete pays an open session with a card, which may be nil when none is
// needed, and makes of it what it promised. The step's transaction holds all of
// it: session, subscription, invoice, payment, events and their deliveries.
func (st *step) complete(ctx context.Context, cs *checkout, used *testCard) error {
	state, err := checkoutStates.get(ctx, st.q, cs.ID, "id")
	if err != nil {
		return err
	}
	cu, err := st.liveCustomer(ctx, cs.Customer, "customer")
	if err != nil {
		return err
	}
	if used != nil && used.declines {
		return errDeclined
	}
	sub := newSubscription(cs, state, st.now)
	var pm *paymentMethod
	if used != nil {
		if pm, err = st.attach(ctx, *used, cu); err != nil {
			return err
		}
		sub.DefaultPaymentMethod = &pm.ID
	}
	names := make([]string, len(state.Items))
	for i, item := range state.Items {
		names[i] = item.Description
	}
	in, err := st.bill(ctx, sub, names, cu, pm)
	if err != nil {
		return err
	}
	sub.LatestInvoice = &in.ID
	if err := st.create(ctx, "customer.subscription.created", sub); err != nil {
		return err
	}
	cs.Status, cs.URL, cs.Subscription, cs.Invoice = checkoutComplete, nil, &sub.ID, &in.ID
	cs.CustomerDetails = newCheckoutCustomer(cu)
	if cs.due() > 0 {
		cs.PaymentStatus = paymentPaid
	}
	if err := st.stopTimer(ctx, timerCheckoutExpires, cs.ID); err != nil {
		return err
	}
	return st.create(ctx, "checkout.session.completed", cs)
}
