package stripe

import (
	"context"
	"slices"
	"time"
)

// The limits of what one session may sell.
const (
	maxCheckoutItems = 20
	maxQuantity      = 999_999
	maxTrialDays     = 730
)

// The life of a session: what it may be set to, and what it is otherwise.
const (
	minCheckoutLife = 30 * time.Minute
	maxCheckoutLife = 24 * time.Hour
)

// wantedItem is a line as the client asked for it.
type wantedItem struct {
	params   *params
	price    string
	quantity int64 // 0 for none
}

func createCheckout(ctx context.Context, c *call) (any, error) {
	cs := checkout{
		header: checkouts.start(c.now), Status: checkoutOpen, UIMode: "hosted_page",
		PaymentMethodCollection: "always",
		ExpiresAt:               c.now + int64(maxCheckoutLife/time.Second),
	}
	url := c.site + checkoutPath(cs.ID)
	cs.URL = &url
	cs.read(c.params)
	state := checkoutState{
		header: header{ID: cs.ID, Object: checkoutStates.name, Created: c.now},
		order:  order{WhenNoMethod: whenNoMethodInvoice},
	}
	state.read(c.params)
	wanted := readItems(c.params, "line_items")
	if err := c.params.done(); err != nil {
		return nil, err
	}
	cu, err := c.liveCustomer(ctx, cs.Customer, "customer")
	if err != nil {
		return nil, err
	}
	cs.CustomerDetails = newCheckoutCustomer(cu)
	if state.Items, err = c.priceItems(ctx, wanted, state.TrialDays > 0); err != nil {
		return nil, err
	}
	cs.Currency = state.Items[0].Currency
	if err := cs.offerMethods(); err != nil {
		return nil, err
	}
	for _, item := range state.Items {
		cs.AmountSubtotal += item.AmountSubtotal
		cs.AmountTotal += item.AmountTotal
	}
	if cs.AmountTotal > maxAmount {
		return nil, refuse("line_items", "amount_too_large", "The Checkout Session's total amount must be at most %s.", formatAmount(maxAmount, cs.Currency))
	}
	cs.PaymentStatus = paymentUnpaid
	if cs.due() == 0 {
		cs.PaymentStatus = paymentNotNeeded
	}
	if err := c.checkCurrency(ctx, cu, cs.Currency); err != nil {
		return nil, err
	}
	if err := put(ctx, c.q, state); err != nil {
		return nil, err
	}
	if err := put(ctx, c.q, cs); err != nil {
		return nil, err
	}
	return cs, c.setTimer(ctx, timerCheckoutExpires, cs.ID, cs.ExpiresAt)
}

func (cs *checkout) read(p *params) {
	p.require("mode", "success_url", "customer", "line_items")
	p.choice("mode", &cs.Mode, "subscription")
	p.choice("ui_mode", &cs.UIMode, "hosted_page")
	p.text("customer", &cs.Customer)
	p.clearable("client_reference_id", &cs.ClientReferenceID)
	if ref := cs.ClientReferenceID; ref != nil && len(*ref) > 200 {
		p.fail("client_reference_id", "", "Invalid string: client_reference_id must be at most 200 characters")
	}
	p.url("success_url", &cs.SuccessURL)
	if p.cleared("success_url") {
		p.filled("success_url")
	}
	p.url("cancel_url", &cs.CancelURL)
	p.metadata(&cs.Metadata)
	p.choice("payment_method_collection", &cs.PaymentMethodCollection, "always", "if_required")
	if p.has("locale") {
		var locale string
		p.choice("locale", &locale, "auto", "en", "es", "fr", "it")
		cs.Locale = &locale
	}
	for _, method := range p.texts("payment_method_types") {
		if (method != methodCard && method != methodDebit) || slices.Contains(cs.PaymentMethodTypes, method) {
			p.fail("payment_method_types", "", "The sandbox takes card and sepa_debit, each once, and not %s.", method)
		}
		cs.PaymentMethodTypes = append(cs.PaymentMethodTypes, method)
	}
	p.integer("expires_at", cs.Created+int64(minCheckoutLife/time.Second), cs.Created+int64(maxCheckoutLife/time.Second), &cs.ExpiresAt)
}

// offerMethods settles how the session can be paid. Unless the client has said
// so, cards are taken, and debits where the currency allows.
func (cs *checkout) offerMethods() error {
	debits := cs.Currency == "eur"
	switch {
	case len(cs.PaymentMethodTypes) == 0 && debits:
		cs.PaymentMethodTypes = []string{methodCard, methodDebit}
	case len(cs.PaymentMethodTypes) == 0:
		cs.PaymentMethodTypes = []string{methodCard}
	case !debits && cs.takes(methodDebit):
		return refuse("payment_method_types", "", "The payment method type `sepa_debit` supports only the currency eur, not %s.", cs.Currency)
	}
	return nil
}

func (state *checkoutState) read(p *params) {
	p = p.hash("subscription_data")
	if p == nil {
		state.Metadata = map[string]string{}
		return
	}
	state.order.read(p)
}

// read takes over what a checkout session and a subscription that is made
// without one have in common.
func (o *order) read(p *params) {
	p.metadata(&o.Metadata)
	p.clearable("description", &o.Description)
	p.integer("trial_period_days", 1, maxTrialDays, &o.TrialDays)
	readTrialSettings(p, &o.WhenNoMethod)
}

func readItems(p *params, key string) []wantedItem {
	given := p.list(key)
	if p.has(key) && (len(given) == 0 || len(given) > maxCheckoutItems) {
		p.fail(key, "", "A subscription must have from 1 to %d items.", maxCheckoutItems)
	}
	wanted := make([]wantedItem, 0, len(given))
	for _, g := range given {
		g.require("price")
		w := wantedItem{params: g}
		g.text("price", &w.price)
		g.integer("quantity", 1, maxQuantity, &w.quantity)
		wanted = append(wanted, w)
	}
	return wanted
}

// priceItems looks up the prices of the lines, which must be due together.
func (st *step) priceItems(ctx context.Context, wanted []wantedItem, trial bool) ([]checkoutItem, error) {
	items := make([]checkoutItem, 0, len(wanted))
	for _, w := range wanted {
		param := w.params.name("price")
		pr, pd, err := st.sellable(ctx, w.price, param)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			first := items[0].Price
			if pr.Currency != first.Currency {
				return nil, wrongCurrency(param, pr.Currency, first.Currency)
			}
			if !pr.Recurring.together(*first.Recurring) {
				return nil, refuse(param, "", "The sandbox requires that all recurring prices of a Checkout Session have the same interval.")
			}
		}
		if err := w.fits(pr); err != nil {
			return nil, err
		}
		item := checkoutItem{
			ID: newID("li"), Object: "item", Currency: pr.Currency,
			Description: pd.Name, Price: *pr, Quantity: w.quantity,
		}
		if !trial {
			item.AmountSubtotal = times(pr.UnitAmountDecimal, w.quantity)
			item.AmountTotal = item.AmountSubtotal
		}
		items = append(items, item)
	}
	return items, nil
}

// sellable reads a price that a subscription may begin with, and its product.
func (st *step) sellable(ctx context.Context, id, param string) (*price, *product, error) {
	pr, err := prices.get(ctx, st.q, id, param)
	if err != nil {
		return nil, nil, err
	}
	pd, err := products.get(ctx, st.q, pr.Product, param)
	switch {
	case err != nil:
		return nil, nil, err
	case !pr.Active:
		return nil, nil, refuse(param, "", "The price specified is inactive. This field only accepts active prices.")
	case !pd.Active:
		return nil, nil, refuse(param, "", "The price's product `%s` is marked as inactive, and thus the price cannot be used.", pd.ID)
	case pr.Recurring == nil:
		return nil, nil, refuse(param, "", "The sandbox sells only recurring prices in subscriptions; `%s` is a one-time price.", pr.ID)
	}
	return pr, pd, nil
}

func wrongCurrency(param, got, want string) *apiError {
	return refuse(param, "", "The price specified only supports `%s`. This doesn't match the expected currency: `%s`.", got, want)
}

// fits refuses a quantity of what is metered, and none of what is not.
func (w wantedItem) fits(pr *price) error {
	param := w.params.name("quantity")
	switch {
	case pr.metered() && w.quantity != 0:
		return refuse(param, "", "Quantity should not be specified where usage_type is `metered`. Remove %s.", param)
	case !pr.metered() && w.quantity == 0:
		return refuse(param, "parameter_missing", "Quantity is required. Add %s.", param)
	}
	return nil
}

// checkCurrency refuses a second currency for a customer that has running
// subscriptions, or something left over, in one.
func (st *step) checkCurrency(ctx context.Context, cu *customer, code string) error {
	others, err := subscriptions.where(ctx, st.q,
		`doc ->> '$.customer' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired') AND doc ->> '$.currency' <> ?`, cu.ID, code)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return refuse("customer", "", "You cannot combine currencies on a single customer. This customer has an active subscription with currency %s.", others[0].Currency)
	}
	if cu.Balance != 0 && *cu.Currency != code {
		return refuse("customer", "", "You cannot combine currencies on a single customer. This customer has a balance with currency %s.", *cu.Currency)
	}
	return nil
}
