package psp

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/stripe/stripe-go/v85"
)

// CollectDue immediately collects the invoices of a subscription that the provider would soon
// collect by itself. The invoice of a renewal is a draft for an hour, and so is the invoice for
// pending items. Once the subscription has ended, the provider would never collect these invoices.
// Invoices without automatic collection, such as the drafts of an unpaid subscription, are not
// touched.
//
// An invoice that cannot be paid stays open. It was finalized with automatic collection, so that a
// retry after an unknown outcome finds it again.
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
		if in.CollectionMethod == stripe.InvoiceCollectionMethodSendInvoice {
			continue
		}
		if err := ignoreFinalAnswer(c.PayInvoice(ctx, in.ID, key+"-pay-"+in.ID)); err != nil {
			return err
		}
	}
	return ignoreFinalAnswer(err)
}

// ignoreFinalAnswer returns nil for a definite answer: the payment was declined, or the provider
// has already collected or finalized the invoice by itself.
func ignoreFinalAnswer(err error) error {
	if errors.Is(err, ErrDeclined) || errors.Is(err, ErrRefused) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// invoicesOf lists a subscription's invoices with one of the statuses, with their payments,
// oldest first.
func (c *Client) invoicesOf(ctx context.Context, subscriptionID string, statuses ...stripe.InvoiceStatus) ([]*stripe.Invoice, error) {
	all, err := call(ctx, c, "list invoices of a subscription", func(ctx context.Context) (all []*stripe.Invoice, _ error) {
		for _, status := range statuses {
			params := &stripe.InvoiceListParams{
				ListParams:   stripe.ListParams{Limit: stripe.Int64(listPage)},
				Subscription: stripe.String(subscriptionID), Status: stripe.String(string(status)),
			}
			params.AddExpand("data.payments")
			for in, err := range c.api.V1Invoices.List(ctx, params).All(ctx) {
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
