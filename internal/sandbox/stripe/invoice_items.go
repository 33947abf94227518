package stripe

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/billing"
)

var invoiceItems = kind[invoiceItem]{"invoiceitem", "ii", "invoiceitem", "/v1/invoiceitems"}

// invoiceItem is the credit or charge for a part of a subscription item's
// period. It is pending until an invoice of the subscription takes it up.
type invoiceItem struct {
	header
	Amount       int64             `json:"amount"`
	Currency     string            `json:"currency"`
	Customer     string            `json:"customer"`
	Date         int64             `json:"date"`
	Description  string            `json:"description"`
	Discountable bool              `json:"discountable"`
	Discounts    none              `json:"discounts"`
	Invoice      *string           `json:"invoice"` // null while it is pending
	Metadata     map[string]string `json:"metadata"`
	Parent       invoiceItemParent `json:"parent"`
	Period       linePeriod        `json:"period"`
	Pricing      linePricing       `json:"pricing"`
	Proration    bool              `json:"proration"`
	Quantity     int64             `json:"quantity"`
	QuantityText string            `json:"quantity_decimal"`
	TaxRates     none              `json:"tax_rates"`
	TestClock    null              `json:"test_clock"`
	// Created is shown as date instead; this hides the header's.
	Created *int64 `json:"created,omitempty"`
}

type invoiceItemParent struct {
	SubscriptionDetails struct {
		Subscription     string `json:"subscription"`
		SubscriptionItem string `json:"subscription_item"`
	} `json:"subscription_details"`
	Type string `json:"type"`
}

// The sign of a proration.
const (
	credit  = -1
	charged = 1
)

// newProration gives back or charges the rest of an item's current period from a
// moment on; nil when that comes to nothing.
func newProration(sub *subscription, item subscriptionItem, name string, sign, from, now int64) *invoiceItem {
	whole := item.CurrentPeriodEnd - item.CurrentPeriodStart
	amount := sign * billing.Prorate(item.amount(), item.CurrentPeriodEnd-from, whole, billing.Step(sub.Currency))
	if amount == 0 {
		return nil
	}
	what := "Remaining"
	if sign == credit {
		what = "Unused"
	}
	if item.Quantity != 1 {
		name = fmt.Sprintf("%d × %s", item.Quantity, name)
	}
	ii := &invoiceItem{
		header: invoiceItems.start(now), Amount: amount, Currency: sub.Currency, Customer: sub.Customer, Date: now,
		Description: fmt.Sprintf("%s time on %s after %s", what, name, time.Unix(from, 0).UTC().Format("02 Jan 2006")),
		Metadata:    map[string]string{}, Period: linePeriod{Start: from, End: item.CurrentPeriodEnd},
		Pricing: newLinePricing(item.Price), Proration: true,
		Quantity: item.Quantity, QuantityText: strconv.FormatInt(item.Quantity, 10),
	}
	ii.Parent.Type = "subscription_details"
	ii.Parent.SubscriptionDetails.Subscription = sub.ID
	ii.Parent.SubscriptionDetails.SubscriptionItem = item.ID
	ii.Pricing.UnitAmountDecimal = perUnit(amount, item.Quantity)
	return ii
}

// perUnit is what one unit of an amount comes to, with up to twelve decimals.
func perUnit(amount, quantity int64) string {
	each := big.NewRat(amount, max(quantity, 1)).FloatString(12)
	return strings.TrimSuffix(strings.TrimRight(each, "0"), ".")
}

// line is how the item stands on an invoice.
func (ii *invoiceItem) line() invoiceLine {
	line := invoiceLine{
		ID: newID(invoiceLines.prefix), Object: invoiceLines.name, Amount: ii.Amount, Currency: ii.Currency,
		Description: ii.Description, Metadata: ii.Metadata, Period: ii.Period, Pricing: ii.Pricing,
		Quantity: ii.Quantity, Subscription: ii.Parent.SubscriptionDetails.Subscription, Subtotal: ii.Amount,
	}
	line.Parent.Type = "subscription_item_details"
	of := &line.Parent.SubscriptionItemDetails
	of.InvoiceItem, of.Proration, of.ProrationDetails = &ii.ID, ii.Proration, &prorationDetails{}
	of.Subscription = ii.Parent.SubscriptionDetails.Subscription
	of.SubscriptionItem = ii.Parent.SubscriptionDetails.SubscriptionItem
	return line
}

// pendingItems are those that the next invoice of a subscription takes up,
// oldest first.
func (st *step) pendingItems(ctx context.Context, sub *subscription) ([]*invoiceItem, error) {
	return invoiceItems.where(ctx, st.q,
		`doc ->> '$.customer' = ? AND doc ->> '$.parent.subscription_details.subscription' = ? AND doc ->> '$.invoice' IS NULL`,
		sub.Customer, sub.ID)
}

func getInvoiceItem(ctx context.Context, c *call) (any, error) { return retrieve(ctx, c, invoiceItems) }

func listInvoiceItems(ctx context.Context, c *call) (any, error) {
	var f filter
	f.equals(c.params, "customer", "$.customer")
	f.equals(c.params, "invoice", "$.invoice")
	if c.params.has("pending") {
		var pending bool
		c.params.boolean("pending", &pending)
		f.and(`(doc ->> '$.invoice' IS NULL) = ?`, pending)
	}
	return invoiceItems.page(ctx, c, f)
}
