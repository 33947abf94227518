package subscriptions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// Items manages the invoice items of subscriptions that are pending for the next invoice, such as the
// prorations of seats. When an invoice is voided, the provider leaves its items on it. Recreate
// creates them again if they should be pending.
type Items struct{ Client *psp.Client }

// Item is an invoice item.
type Item struct {
	ID     string
	Amount int64 // in the minor units of this service; set only by ListPending
	raw    *stripe.InvoiceItem
}

// ListPending returns the items that are pending for the next invoice of a subscription.
func (i Items) ListPending(ctx context.Context, customerID, subscriptionID string) ([]Item, error) {
	all, err := i.list(ctx, "list pending invoice items", &stripe.InvoiceItemListParams{
		Customer: stripe.String(customerID), Pending: stripe.Bool(true),
	})
	all = slices.DeleteFunc(all, func(item Item) bool { return item.subscription() != subscriptionID })
	for n := range all {
		units, unitsErr := i.Client.UnitsRead(ctx, string(all[n].raw.Currency))
		if err = errors.Join(err, unitsErr); err == nil {
			all[n].Amount = units.FromProvider(all[n].raw.Amount)
		}
	}
	return all, err
}

// ChargeUnpaid creates an item on the next invoice of a subscription that charges a credit again
// because its time was never paid for. The item covers the time from since to the end of the
// period.
func (i Items) ChargeUnpaid(ctx context.Context, sub psp.Subscription, since time.Time, amount int64, key string) error {
	units, err := i.Client.UnitsRead(ctx, sub.Currency)
	if err != nil {
		return err
	}
	if amount, err = units.ToProvider(amount); err != nil {
		return err
	}
	params := &stripe.InvoiceItemCreateParams{
		Params:   stripe.Params{IdempotencyKey: stripe.String(key)},
		Customer: stripe.String(sub.CustomerID), Subscription: stripe.String(sub.ID),
		Amount: stripe.Int64(amount), Currency: stripe.String(strings.ToLower(sub.Currency)), Discountable: stripe.Bool(false),
		Description: stripe.String("Unused time that was not paid"),
		Metadata:    map[string]string{psp.MetaUnpaid: sub.ItemID},
		Period:      &stripe.InvoiceItemCreatePeriodParams{Start: stripe.Int64(since.Unix()), End: stripe.Int64(sub.PeriodEnd.Unix())},
	}
	_, err = psp.Write(ctx, i.Client, "charge an unpaid credit", key, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1InvoiceItems.Create(ctx, params)
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		pending, err := i.ListPending(ctx, sub.CustomerID, sub.ID)
		made := slices.ContainsFunc(pending, func(item Item) bool { return item.ChargesUnpaid() && item.raw.Amount == amount })
		if err == nil && !made {
			err = psp.ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

// ChargesUnpaid reports whether the item charges a credit again because its time was never paid
// for.
func (i Item) ChargesUnpaid() bool { return i.raw.Metadata[psp.MetaUnpaid] != "" }

// Line returns the amount, price, quantity and period of the item as an invoice line.
func (i Item) Line() psp.InvoiceLine {
	line := psp.InvoiceLine{Amount: i.Amount, Quantity: i.raw.Quantity}
	if p := i.raw.Pricing; p != nil && p.PriceDetails != nil && p.PriceDetails.Price != nil {
		line.PriceID = p.PriceDetails.Price.ID
	}
	if p := i.raw.Period; p != nil {
		line.PeriodStart, line.PeriodEnd = time.Unix(p.Start, 0).UTC(), time.Unix(p.End, 0).UTC()
	}
	return line
}

// InvoiceOf returns the invoice that contains an item, or "" while the item is pending. It returns
// psp.ErrNotFound if the item no longer exists.
func (i Items) InvoiceOf(ctx context.Context, id string) (string, error) {
	item, _, err := psp.Call(ctx, i.Client, "get invoice item", func(ctx context.Context, api *calls.API) (*stripe.InvoiceItem, error) {
		return api.V1InvoiceItems.Retrieve(ctx, id, nil)
	})
	if err != nil || item.Invoice == nil {
		return "", err
	}
	return item.Invoice.ID, nil
}

// ListOfInvoice returns the items of an invoice.
func (i Items) ListOfInvoice(ctx context.Context, invoiceID string) ([]Item, error) {
	return i.list(ctx, "list items of an invoice", &stripe.InvoiceItemListParams{Invoice: stripe.String(invoiceID)})
}

// SumItems returns the sums of the items.
func SumItems(all []Item) psp.PendingAmounts {
	var sum psp.PendingAmounts
	for _, item := range all {
		sum.Currency = string(item.raw.Currency)
		sum.Credit += min(item.raw.Amount, 0)
		sum.Charge += max(item.raw.Amount, 0)
	}
	return sum
}

// Recreate creates the given items of an invoice again, so that they are pending for the next
// invoice. since is the time at which the given invoice was created. Recreate is idempotent: for a
// day because of the idempotency key, and afterwards because the metadata of a new item names the
// replaced item.
func (i Items) Recreate(ctx context.Context, all []Item, since time.Time) error {
	if len(all) == 0 {
		return nil
	}
	made, err := i.listReplaced(ctx, all[0].raw.Customer.ID, since)
	if err != nil {
		return err
	}
	for _, item := range all {
		if made[item.ID] {
			continue
		}
		if err := i.recreateItem(ctx, item, since); err != nil {
			return err
		}
	}
	return nil
}

func (i Items) recreateItem(ctx context.Context, item Item, since time.Time) error {
	old := item.raw
	params := &stripe.InvoiceItemCreateParams{
		Params:   stripe.Params{IdempotencyKey: stripe.String("again-" + item.ID)},
		Customer: stripe.String(old.Customer.ID), Subscription: stripe.String(item.subscription()),
		Amount: stripe.Int64(old.Amount), Currency: stripe.String(string(old.Currency)), Discountable: stripe.Bool(false),
		Metadata: map[string]string{psp.MetaReplacedItem: item.ID},
	}
	if old.Description != "" {
		params.Description = stripe.String(old.Description)
	}
	if p := old.Period; p != nil {
		params.Period = &stripe.InvoiceItemCreatePeriodParams{Start: stripe.Int64(p.Start), End: stripe.Int64(p.End)}
	}
	if price := old.Metadata[psp.MetaPrice]; price != "" { // it is a replacement itself
		params.Metadata[psp.MetaPrice] = price
	} else if p := old.Pricing; p != nil && p.PriceDetails != nil && p.PriceDetails.Price != nil {
		params.Metadata[psp.MetaPrice] = p.PriceDetails.Price.ID
	}
	_, err := psp.Write(ctx, i.Client, "make invoice item again", *params.IdempotencyKey, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1InvoiceItems.Create(ctx, params)
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		made, err := i.listReplaced(ctx, old.Customer.ID, since)
		if err == nil && !made[item.ID] {
			err = psp.ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

// listReplaced returns the IDs of a customer's items for which a replacement was created after
// since.
func (i Items) listReplaced(ctx context.Context, customerID string, since time.Time) (map[string]bool, error) {
	all, err := i.list(ctx, "list invoice items", &stripe.InvoiceItemListParams{
		Customer: stripe.String(customerID), CreatedRange: &stripe.RangeQueryParams{GreaterThanOrEqual: since.Unix()},
	})
	made := map[string]bool{}
	for _, item := range all {
		made[item.raw.Metadata[psp.MetaReplacedItem]] = true
	}
	return made, err
}

func (i Items) list(ctx context.Context, op string, params *stripe.InvoiceItemListParams) ([]Item, error) {
	all, _, err := psp.Call(ctx, i.Client, op, func(ctx context.Context, api *calls.API) (all []Item, _ error) {
		params := *params
		params.Limit = stripe.Int64(100)
		for item, err := range api.V1InvoiceItems.List(ctx, &params).All(ctx) {
			if err != nil {
				return nil, err
			}
			all = append(all, Item{ID: item.ID, raw: item})
		}
		return all, nil
	})
	return all, err
}

// subscription returns the subscription that an item belongs to, or "".
func (i Item) subscription() string {
	if p := i.raw.Parent; p != nil && p.SubscriptionDetails != nil {
		return p.SubscriptionDetails.Subscription
	}
	return ""
}
