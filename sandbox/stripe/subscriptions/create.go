package subscriptions

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/discounts"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// timerIncompleteExpires fires when the first payment of a subscription is overdue.
const timerIncompleteExpires = "subscription.incomplete_expires"

// incompleteLife is how long a subscription waits for its first payment, in seconds.
const incompleteLife = int64(23 * time.Hour / time.Second)

// defaultIncomplete is the payment behavior that does not attempt the first payment.
const defaultIncomplete = "default_incomplete"

// The values of payment_settings[save_default_payment_method]: whether a successful payment makes
// its payment method the default of the subscription.
const (
	saveNever          = "off"
	saveOnSubscription = "on_subscription"
)

// createSubscription handles POST /v1/subscriptions. It creates a subscription without a checkout session.
func createSubscription(ctx context.Context, c *kernel.Call) (any, error) {
	p := c.Params
	var customerID string
	var pm *string
	behavior := allowIncomplete
	o := Purchase{WhenNoMethod: MissingMethodInvoice}
	p.Require("customer", "items")
	p.Text("customer", &customerID)
	p.ReadClearable("default_payment_method", &pm)
	p.Choice("payment_behavior", &behavior, allowIncomplete, defaultIncomplete, errorIfIncomplete)
	o.Read(p)
	method := billing.ChargeAutomatically
	readCollection(p, &method, &o.DaysUntilDue)
	saveDefault := saveNever
	if settings := p.Hash("payment_settings"); settings != nil {
		settings.Choice("save_default_payment_method", &saveDefault, saveNever, saveOnSubscription)
	}
	wanted, discount := ReadItems(p, "items", c.Now), discounts.Read(p, false)
	if err := p.CheckUnread(); err != nil {
		return nil, err
	}
	cu, err := customers.FindLive(ctx, c.Step, customerID, "customer")
	if err != nil {
		return nil, err
	}
	if err := customers.CheckCard(ctx, c.Step, pm, cu.ID, "default_payment_method"); err != nil {
		return nil, err
	}
	if o.Items, err = PriceItems(ctx, c.Step, wanted, o.TrialDays > 0); err != nil {
		return nil, err
	}
	var total int64
	for _, item := range o.Items {
		total += item.AmountTotal
	}
	if most := billing.MaxAmount(o.Items[0].Currency); total > most {
		return nil, form.Refuse("items", "amount_too_large", "The subscription's total amount must be at most %s.", form.FormatAmount(most, o.Items[0].Currency))
	}
	if err := CheckCurrency(ctx, c.Step, cu, o.Items[0].Currency); err != nil {
		return nil, err
	}
	if err := checkCollection(method, o.DaysUntilDue, cu); err != nil {
		return nil, err
	}
	sub := New(cu.ID, o, c.Now)
	sub.DefaultPaymentMethod, sub.TestClock, sub.PaymentSettings.SaveDefault = pm, cu.TestClock, saveDefault
	sub.CollectionMethod, sub.DaysUntilDue = method, o.DaysUntilDue
	if err := sub.setDiscount(ctx, c.Step, discount, cu); err != nil {
		return nil, err
	}
	if err := sub.off.Redeem(ctx, c.Step, sub.ID); err != nil {
		return nil, err
	}
	if err := startBilling(ctx, c.Step, sub, cu, behavior); err != nil {
		return nil, err
	}
	return sub, Begin(ctx, c.Step, sub)
}

// startBilling creates the first invoice of a subscription while the buyer is absent. The
// subscription is incomplete until the invoice is paid.
func startBilling(ctx context.Context, st *kernel.Step, sub *Subscription, cu *customers.Customer, behavior string) error {
	in, err := FirstInvoice(ctx, st, sub, cu)
	if errors.Is(err, ErrNothingToBill) {
		return nil
	}
	if err != nil || in.Status == invoices.StatusPaid || in.IsSent() {
		return err
	}
	sub.Status = StatusIncomplete
	if behavior == defaultIncomplete {
		return nil
	}
	refused, err := settleInvoice(ctx, st, sub, in)
	if err == nil && refused != nil && behavior == errorIfIncomplete {
		return refused.Answer(customers.PaysSubscription)
	}
	return err
}

// incompleteExpires expires a subscription whose first payment was not made in time.
func incompleteExpires(ctx context.Context, st *kernel.Step, id string) error {
	sub, err := All.Get(ctx, st.Q, id, "id")
	if err != nil || sub.Status != StatusIncomplete {
		return err
	}
	in, err := latestFinalized(ctx, st, sub)
	if err != nil {
		return err
	}
	return closeUnpaid(ctx, st, in, sub, invoices.StatusVoid)
}

// expire ends a subscription that was never paid.
func (sub *Subscription) expire(now int64) {
	sub.Status, sub.EndedAt = StatusIncompleteExpired, &now
}
