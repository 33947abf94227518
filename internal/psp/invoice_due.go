package psp

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/stripe/stripe-go/v85"
)

// collectDue collects, now, the invoices of a subscription that the provider was about to
// collect by itself: that of a renewal is a draft for an hour, and so is the one for what
// waited. With the end of the subscription the provider would leave them for ever.
//
// One that cannot be paid stays open. It was finalized with automatic collection, so that
// after an attempt of unknown outcome it is found again.
func (c *Client) collectDue(ctx context.Context, subscriptionID, key string) error {
	due, err := c.dueInvoices(ctx, subscriptionID)
	if err != nil {
		return err
	}
	for _, in := range due {
		if in.Status == stripe.InvoiceStatusDraft {
			if err := passed(c.finalize(ctx, in.ID, true, key+"-finalize-"+in.ID)); err != nil {
				return err
			}
		}
		if err := passed(c.PayInvoice(ctx, in.ID, key+"-pay-"+in.ID)); err != nil {
			return err
		}
	}
	return nil
}

// passed returns nil for an answer that is final: the payment is declined, or the provider
// has done it by itself meanwhile.
func passed(err error) error {
	if errors.Is(err, ErrDeclined) || errors.Is(err, ErrRefused) || errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// dueInvoices lists the invoices of a subscription that the provider will collect by
// itself and has not tried to yet, the oldest first. It leaves alone what is held back,
// such as the drafts of a subscription that was unpaid.
func (c *Client) dueInvoices(ctx context.Context, subscriptionID string) ([]*stripe.Invoice, error) {
	due, err := call(ctx, c, "list invoices that are due", func(ctx context.Context) (due []*stripe.Invoice, _ error) {
		for _, status := range []stripe.InvoiceStatus{stripe.InvoiceStatusDraft, stripe.InvoiceStatusOpen} {
			list := c.api.V1Invoices.List(ctx, &stripe.InvoiceListParams{
				ListParams:   stripe.ListParams{Limit: stripe.Int64(listPage)},
				Subscription: stripe.String(subscriptionID), Status: stripe.String(string(status)),
			})
			for in, err := range list.All(ctx) {
				if err != nil {
					return nil, err
				}
				if in.AutoAdvance && !in.Attempted {
					due = append(due, in)
				}
			}
		}
		return due, nil
	})
	slices.SortFunc(due, func(a, b *stripe.Invoice) int { return cmp.Compare(a.Created, b.Created) })
	return due, passed(err)
}
