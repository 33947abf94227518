package invoices

import (
	"context"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// Items are all invoice items.
var Items = kernel.Kind[Item]{Name: "invoiceitem", Prefix: "ii", Label: "invoiceitem", Path: "/v1/invoiceitems"}

// Item is the credit or charge for a part of a period of a subscription's item.
// It is pending until an invoice of the subscription includes it.
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
	// Created hides the header's: invoice items show date instead.
	Created *int64 `json:"created,omitempty"`
}

type itemParent struct {
	SubscriptionDetails struct {
		Subscription     string `json:"subscription"`
		SubscriptionItem string `json:"subscription_item"`
	} `json:"subscription_details"`
	Type string `json:"type"`
}

// Line returns the invoice line of the item.
func (ii *Item) Line() Line {
	line := Line{
		ID: form.NewID(Lines.Prefix), Object: Lines.Name, Amount: ii.Amount, Currency: ii.Currency,
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

// GetItem answers GET /v1/invoiceitems/{id}.
func GetItem(ctx context.Context, c *kernel.Call) (any, error) {
	return kernel.Retrieve(ctx, c, Items)
}

// ListItems answers GET /v1/invoiceitems.
func ListItems(ctx context.Context, c *kernel.Call) (any, error) {
	var f kernel.Filter
	f.Equals(c.Params, "customer", "$.customer")
	f.Equals(c.Params, "invoice", "$.invoice")
	if c.Params.Has("pending") {
		var pending bool
		c.Params.Boolean("pending", &pending)
		f.And(`(doc ->> '$.invoice' IS NULL) = ?`, pending)
	}
	return Items.Page(ctx, c, f)
}
