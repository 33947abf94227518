package stripe

import (
	"context"
	"errors"
)

// errDeclined is the bank's refusal of a card.
var errDeclined = errors.New("the card was declined")

// tender is what a buyer pays with: a card, a bank account, or nothing where
// nothing is needed.
type tender struct {
	card    *testCard
	account *testAccount
}

// attachTender keeps what a buyer pays with; nil for nothing.
func (st *step) attachTender(ctx context.Context, used tender, cu *customer) (*paymentMethod, error) {
	switch {
	case used.card != nil:
		return st.attach(ctx, *used.card, cu)
	case used.account != nil:
		return st.attachAccount(ctx, *used.account, cu)
	}
	return nil, nil
}

// complete pays an open session, or begins to, and makes of it what it promised. The step's transaction holds all of
// it: session, subscription, invoice, payment, events and their deliveries.
func (st *step) complete(ctx context.Context, cs *checkout, used tender) error {
	state, err := checkoutStates.get(ctx, st.q, cs.ID, "id")
	if err != nil {
		return err
	}
	cu, err := st.liveCustomer(ctx, cs.Customer, "customer")
	if err != nil {
		return err
	}
	if used.card != nil && used.card.declines {
		return errDeclined
	}
	sub := newSubscription(cs.Customer, state.order, st.now)
	sub.PaymentSettings.PaymentMethodTypes = cs.PaymentMethodTypes
	pm, err := st.attachTender(ctx, used, cu)
	if err != nil {
		return err
	}
	if pm != nil {
		sub.DefaultPaymentMethod = &pm.ID
	}
	if err := st.billFirst(ctx, sub, cu, pm); err != nil {
		return err
	}
	if err := st.begin(ctx, sub); err != nil {
		return err
	}
	cs.Status, cs.URL, cs.Subscription, cs.Invoice = checkoutComplete, nil, &sub.ID, sub.LatestInvoice
	cs.CustomerDetails = newCheckoutCustomer(cu)
	if cs.due() > 0 && (pm == nil || !pm.delayed()) {
		cs.PaymentStatus = paymentPaid
	}
	if err := st.stopTimer(ctx, timerCheckoutExpires, cs.ID); err != nil {
		return err
	}
	return st.create(ctx, "checkout.session.completed", cs)
}

// billFirst makes the invoice that a subscription begins with and has it paid by
// pm, with the buyer present; pm may be nil when nothing is due.
func (st *step) billFirst(ctx context.Context, sub *subscription, cu *customer, pm *paymentMethod) error {
	in, err := st.firstInvoice(ctx, sub, cu)
	if err != nil || in.Status == invoicePaid {
		return err
	}
	switch refused, err := st.collect(ctx, in, pm, buyerPresent); {
	case err != nil:
		return err
	case refused != nil:
		return errDeclined
	}
	return nil
}

// firstInvoice makes and finalizes the invoice that a subscription begins with.
func (st *step) firstInvoice(ctx context.Context, sub *subscription, cu *customer) (*invoice, error) {
	b := bill{sub: sub, cu: cu, reason: reasonCreate, since: st.now, at: st.now, period: true, names: productNames{}}
	if err := st.productNames(ctx, sub.Items.Data, b.names); err != nil {
		return nil, err
	}
	in, err := st.issue(ctx, b)
	if err != nil {
		return nil, err
	}
	return in, st.finalize(ctx, in)
}
