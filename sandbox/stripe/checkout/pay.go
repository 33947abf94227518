package checkout

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/pages"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// paymentInput is the buyer's card or bank account. Both are nil if no payment method is required.
type paymentInput struct {
	card    *customers.TestCard
	account *customers.TestAccount
	// authentication is the buyer's response to the bank if the card requires authentication. It is
	// empty until the bank has requested it.
	authentication string
}

// check returns customers.ErrDeclined, customers.ErrUnconfirmed or customers.ErrNotAuthenticated if
// the card cannot be used.
func (used paymentInput) check() error {
	switch {
	case used.card == nil:
		return nil
	case used.card.Declines:
		return customers.ErrDeclined
	case !used.card.Authenticates || used.authentication == pages.ConfirmedValue:
		return nil
	case used.authentication == "":
		return customers.ErrUnconfirmed
	}
	return customers.ErrNotAuthenticated
}

// method returns the buyer's payment method without storing it. It returns nil if used is empty.
func (used paymentInput) method(st *kernel.Step, cu *customers.Customer) *customers.PaymentMethod {
	switch {
	case used.card != nil:
		return customers.NewCard(st, *used.card, cu)
	case used.account != nil:
		return customers.NewAccount(st, *used.account, cu)
	}
	return nil
}

// complete pays an open session, or starts the debit that pays it, and creates the subscription.
// Session, subscription, invoice, payment, events and their deliveries are stored in the step's
// transaction.
func complete(ctx context.Context, st *kernel.Step, cs *Session, used paymentInput) error {
	state, err := sales.Get(ctx, st.Q, cs.ID, "id")
	if err != nil {
		return err
	}
	cu, err := customers.FindLive(ctx, st, cs.Customer, "customer")
	if err != nil {
		return err
	}
	if err := used.check(); err != nil {
		return err
	}
	if cs.Mode == modePayment {
		return completePayment(ctx, st, cs, state, cu, used)
	}
	sub := subscriptions.New(cs.Customer, state.Purchase, st.Now)
	if len(cs.Discounts) > 0 {
		if err := sub.Redeem(ctx, st, cs.Discounts[0]); err != nil {
			return err
		}
	}
	sub.PaymentSettings.PaymentMethodTypes, sub.TestClock = cs.PaymentMethodTypes, cu.TestClock
	pm := used.method(st, cu)
	if pm != nil {
		if err := pm.Attach(ctx, st); err != nil {
			return err
		}
		sub.DefaultPaymentMethod = &pm.ID
	}
	if err := payFirstInvoice(ctx, st, sub, cu, pm); err != nil {
		return err
	}
	if err := subscriptions.Begin(ctx, st, sub); err != nil {
		return err
	}
	cs.Status, cs.URL, cs.Subscription, cs.Invoice = statusComplete, nil, &sub.ID, sub.LatestInvoice
	cs.CustomerDetails = newCustomerDetails(cu)
	if cs.amountDue() > 0 && (pm == nil || !pm.IsDelayed()) {
		cs.PaymentStatus = paymentPaid
	}
	if err := st.StopTimer(ctx, TimerExpires, cs.ID); err != nil {
		return err
	}
	return st.Create(ctx, "checkout.session.completed", cs)
}

// payFirstInvoice creates the first invoice of a subscription and pays it while the buyer is
// present. pm can be nil if nothing is due.
func payFirstInvoice(ctx context.Context, st *kernel.Step, sub *subscriptions.Subscription, cu *customers.Customer, pm *customers.PaymentMethod) error {
	in, err := subscriptions.FirstInvoice(ctx, st, sub, cu)
	if errors.Is(err, subscriptions.ErrNothingToBill) {
		return nil
	}
	if err != nil || in.Status == invoices.StatusPaid {
		return err
	}
	switch refused, err := invoices.Collect(ctx, st, in, pm, customers.BuyerPresent); {
	case err != nil:
		return err
	case refused == nil:
		return nil
	case refused.RequiresAction():
		_, err := invoices.Authenticate(ctx, st, in, true) // the buyer has already confirmed
		return err
	}
	return customers.ErrDeclined
}
