package subscriptions

import (
	"context"
	"fmt"
	"slices"

	"github.com/tenantry/tenantry/sandbox/stripe/catalog"
	"github.com/tenantry/tenantry/sandbox/stripe/customers"
	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// bill contains the inputs of a subscription's invoice.
type bill struct {
	sub    *Subscription
	cu     *customers.Customer
	reason string
	since  int64 // the start of the invoice's period
	at     int64 // the time of the invoice
	// wait is the time until the draft is finalized automatically, in seconds. It is 0 if the
	// caller finalizes the invoice.
	wait int64
	// held leaves the invoice a draft until a client finalizes it.
	held bool
	// period adds a line for each item's current period, or for the trial.
	period  bool
	pending []*invoices.Item
	// usage has the lines for the metered usage of the previous period.
	usage []invoices.Line
	names ProductNames
}

// isNeeded reports whether there is anything to bill. If all items are metered, the first period
// has no usage to bill, and Stripe creates no invoice for it.
func (b bill) isNeeded() bool {
	licensed := slices.ContainsFunc(b.sub.Items.Data, func(item Item) bool { return !item.Price.IsMetered() })
	return b.period && (licensed || len(b.usage) > 0) || len(b.pending) > 0 ||
		slices.ContainsFunc(b.usage, func(l invoices.Line) bool { return l.Amount > 0 })
}

// ProductNames maps product ids to names.
type ProductNames map[string]string

// ReadProductNames adds the names of the items' products to into.
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

// draft returns the invoice without storing it. Previews and invoices both use it, so that a
// preview matches the later invoice.
func (b bill) draft() *invoices.Invoice {
	sub, cu := b.sub, b.cu
	in := &invoices.Invoice{
		Header: invoices.All.Start(b.at), AccountCountry: kernel.AccountCountry, AccountName: kernel.AccountName, AutoAdvance: true,
		BillingReason: b.reason, CollectionMethod: sub.CollectionMethod, Currency: sub.Currency,
		Customer: cu.ID, CustomerAddress: cu.Address, CustomerEmail: cu.Email, CustomerName: cu.Name,
		CustomerPhone: cu.Phone, CustomerTaxExempt: cu.TaxExempt, CustomerTaxIDs: []customers.TaxIDLine{}, Issuer: form.Self{Type: "self"},
		Metadata: map[string]string{}, PeriodStart: b.since, PeriodEnd: b.at, Status: invoices.StatusDraft, TestClock: sub.TestClock,
	}
	b.schedule(in)
	in.SetSubscription(sub.ID, sub.Metadata)
	var lines []invoices.Line
	for i := len(b.pending); i > 0; { // the newest change first, each with its credit before its charge
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
			if !item.Price.IsMetered() {
				lines = append(lines, newInvoiceLine(sub, item, b.names[item.Price.Product]))
			}
		}
	}
	lines = append(lines, b.usage...)
	for i := range lines {
		lines[i].Invoice = in.ID
	}
	in.Lines = form.NewList("/v1/invoices/"+in.ID+"/lines", lines)
	if sub.off.AppliesAt(b.at) {
		in.ApplyDiscount(sub.off)
	} else {
		in.ApplyDiscount(nil)
	}
	in.SetBalance(cu)
	return in
}

// schedule sets when the draft is finalized automatically. A sent invoice is always a draft for an
// hour (https://docs.stripe.com/subscriptions/invoices).
func (b bill) schedule(in *invoices.Invoice) {
	wait := b.wait
	if in.IsSent() {
		due := b.at + *b.sub.DaysUntilDue*secondsOfDay
		in.DueDate, wait = &due, draftLife
	}
	switch at := b.at + wait; {
	case b.held:
		in.AutoAdvance = false
	case wait > 0 && in.IsSent():
		in.AutomaticallyFinalizes = &at
	case wait > 0:
		in.AutomaticallyFinalizes, in.NextPaymentAttempt = &at, &at
	}
}

// newInvoiceLine returns the line for an item's current period.
func newInvoiceLine(sub *Subscription, item Item, name string) invoices.Line {
	line := invoices.Line{
		ID: form.NewID(invoices.Lines.Prefix), Object: invoices.Lines.Name, Currency: sub.Currency, Discountable: true,
		Metadata: sub.Metadata, Period: invoices.Period{Start: item.CurrentPeriodStart, End: item.CurrentPeriodEnd},
		Pricing: invoices.NewPricing(item.Price), Quantity: item.Quantity, Subscription: &sub.ID,
	}
	line.SetSubscriptionItem(sub.ID, item.ID)
	if sub.Status == StatusTrialing {
		line.Description = "Trial period for " + name
		line.Pricing.UnitAmountDecimal = "0"
		return line
	}
	line.Amount = item.amount()
	line.Subtotal = line.Amount
	line.Description = fmt.Sprintf("%d × %s (at %s)", item.Quantity, name, catalog.DescribePrice(item.Price))
	return line
}

// issueInvoice stores a bill as a draft, marks the pending items as invoiced and sets the
// subscription's latest invoice. The caller stores the subscription.
func issueInvoice(ctx context.Context, st *kernel.Step, b bill) (*invoices.Invoice, error) {
	if err := b.sub.loadDiscount(ctx, st); err != nil {
		return nil, err
	}
	in := b.draft()
	if err := b.sub.useDiscount(ctx, st, in, b.at); err != nil {
		return nil, err
	}
	if err := in.SetCustomer(ctx, st, b.cu); err != nil {
		return nil, err
	}
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

// meteredLines returns the lines for the usage of a subscription's metered items between start and
// end, in the order of the items. Usage is billed in arrears, so the span is the previous period or
// the elapsed part of the current period. Usage during a trial is free and has no lines.
func meteredLines(ctx context.Context, st *kernel.Step, sub *Subscription, start, end int64, names ProductNames) ([]invoices.Line, error) {
	if sub.Status == StatusTrialing {
		return nil, nil
	}
	var lines []invoices.Line
	for _, item := range sub.Items.Data {
		if !item.Price.IsMetered() {
			continue
		}
		line, err := meteredLine(ctx, st, sub, item, start, end, names)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, nil
}
