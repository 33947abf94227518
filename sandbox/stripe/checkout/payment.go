package checkout

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
	"github.com/tenantry/tenantry/sandbox/stripe/payments"
	"github.com/tenantry/tenantry/sandbox/stripe/subscriptions"
)

// The modes of a session: it starts a subscription, or it takes a one-time payment.
const (
	modeSubscription = "subscription"
	modePayment      = "payment"
)

// invoiceCreation says whether a one-time payment gets an invoice, and has the invoice's contents.
type invoiceCreation struct {
	Enabled     bool        `json:"enabled"`
	InvoiceData invoiceData `json:"invoice_data"`
}

type invoiceData struct {
	AccountTaxIDs    form.Null         `json:"account_tax_ids"`
	CustomFields     form.Null         `json:"custom_fields"`
	Description      *string           `json:"description"`
	Footer           *string           `json:"footer"`
	Issuer           form.Null         `json:"issuer"`
	Metadata         map[string]string `json:"metadata"`
	RenderingOptions form.Null         `json:"rendering_options"`
}

// paymentData is the payment intent that a session in the mode payment will create.
type paymentData struct {
	Description      *string           `json:"description"`
	Metadata         map[string]string `json:"metadata"`
	ReceiptEmail     *string           `json:"receipt_email"`
	SetupFutureUsage *string           `json:"setup_future_usage"`
}

// readInvoiceCreation reads invoice_creation, and refuses the parameters of the other mode.
func (cs *Session) readInvoiceCreation(p *form.Params) {
	given := p.Hash("invoice_creation")
	if cs.Mode != modePayment {
		if given != nil {
			p.Fail("invoice_creation", "", "You can only enable invoice creation when `mode` is set to `payment`. Invoices are created automatically when `mode` is set to `subscription`, and are unsupported when set to `setup`. To learn more visit https://stripe.com/docs/payments/checkout/post-payment-invoices.")
		}
		return
	}
	if p.Has("payment_method_collection") {
		p.Fail("payment_method_collection", "", "You can only set `payment_method_collection` if there are recurring prices.")
	}
	if p.Has("subscription_data") {
		p.Fail("subscription_data", "", "You can not pass `subscription_data` in `payment` mode.")
	}
	cs.PaymentMethodCollection = "if_required"
	cs.InvoiceCreation = &invoiceCreation{InvoiceData: invoiceData{Metadata: map[string]string{}}}
	if given == nil {
		return
	}
	given.Require("enabled")
	given.Boolean("enabled", &cs.InvoiceCreation.Enabled)
	if data := given.Hash("invoice_data"); data != nil {
		into := &cs.InvoiceCreation.InvoiceData
		data.ReadClearable("description", &into.Description)
		data.ReadClearable("footer", &into.Footer)
		data.Metadata(&into.Metadata)
	}
}

// read reads payment_intent_data, which only the mode payment allows.
func (d *paymentData) read(p *form.Params) {
	d.Metadata = map[string]string{}
	given := p.Hash("payment_intent_data")
	if given == nil {
		return
	}
	if !p.Is("mode", modePayment) {
		p.Fail("payment_intent_data", "", "You can not pass `payment_intent_data` in `subscription` mode.")
	}
	given.ReadClearable("description", &d.Description)
	given.Metadata(&d.Metadata)
	given.Email("receipt_email", &d.ReceiptEmail)
	if given.Has("setup_future_usage") {
		var usage string
		given.Choice("setup_future_usage", &usage, payments.UsageOffSession, "on_session")
		d.SetupFutureUsage = &usage
	}
}

// priceItems returns the line items of a session with their prices.
type priceItems func(ctx context.Context, st *kernel.Step, trial bool) ([]subscriptions.LineItem, error)

// readItems reads the line items that the session's mode sells.
func (cs *Session) readItems(p *form.Params, now int64) priceItems {
	if cs.Mode == modePayment {
		return readOneTimeItems(p, now)
	}
	wanted := subscriptions.ReadItems(p, "line_items", now)
	return func(ctx context.Context, st *kernel.Step, trial bool) ([]subscriptions.LineItem, error) {
		if err := requireRecurring(ctx, st, wanted); err != nil {
			return nil, err
		}
		return subscriptions.PriceItems(ctx, st, wanted, trial)
	}
}

// requireRecurring refuses a subscription that has only one-time prices.
func requireRecurring(ctx context.Context, st *kernel.Step, wanted []subscriptions.WantedItem) error {
	for _, w := range wanted {
		pr, err := catalog.Prices.Find(ctx, st.Q, w.PriceID())
		switch {
		case errors.Is(err, kernel.ErrNotFound):
			return nil // PriceItems refuses an unknown price
		case err != nil:
			return err
		case pr.Recurring != nil:
			return nil
		}
	}
	return form.Refuse("line_items", "", "You must provide at least one recurring price in `subscription` mode when using prices.")
}

// The limits of a one-time purchase.
const (
	maxOneTimeItems    = 100
	maxOneTimeQuantity = 999_999
)

// oneTimeItem is a requested line item in the mode payment.
type oneTimeItem struct {
	params   *form.Params
	price    string
	inline   *catalog.Inline // nil if an existing price is sold
	quantity int64
}

// readOneTimeItems reads line items that name a price or describe one with price_data.
func readOneTimeItems(p *form.Params, now int64) priceItems {
	given := p.List("line_items")
	if p.Has("line_items") && (len(given) == 0 || len(given) > maxOneTimeItems) {
		p.Fail("line_items", "", "A Checkout Session must have from 1 to %d line items.", maxOneTimeItems)
	}
	var wanted []oneTimeItem
	for _, g := range given {
		w := oneTimeItem{params: g, inline: catalog.ReadInline(g, now)}
		switch {
		case w.inline != nil && g.Has("price"):
			g.Fail("price_data", "", "You may only specify one of these parameters: price, price_data.")
		case w.inline == nil:
			g.Require("price")
			g.Text("price", &w.price)
		}
		g.Require("quantity")
		g.Integer("quantity", 1, maxOneTimeQuantity, &w.quantity)
		wanted = append(wanted, w)
	}
	return func(ctx context.Context, st *kernel.Step, _ bool) ([]subscriptions.LineItem, error) {
		var items []subscriptions.LineItem
		for _, w := range wanted {
			item, err := w.sell(ctx, st)
			if err != nil {
				return nil, err
			}
			if len(items) > 0 && item.Currency != items[0].Currency {
				return nil, catalog.WrongCurrency(w.params.Name("price"), item.Currency, items[0].Currency)
			}
			items = append(items, item)
		}
		return items, nil
	}
}

// sell returns the line item. It refuses a recurring price.
func (w oneTimeItem) sell(ctx context.Context, st *kernel.Step) (item subscriptions.LineItem, err error) {
	var (
		pr *catalog.Price
		pd *catalog.Product
	)
	if w.inline != nil {
		pr, pd, err = w.inline.Store(ctx, st)
	} else {
		pr, pd, err = catalog.FindActive(ctx, st, w.price, w.params.Name("price"))
	}
	if err == nil && pr.Recurring != nil {
		err = form.Refuse("line_items", "", "You specified `payment` mode but passed a recurring price. Either switch to `subscription` mode or use only one-time prices.")
	}
	if err != nil {
		return item, err
	}
	amount := form.Times(pr.UnitAmountDecimal, w.quantity)
	return subscriptions.LineItem{
		ID: form.NewID("li"), Object: "item", Currency: pr.Currency, Description: pd.Name, Price: *pr, Quantity: w.quantity,
		AmountSubtotal: amount, AmountTotal: amount,
	}, nil
}

// completePayment pays an open session in the mode payment, or starts the debit that pays it. The
// customer's balance is not applied, and the payment method is saved only with setup_future_usage.
func completePayment(ctx context.Context, st *kernel.Step, cs *Session, state *pendingPurchase, cu *customers.Customer, used paymentInput) error {
	pi := payments.NewIntent(st, cs.AmountTotal, cs.Currency, cu.ID)
	data := state.Payment
	pi.Description, pi.Metadata, pi.ReceiptEmail, pi.SetupFutureUsage = data.Description, data.Metadata, data.ReceiptEmail, data.SetupFutureUsage
	pi.PaymentMethodTypes = cs.PaymentMethodTypes
	pm, store := used.method(st, cu), (*customers.PaymentMethod).StoreUnsaved
	if data.SetupFutureUsage != nil {
		store = (*customers.PaymentMethod).Attach
	}
	if err := store(pm, ctx, st); err != nil {
		return err
	}
	if err := st.Create(ctx, "payment_intent.created", pi); err != nil {
		return err
	}
	if err := payments.Pay(ctx, st, pi, pm, customers.BuyerPresent); err != nil {
		return err
	}
	if pi.Status == payments.StatusRequiresAction { // the buyer has already confirmed
		if err := payments.Confirm(ctx, st, pi); err != nil {
			return err
		}
	}
	cs.Status, cs.URL, cs.PaymentIntent, cs.CustomerDetails = statusComplete, nil, &pi.ID, newCustomerDetails(cu)
	if !pm.IsDelayed() {
		cs.PaymentStatus = paymentPaid
		if err := cs.issueInvoice(ctx, st, state, cu, pi); err != nil {
			return err
		}
	}
	if err := st.StopTimer(ctx, TimerExpires, cs.ID); err != nil {
		return err
	}
	return st.Create(ctx, "checkout.session.completed", cs)
}

// issueInvoice issues the invoice of a payment that has succeeded, if the session asks for one.
func (cs *Session) issueInvoice(ctx context.Context, st *kernel.Step, state *pendingPurchase, cu *customers.Customer, pi *payments.Intent) error {
	if cs.InvoiceCreation == nil || !cs.InvoiceCreation.Enabled {
		return nil
	}
	in := &invoices.Invoice{
		Header: invoices.All.Start(st.Now), AccountCountry: kernel.AccountCountry, AccountName: kernel.AccountName,
		BillingReason: "manual", CollectionMethod: "charge_automatically", Currency: cs.Currency, Customer: cu.ID,
		Issuer: form.Self{Type: "self"}, PeriodStart: st.Now, PeriodEnd: st.Now, Status: invoices.StatusDraft,
		StartingBalance: cu.Balance, TestClock: cu.TestClock,
	}
	for _, item := range state.Items {
		in.AddLine(item.Price, item.Description, item.Quantity, item.AmountTotal)
	}
	data := cs.InvoiceCreation.InvoiceData
	in.Description, in.Footer, in.Metadata = data.Description, data.Footer, data.Metadata
	cs.Invoice = &in.ID
	return in.Issue(ctx, st, cu, pi)
}

// SettleDebit settles a debit when its outcome is known, with the session, invoice and subscription
// that it pays.
func SettleDebit(ctx context.Context, st *kernel.Step, intentID string) error {
	debit, err := payments.FindDebit(ctx, st, intentID)
	if errors.Is(err, kernel.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	waiting, err := Sessions.FindWhere(ctx, st.Q, `doc ->> '$.customer' = ? AND doc ->> '$.payment_intent' = ?`, debit.Intent.Customer, intentID)
	if err != nil {
		return err
	}
	if len(waiting) > 0 {
		return waiting[0].settleDebit(ctx, st, debit)
	}
	in, paid, err := subscriptions.SettleDebit(ctx, st, debit)
	if err != nil {
		return err
	}
	return recordOutcome(ctx, st, in, paid)
}

// settleDebit settles the debit of a session in the mode payment. Its invoice is created once the
// payment has succeeded.
func (cs *Session) settleDebit(ctx context.Context, st *kernel.Step, debit payments.Debit) error {
	paid, err := debit.Settle(ctx, st)
	if err != nil {
		return err
	}
	if paid {
		state, err := sales.Get(ctx, st.Q, cs.ID, "id")
		if err != nil {
			return err
		}
		cu, err := customers.All.Get(ctx, st.Q, cs.Customer, "customer")
		if err != nil {
			return err
		}
		if err := cs.issueInvoice(ctx, st, state, cu, debit.Intent); err != nil {
			return err
		}
	}
	return cs.settle(ctx, st, paid)
}
