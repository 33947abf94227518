package subscriptions

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
	"github.com/tenantry/tenantry/sandbox/stripe/invoices"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// usageStart is the time from which an item bills usage, if it differs from the start of the period
// because the item was added or its metered price was changed. It is stored under the id of the
// item and is internal to the sandbox.
type usageStart struct {
	kernel.Header
	From int64 `json:"from"`
}

var usageStarts = kernel.Kind[usageStart]{Name: "sandbox.usage_start"}

// storeUsageStarts stores the usage starts of the changed items.
func (sub *Subscription) storeUsageStarts(ctx context.Context, st *kernel.Step) error {
	for _, item := range sub.Items.Data {
		if item.usageFrom == 0 {
			continue
		}
		start := usageStart{Header: kernel.Header{ID: item.ID, Object: usageStarts.Name, Created: st.Now}, From: item.usageFrom}
		if err := kernel.Put(ctx, st.Q, start); err != nil {
			return err
		}
	}
	return nil
}

// usageSince returns the time from which an item bills usage in a period that begins at start.
func usageSince(ctx context.Context, st *kernel.Step, item Item, start int64) (int64, error) {
	kept, err := usageStarts.Find(ctx, st.Q, item.ID)
	switch {
	case err == nil:
		start = max(start, kept.From)
	case !errors.Is(err, kernel.ErrNotFound):
		return 0, err
	}
	return max(start, item.usageFrom), nil
}

// billRemovedUsage bills the usage of the metered prices that a change removes, unless the change disables
// prorations. Stripe does so with billing_mode=flexible, which all subscriptions of the sandbox
// have.
func (rev *revision) billRemovedUsage(ctx context.Context, st *kernel.Step, was, sub *Subscription) error {
	for _, item := range was.Items.Data {
		if is := sub.item(item.ID); !item.Price.IsMetered() || is != nil && is.Price.ID == item.Price.ID {
			continue
		}
		line, err := meteredLine(ctx, st, was, item, rev.since, st.Now, rev.names)
		if err != nil {
			return err
		}
		if line.Amount == 0 {
			continue
		}
		ii := &invoices.Item{
			Header: invoices.Items.Start(st.Now), Amount: line.Amount, Currency: sub.Currency, Customer: sub.Customer, Date: st.Now,
			Description: line.Description, Metadata: map[string]string{}, Period: line.Period, Pricing: line.Pricing,
			Quantity: line.Quantity, QuantityText: *line.QuantityDecimal, TestClock: sub.TestClock,
		}
		ii.SetSubscription(sub.ID, &item.ID)
		rev.prorations = append(rev.prorations, ii)
	}
	return nil
}

// item returns the item with the id, or nil.
func (sub *Subscription) item(id string) *Item {
	for i := range sub.Items.Data {
		if sub.Items.Data[i].ID == id {
			return &sub.Items.Data[i]
		}
	}
	return nil
}

// meteredLine returns the line for the usage of a metered item until end. It begins at start, or
// later if the item bills usage from a later time.
func meteredLine(ctx context.Context, st *kernel.Step, sub *Subscription, item Item, start, end int64, names ProductNames) (invoices.Line, error) {
	name := names[item.Price.Product]
	line := newInvoiceLine(sub, item, name)
	since, err := usageSince(ctx, st, item, start)
	if err != nil {
		return line, err
	}
	line.Period = invoices.Period{Start: min(since, end), End: end}
	err = invoices.MeasureLine(ctx, st, &line, item.Price, sub.Customer, name)
	return line, err
}

// checkItems requires 1 to maxItems items with distinct prices.
func (sub *Subscription) checkItems(ch change) error {
	prices := map[string]bool{}
	for _, item := range sub.Items.Data {
		if prices[item.Price.ID] {
			return form.Refuse(ch.params.Name("items"), "", "Cannot add multiple subscription items with the same price: %s", item.Price.ID)
		}
		prices[item.Price.ID] = true
	}
	if n := len(sub.Items.Data); n == 0 || n > maxItems {
		return form.Refuse(ch.params.Name("items"), "", "A subscription must have from 1 to %d items.", maxItems)
	}
	return nil
}
