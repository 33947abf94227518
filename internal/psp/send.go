package psp

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v85"
)

// HasEnded reports whether a subscription has ended.
func (c *Client) HasEnded(ctx context.Context, subscriptionID string) (bool, error) {
	sub, err := c.GetSubscription(ctx, subscriptionID)
	return sub.Status == statusCanceled, err
}

// The billing reasons of invoices that are sent as soon as they are created.
const (
	reasonCreate = string(stripe.InvoiceBillingReasonSubscriptionCreate)
	reasonUpdate = string(stripe.InvoiceBillingReasonSubscriptionUpdate)
)

// IsSentAtOnce reports whether the invoice is a draft that is sent without the provider's delay: the
// first invoice of a subscription or the invoice of a change.
func (in Invoice) IsSentAtOnce() bool {
	return in.IsSent && in.Status == string(stripe.InvoiceStatusDraft) && (in.BillingReason == reasonCreate || in.BillingReason == reasonUpdate)
}

// FinalizeInvoice finalizes a draft. It does nothing if the invoice is not a draft. It is idempotent
// because its key is fixed.
func (c *Client) FinalizeInvoice(ctx context.Context, id string) error {
	return ignoreFinalAnswer(c.finalize(context.WithValue(ctx, refusable{}, true), id, true, "send-"+id))
}

// SendInvoices finalizes the drafts of a subscription that are sent without the provider's delay.
// If the subscription has ended, it finalizes all drafts, because the provider does not finalize
// them.
func (c *Client) SendInvoices(ctx context.Context, subscriptionID string, ended bool) error {
	drafts, err := c.invoicesOf(ctx, subscriptionID, stripe.InvoiceStatusDraft)
	if err != nil {
		return err
	}
	for _, draft := range drafts {
		in := newInvoice(draft)
		if in.IsSentAtOnce() || ended && in.IsSent {
			err = errors.Join(err, c.FinalizeInvoice(ctx, in.ID))
		}
	}
	return err
}
