package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// LineItem is one price of a purchase. It keeps the price at the time of the purchase and has the
// form of a checkout session's line item.
type LineItem struct {
	ID             string        `json:"id"`
	Object         string        `json:"object"`
	AmountDiscount int64         `json:"amount_discount"`
	AmountSubtotal int64         `json:"amount_subtotal"`
	AmountTax      int64         `json:"amount_tax"`
	AmountTotal    int64         `json:"amount_total"`
	Currency       string        `json:"currency"`
	Description    string        `json:"description"`
	Price          catalog.Price `json:"price"`
	Quantity       int64         `json:"quantity,omitempty"` // omitted for a metered price
	AdjustableQty  form.Null     `json:"adjustable_quantity"`
	Metadata       form.Null     `json:"metadata"`
}

// Head implements kernel.Object.
func (i LineItem) Head() kernel.Header { return kernel.Header{ID: i.ID, Object: i.Object} }

// Purchase describes a new subscription.
type Purchase struct {
	Items        []LineItem        `json:"items"`
	Description  *string           `json:"description"`
	Metadata     map[string]string `json:"metadata"`
	TrialDays    int64             `json:"trial_days"`
	WhenNoMethod string            `json:"when_no_method"` // the behavior when a trial ends without a payment method
	// PendingInterval is how often pending items are invoiced. If it is nil, they are invoiced at
	// renewals.
	PendingInterval *pendingInterval `json:"pending_interval"`
	// DaysUntilDue is the time to pay an invoice that is sent. It is nil if payments are automatic.
	DaysUntilDue *int64 `json:"days_until_due"`
}

// WantedItem is a requested item of a purchase.
type WantedItem struct {
	params   *form.Params
	price    string
	inline   *catalog.Inline // nil if the request names a price
	quantity int64           // 0 if not given
}

// PriceID returns the id of the requested price.
func (w WantedItem) PriceID() string { return w.price }

// Read reads the parameters that subscriptions with and without a checkout session have in common.
func (o *Purchase) Read(p *form.Params) {
	p.Metadata(&o.Metadata)
	p.ReadClearable("description", &o.Description)
	p.Integer("trial_period_days", 1, maxTrialDays, &o.TrialDays)
	readTrialSettings(p, &o.WhenNoMethod)
	readPendingInterval(p, &o.PendingInterval)
}

// ReadItems reads the items of a purchase.
func ReadItems(p *form.Params, key string, now int64) []WantedItem {
	given := p.List(key)
	if p.Has(key) && (len(given) == 0 || len(given) > maxItems) {
		p.Fail(key, "", "A subscription must have from 1 to %d items.", maxItems)
	}
	wanted := make([]WantedItem, 0, len(given))
	for _, g := range given {
		w := WantedItem{params: g}
		w.readPrice(g, key == "items", now)
		g.Integer("quantity", 1, maxQuantity, &w.quantity)
		wanted = append(wanted, w)
	}
	return wanted
}

// readPrice reads price or, if allowsData is true, price_data.
func (w *WantedItem) readPrice(g *form.Params, allowsData bool, now int64) {
	if allowsData && g.Has("price_data") {
		if g.Has("price") {
			g.Fail("price_data", "", "You may only specify one of these parameters: price, price_data.")
		}
		w.inline = catalog.ReadRecurring(g, now)
		return
	}
	g.Require("price")
	g.Text("price", &w.price)
}

// find returns the requested price and its product.
func (w WantedItem) find(ctx context.Context, st *kernel.Step) (*catalog.Price, *catalog.Product, error) {
	if w.inline != nil {
		return w.inline.Store(ctx, st)
	}
	return catalog.FindSellable(ctx, st, w.price, w.params.Name("price"))
}

// PriceItems looks up the prices of the items. It refuses prices with different currencies or
// intervals. With a trial, the amounts are zero.
func PriceItems(ctx context.Context, st *kernel.Step, wanted []WantedItem, trial bool) ([]LineItem, error) {
	items := make([]LineItem, 0, len(wanted))
	for _, w := range wanted {
		param := w.params.Name("price")
		pr, pd, err := w.find(ctx, st)
		if err != nil {
			return nil, err
		}
		if len(items) > 0 {
			first := items[0].Price
			if pr.Currency != first.Currency {
				return nil, catalog.WrongCurrency(param, pr.Currency, first.Currency)
			}
			if !pr.Recurring.SameInterval(*first.Recurring) {
				return nil, form.Refuse(param, "", "The sandbox requires that all recurring prices of a Checkout Session have the same interval.")
			}
		}
		if err := w.checkQuantity(pr); err != nil {
			return nil, err
		}
		item := LineItem{
			ID: form.NewID("li"), Object: "item", Currency: pr.Currency,
			Description: pd.Name, Price: *pr, Quantity: w.quantity,
		}
		if !trial {
			item.AmountSubtotal = form.Times(pr.UnitAmountDecimal, w.quantity)
			item.AmountTotal = item.AmountSubtotal
		}
		items = append(items, item)
	}
	return items, nil
}

// checkQuantity refuses a quantity for a metered price, and requires it for any other price.
func (w WantedItem) checkQuantity(pr *catalog.Price) error {
	param := w.params.Name("quantity")
	switch {
	case pr.IsMetered() && w.quantity != 0:
		return form.Refuse(param, "", "Quantity should not be specified where usage_type is `metered`. Remove %s.", param)
	case !pr.IsMetered() && w.quantity == 0:
		return form.Refuse(param, "parameter_missing", "Quantity is required. Add %s.", param)
	}
	return nil
}

// CheckCurrency refuses a currency if the customer has subscriptions or a balance in another
// currency.
func CheckCurrency(ctx context.Context, st *kernel.Step, cu *customers.Customer, code string) error {
	others, err := All.FindWhere(ctx, st.Q,
		`doc ->> '$.customer' = ? AND doc ->> '$.status' NOT IN ('canceled', 'incomplete_expired') AND doc ->> '$.currency' <> ?`, cu.ID, code)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return form.Refuse("customer", "", "You cannot combine currencies on a single customer. This customer has an active subscription with currency %s.", others[0].Currency)
	}
	if cu.Balance != 0 && *cu.Currency != code {
		return form.Refuse("customer", "", "You cannot combine currencies on a single customer. This customer has a balance with currency %s.", *cu.Currency)
	}
	return nil
}

// ErrNothingToBill means that a subscription has no first invoice because all its items are
// metered.
var ErrNothingToBill = errors.New("there is nothing to bill")

// FirstInvoice creates the first invoice of a subscription, and finalizes it unless it is sent. It
// returns ErrNothingToBill if all items are metered.
func FirstInvoice(ctx context.Context, st *kernel.Step, sub *Subscription, cu *customers.Customer) (*invoices.Invoice, error) {
	b := bill{sub: sub, cu: cu, reason: invoices.ReasonCreate, since: st.Now, at: st.Now, period: true, names: ProductNames{}}
	if err := ReadProductNames(ctx, st, sub.Items.Data, b.names); err != nil {
		return nil, err
	}
	if !b.isNeeded() {
		return nil, ErrNothingToBill
	}
	in, err := issueInvoice(ctx, st, b)
	if err != nil || in.IsSent() {
		return in, err
	}
	return in, invoices.Finalize(ctx, st, in)
}

// The limits of a purchase.
const (
	maxItems     = 20
	maxQuantity  = 999_999
	maxTrialDays = 730
)
