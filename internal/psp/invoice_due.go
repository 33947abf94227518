package psp

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/stripe/stripe-go/v85"
)

// CollectDue collects, now, the invoices of a subscription that the provider was about to
// collect by itself: that of a renewal is a draft for an hour, and so is the one for what
// waited. With the end of the subscription the provider would leave them for ever. What is
// held back stays so, such as the drafts of a subscription that was unpaid.
//
// One that cannot be paid stays open. It was finalized with automatic collection, so that
// after an attempt of unknown outcome it is found again.
func (c *Client) CollectDue(ctx context.Context, subscriptionID, key string) error {
	due, err := c.invoicesOf(ctx, subscriptionID, stripe.InvoiceStatusDraft, stripe.InvoiceStatusOpen)
	for _, in := range due {
		if !in.AutoAdvance || in.Attempted {
			continue
		}
		if in.Status == stripe.InvoiceStatusDraft {
			if err := ignoreFinalAnswer(c.finalize(ctx, in.ID, true, key+"-finalize-"+in.ID)); err != nil {
				return err
			}
		}
		if err := ignoreFinalAnswer(c.PayInvoice(ctx, in.ID, key+"-pay-"+in.ID)); err != nil {
			return err
		}
	}
	return ignoreFinalAnswer(err)
}

// ignoreFinalAnswer returns nil for an answer that is final: the payment is declined, or the provider
// has done it by itself meanwhile.
func ignoreFinalAnswer(err error) error {
	if errors.Is(err, ErrDeclined) || errors.Is(err, ErrRefused) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// invoicesOf lists a subscription's invoices in some statuses, the oldest first.
func (c *Client) invoicesOf(ctx context.Context, subscriptionID string, statuses ...stripe.InvoiceStatus) ([]*stripe.Invoice, error) {
	all, err := call(ctx, c, "list invoices of a subscription", func(ctx context.Context) (all []*stripe.Invoice, _ error) {
		for _, status := range statuses {
			list := c.api.V1Invoices.List(ctx, &stripe.InvoiceListParams{
				ListParams:   stripe.ListParams{Limit: stripe.Int64(listPage)},
				Subscription: stripe.String(subscriptionID), Status: stripe.String(string(status)),
			})
			for in, err := range list.All(ctx) {
				if err != nil {
					return nil, err
				}
				all = append(all, in)
			}
		}
		return all, nil
	})
	slices.SortStableFunc(all, func(a, b *stripe.Invoice) int { return cmp.Compare(a.Created, b.Created) })
	return all, err
}
