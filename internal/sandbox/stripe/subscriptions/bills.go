package subscriptions

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenantry/tenantry/internal/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/form"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/internal/sandbox/stripe/kernel"
)

// bill says what an invoice of a subscription is to hold.
type bill struct {
	sub    *Subscription
	cu     *customers.Customer
	reason string
	since  int64 // the start of the invoice's own period
	at     int64 // when it is drawn up
	// wait is how long it stays a draft before it is finalized by itself, in
	// seconds; 0 when whoever makes it sees to that.
	wait int64
	// held keeps it a draft until somebody finalizes it.
	held bool
	// period bills the items for their current period, or shows the trial.
	period  bool
	pending []*invoices.Item
	// usage is what was used of metered items in the period that is over.
	usage []invoices.Line
	names ProductNames
}

// needed tells whether there is anything to bill.
func (b bill) needed() bool {
	return b.period || len(b.pending) > 0 || slices.ContainsFunc(b.usage, func(l invoices.Line) bool { return l.Amount > 0 })
}

// ProductNames are the names of products by their ids.
type ProductNames map[string]string

// productNames reads the names of what a subscription's items are prices of.
func ReadProductNames(ctx context.Context, st *kernel.Step, items []Item, into ProductNames) error {
	for _, item := range items {
		if _, known := into[item.Price.Product]; known {
			continue
		}
		pd, err := catalog.Products.Get(ctx, st.Q, item.Price.Product, "product")
		if err != nil {
			return err
		}
		into[pd.ID] = pd.Name
	}
	return nil
}

// draft draws an invoice up. It is what a preview shows and what is then billed,
// and stores nothing.
func (b bill) draft() *invoices.Invoice {
	sub, cu := b.sub, b.cu
	in := &invoices.Invoice{
		Header: invoices.All.Start(b.at), AccountCountry: kernel.AccountCountry, AccountName: kernel.AccountName, AutoAdvance: true,
		BillingReason: b.reason, CollectionMethod: sub.CollectionMethod, Currency: sub.Currency,
		Customer: cu.ID, CustomerAddress: cu.Address, CustomerEmail: cu.Email, CustomerName: cu.Name,
		CustomerPhone: cu.Phone, CustomerTaxExempt: cu.TaxExempt, Issuer: form.Self{Type: "self"},
		Metadata: map[string]string{}, PeriodStart: b.since, PeriodEnd: b.at, Status: invoices.Draft,
	}
	if b.held {
		in.AutoAdvance = false
	} else if b.wait > 0 {
		at := b.at + b.wait
		in.AutomaticallyFinalizes, in.NextPaymentAttempt = &at, &at
	}
	in.Parent.Type = "subscription_details"
	in.Parent.SubscriptionDetails.Subscription = sub.ID
	in.Parent.SubscriptionDetails.Metadata = sub.Metadata
	var lines []invoices.Line
	for i := len(b.pending); i > 0; { // the newest change first, each with its credit first
		end := i
		for i > 0 && b.pending[i-1].Date == b.pending[end-1].Date {
			i--
		}
		for _, item := range b.pending[i:end] {
			lines = append(lines, item.Line())
		}
	}
	if b.period {
		for _, item := range sub.Items.Data {
			if !item.Price.Metered() {
				lines = append(lines, newInvoiceLine(sub, item, b.names[item.Price.Product]))
			}
		}
	}
	lines = append(lines, b.usage...)
	for i := range lines {
		lines[i].Invoice = in.ID
		in.Total += lines[i].Amount
	}
	in.Lines = form.NewList("/v1/invoices/"+in.ID+"/lines", lines)
	in.Subtotal, in.SubtotalExcludingTax, in.TotalExcludingTax = in.Total, in.Total, in.Total
	in.SetBalance(cu)
	return in
}

func newInvoiceLine(sub *Subscription, item Item, name string) invoices.Line {
	line := invoices.Line{
		ID: form.NewID(invoices.Lines.Prefix), Object: invoices.Lines.Name, Currency: sub.Currency, Discountable: true,
		Metadata: sub.Metadata, Period: invoices.Period{Start: item.CurrentPeriodStart, End: item.CurrentPeriodEnd},
		Pricing: invoices.NewPricing(item.Price), Quantity: item.Quantity, Subscription: sub.ID,
	}
	line.Parent.Type = "subscription_item_details"
	line.Parent.SubscriptionItemDetails.Subscription = sub.ID
	line.Parent.SubscriptionItemDetails.SubscriptionItem = item.ID
	if sub.Status == Trialing {
		line.Description = "Trial period for " + name
		line.Pricing.UnitAmountDecimal = "0"
		return line
	}
	line.Amount = item.amount()
	line.Subtotal = line.Amount
	line.Description = fmt.Sprintf("%d × %s (at %s)", item.Quantity, name, catalog.DescribePrice(item.Price))
	return line
}

// issue stores the draft of an invoice, with the pending items that it takes up,
// and makes it the subscription's latest one, without storing that.
func issueInvoice(ctx context.Context, st *kernel.Step, b bill) (*invoices.Invoice, error) {
	in := b.draft()
	for _, item := range b.pending {
		item.Invoice = &in.ID
		if err := kernel.Put(ctx, st.Q, item); err != nil {
			return nil, err
		}
	}
	b.sub.LatestInvoice = &in.ID
	if in.AutomaticallyFinalizes != nil {
		if err := st.SetTimer(ctx, invoices.TimerFinalizes, in.ID, *in.AutomaticallyFinalizes); err != nil {
			return nil, err
		}
	}
	return in, st.Create(ctx, "invoice.created", in)
}

// meteredLines are the lines of an invoice for what was used of a subscription's
// metered items from start to before end, in the order of the items. Usage is
// paid for afterwards, so this is the period that is over, or what there has
// been of the current one. In a trial it costs nothing and has no lines.
func meteredLines(ctx context.Context, st *kernel.Step, sub *Subscription, start, end int64, names ProductNames) ([]invoices.Line, error) {
	if sub.Status == Trialing {
		return nil, nil
	}
	var lines []invoices.Line
	for _, item := range sub.Items.Data {
		if !item.Price.Metered() {
			continue
		}
		name := names[item.Price.Product]
		line := newInvoiceLine(sub, item, name)
		line.Period = invoices.Period{Start: start, End: end}
		if err := invoices.MeasureLine(ctx, st, &line, item.Price, sub.Customer, name); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}
