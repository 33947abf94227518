package checkout

import (
	"context"
	"slices"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// The limits for the lifetime of a session. The default of expires_at is the maximum.
const (
	minLife = 30 * time.Minute
	maxLife = 24 * time.Hour
)

// Create handles POST /v1/checkout/sessions.
func Create(ctx context.Context, c *kernel.Call) (any, error) {
	cs := Session{
		Header: Sessions.Start(c.Now), Status: statusOpen, UIMode: "hosted_page",
		PaymentMethodCollection: "always",
		ExpiresAt:               c.Now + int64(maxLife/time.Second),
	}
	url := c.Site + Path(cs.ID)
	cs.URL = &url
	cs.read(c.Params)
	state := pendingPurchase{
		Header:   kernel.Header{ID: cs.ID, Object: sales.Name, Created: c.Now},
		Purchase: subscriptions.Purchase{WhenNoMethod: subscriptions.MissingMethodInvoice},
	}
	state.read(c.Params)
	sold := cs.readItems(c.Params, c.Now)
	cs.readDiscounts(c.Params)
	if err := c.Params.CheckUnread(); err != nil {
		return nil, err
	}
	cu, err := customers.FindLive(ctx, c.Step, cs.Customer, "customer")
	if err != nil {
		return nil, err
	}
	cs.CustomerDetails = newCustomerDetails(cu)
	if state.Items, err = sold(ctx, c.Step, state.TrialDays > 0); err != nil {
		return nil, err
	}
	cs.Currency = state.Items[0].Currency
	if err := cs.offerMethods(); err != nil {
		return nil, err
	}
	if err := cs.applyDiscount(ctx, c.Step, state.Items, cu); err != nil {
		return nil, err
	}
	for _, item := range state.Items {
		cs.AmountSubtotal += item.AmountSubtotal
		cs.AmountTotal += item.AmountTotal
	}
	if err := cs.checkTotal(); err != nil {
		return nil, err
	}
	cs.PaymentStatus = paymentUnpaid
	if cs.amountDue() == 0 {
		cs.PaymentStatus = paymentNotNeeded
	}
	if cs.Mode == modeSubscription {
		err = subscriptions.CheckCurrency(ctx, c.Step, cu, cs.Currency)
	}
	if err != nil {
		return nil, err
	}
	if err := kernel.Put(ctx, c.Q, state); err != nil {
		return nil, err
	}
	if err := kernel.Put(ctx, c.Q, cs); err != nil {
		return nil, err
	}
	return cs, c.SetTimer(ctx, TimerExpires, cs.ID, cs.ExpiresAt)
}

// read reads the parameters that are fields of the session.
func (cs *Session) read(p *form.Params) {
	p.Require("mode", "success_url", "customer", "line_items")
	p.Choice("mode", &cs.Mode, modeSubscription, modePayment)
	p.Choice("ui_mode", &cs.UIMode, "hosted_page")
	p.Text("customer", &cs.Customer)
	p.ReadClearable("client_reference_id", &cs.ClientReferenceID)
	if ref := cs.ClientReferenceID; ref != nil && len(*ref) > 200 {
		p.Fail("client_reference_id", "", "Invalid string: client_reference_id must be at most 200 characters")
	}
	p.URL("success_url", &cs.SuccessURL)
	if p.IsCleared("success_url") {
		p.ReadFilled("success_url")
	}
	p.URL("cancel_url", &cs.CancelURL)
	p.Metadata(&cs.Metadata)
	p.Choice("payment_method_collection", &cs.PaymentMethodCollection, "always", "if_required")
	cs.readInvoiceCreation(p)
	if p.Has("locale") {
		var locale string
		p.Choice("locale", &locale, "auto", "en", "es", "fr", "it")
		cs.Locale = &locale
	}
	for _, method := range p.Texts("payment_method_types") {
		if (method != customers.MethodCard && method != customers.MethodDebit) || slices.Contains(cs.PaymentMethodTypes, method) {
			p.Fail("payment_method_types", "", "The sandbox takes card and sepa_debit, each once, and not %s.", method)
		}
		cs.PaymentMethodTypes = append(cs.PaymentMethodTypes, method)
	}
	p.Integer("expires_at", cs.Created+int64(minLife/time.Second), cs.Created+int64(maxLife/time.Second), &cs.ExpiresAt)
}

// checkTotal refuses a total outside the limits for one payment. A total of zero needs no payment.
func (cs *Session) checkTotal() error {
	least, most := billing.MinAmount(cs.Currency), billing.MaxAmount(cs.Currency)
	switch {
	case cs.AmountTotal > most:
		return form.Refuse("line_items", "amount_too_large", "The Checkout Session's total amount must be at most %s.", form.FormatAmount(most, cs.Currency))
	case cs.Mode == modePayment && cs.AmountTotal == 0:
		return form.Refuse("line_items", "", "The sandbox requires a total above zero in `payment` mode.")
	case cs.AmountTotal > 0 && cs.AmountTotal < least:
		return form.Refuse("", "amount_too_small", "The Checkout Session's total amount due must add up to at least %s.", form.FormatAmount(least, cs.Currency))
	}
	return nil
}

// offerMethods sets the payment methods. The default is cards, and debits if the currency supports
// them.
func (cs *Session) offerMethods() error {
	debits := cs.Currency == "eur"
	switch {
	case len(cs.PaymentMethodTypes) == 0 && debits:
		cs.PaymentMethodTypes = []string{customers.MethodCard, customers.MethodDebit}
	case len(cs.PaymentMethodTypes) == 0:
		cs.PaymentMethodTypes = []string{customers.MethodCard}
	case !debits && cs.acceptsMethod(customers.MethodDebit):
		return form.Refuse("payment_method_types", "", "The payment method type `sepa_debit` supports only the currency eur, not %s.", cs.Currency)
	}
	return nil
}

// read reads the parameters of the subscription or payment to be made.
func (state *pendingPurchase) read(p *form.Params) {
	state.Payment.read(p)
	p = p.Hash("subscription_data")
	if p == nil {
		state.Metadata = map[string]string{}
		return
	}
	state.Read(p)
}
