package invoices

import (
	"context"
	"strconv"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// Items are all invoice items.
var Items = kernel.Kind[Item]{Name: "invoiceitem", Prefix: "ii", Label: "invoiceitem", Path: "/v1/invoiceitems"}

// Item is a proration of a subscription item, or a one-time item that a client created. It is
// pending until an invoice of the subscription includes it. If that invoice is voided, the item
// stays on it.
type Item struct {
	kernel.Header
	Amount       int64             `json:"amount"`
	Currency     string            `json:"currency"`
	Customer     string            `json:"customer"`
	Date         int64             `json:"date"`
	Description  string            `json:"description"`
	Discountable bool              `json:"discountable"`
	Discounts    form.None         `json:"discounts"`
	Invoice      *string           `json:"invoice"` // null while pending
	Metadata     map[string]string `json:"metadata"`
	Parent       itemParent        `json:"parent"`
	Period       Period            `json:"period"`
	Pricing      Pricing           `json:"pricing"`
	Proration    bool              `json:"proration"`
	Quantity     int64             `json:"quantity"`
	QuantityText string            `json:"quantity_decimal"`
	TaxRates     form.None         `json:"tax_rates"`
	TestClock    *string           `json:"test_clock"`
	// Created hides the header's field: invoice items have a date instead.
	Created *int64 `json:"created,omitempty"`
}

type itemParent struct {
	SubscriptionDetails struct {
		Subscription     string  `json:"subscription"`
		SubscriptionItem *string `json:"subscription_item"` // null for an item that a client created
	} `json:"subscription_details"`
	Type string `json:"type"`
}

// Line returns the invoice line of the item.
func (ii *Item) Line() Line {
	line := Line{
		ID: form.NewID(Lines.Prefix), Object: Lines.Name, Amount: ii.Amount, Currency: ii.Currency,
		Description: ii.Description, Metadata: ii.Metadata, Period: ii.Period, Pricing: ii.Pricing,
		Discountable: ii.Discountable, Quantity: ii.Quantity, Subscription: &ii.Parent.SubscriptionDetails.Subscription, Subtotal: ii.Amount,
	}
	from := ii.Parent.SubscriptionDetails
	if from.SubscriptionItem == nil {
		line.Parent.Type = "invoice_item_details"
		line.Parent.InvoiceItemDetails = &invoiceItemDetails{InvoiceItem: ii.ID, Subscription: &from.Subscription}
		return line
	}
	line.SetSubscriptionItem(from.Subscription, *from.SubscriptionItem)
	of := line.Parent.SubscriptionItemDetails
	of.InvoiceItem, of.Proration, of.ProrationDetails = &ii.ID, ii.Proration, &prorationDetails{}
	return line
}

// SetSubscription sets the subscription of the item, and the subscription item if item is not nil.
func (ii *Item) SetSubscription(subscription string, item *string) {
	ii.Parent.Type = "subscription_details"
	ii.Parent.SubscriptionDetails.Subscription, ii.Parent.SubscriptionDetails.SubscriptionItem = subscription, item
}

// Payer is the customer and currency of a subscription.
type Payer struct {
	Customer, Currency string
	TestClock          *string
}

// Biller returns the payer of a subscription. It refuses a subscription that has ended.
type Biller func(ctx context.Context, st *kernel.Step, subscription string) (Payer, error)

// CreateItem returns the endpoint POST /v1/invoiceitems. The next invoice of the subscription
// includes the item.
func CreateItem(billed Biller) kernel.Endpoint {
	return func(ctx context.Context, c *kernel.Call) (any, error) {
		p := c.Params
		var customer, subscription string
		p.Require("customer", "subscription")
		p.Text("customer", &customer)
		p.Text("subscription", &subscription)
		ii := readItem(p, c.Now)
		p.Boolean("discountable", &ii.Discountable)
		if err := p.CheckUnread(); err != nil {
			return nil, err
		}
		payer, err := billed(ctx, c.Step, subscription)
		switch {
		case err != nil:
			return nil, err
		case payer.Customer != customer:
			return nil, form.Refuse("subscription", "", "The subscription %s does not belong to the customer %s.", subscription, customer)
		case payer.Currency != ii.Currency:
			return nil, form.Refuse("currency", "", "The currency of the subscription is %s.", payer.Currency)
		}
		ii.Customer, ii.TestClock = customer, payer.TestClock
		ii.SetSubscription(subscription, nil)
		return ii, c.Create(ctx, "invoiceitem.created", ii)
	}
}

// readItem reads the parameters that invoice items and previewed items have in common.
func readItem(p *form.Params, now int64) *Item {
	ii := &Item{
		Header: Items.Start(now), Date: now, Metadata: map[string]string{}, Period: Period{Start: now, End: now}, Quantity: 1, QuantityText: "1",
	}
	p.Require("amount", "currency")
	form.ReadCurrency(p, "currency", &ii.Currency)
	most := billing.MaxAmount(ii.Currency)
	p.Integer("amount", -most, most, &ii.Amount)
	p.Text("description", &ii.Description)
	if period := p.Hash("period"); period != nil {
		period.Require("start", "end")
		period.Integer("start", 0, 1<<40, &ii.Period.Start)
		period.Integer("end", ii.Period.Start, 1<<40, &ii.Period.End)
	}
	p.Metadata(&ii.Metadata)
	ii.Discountable = ii.Amount >= 0
	// Stripe creates a price that only this item uses.
	ii.Pricing = Pricing{Type: "price_details", UnitAmountDecimal: strconv.FormatInt(ii.Amount, 10)}
	ii.Pricing.PriceDetails.Price, ii.Pricing.PriceDetails.Product = form.NewID("price"), form.NewID("prod")
	return ii
}

// ReadPreviewed reads the invoice items that a preview includes. They are not stored.
func ReadPreviewed(p *form.Params, now int64) []*Item {
	var all []*Item
	for _, given := range p.List("invoice_items") {
		ii := readItem(given, now)
		given.Boolean("discountable", &ii.Discountable)
		all = append(all, ii)
	}
	return all
}

// GetItem handles GET /v1/invoiceitems/{id}.
func GetItem(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Items)
}

// ListItems handles GET /v1/invoiceitems.
func ListItems(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.AddEqual(c.Params, "customer", "$.customer")
	f.AddEqual(c.Params, "invoice", "$.invoice")
	if c.Params.Has("pending") {
		var pending bool
		c.Params.Boolean("pending", &pending)
		f.AddCondition(`(doc ->> '$.invoice' IS NULL) = ?`, pending)
	}
	return Items.Page(ctx, c, f)
}
