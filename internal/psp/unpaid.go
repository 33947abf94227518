package psp

import (
	"context"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// UnpaidInvoice is an open invoice that was not paid when it should have been.
type UnpaidInvoice struct {
	ID string
	// Since is the time of the first attempt that failed, or the due time of a sent invoice.
	Since time.Time
	// Delayed means that the attempt failed later than Since, because it was a bank debit. The
	// provider does not say when.
	Delayed bool
}

// OldestUnpaid returns the oldest invoice of a subscription that is open although an attempt to pay
// it has failed, or although it was sent and its due time has passed. It returns nil if all are paid.
func (c *Client) OldestUnpaid(ctx context.Context, subscriptionID string, now time.Time) (*UnpaidInvoice, error) {
	open, err := c.invoicesOf(ctx, subscriptionID, stripe.InvoiceStatusOpen)
	if err != nil {
		return nil, err
	}
	for _, in := range open {
		if in.CollectionMethod == stripe.InvoiceCollectionMethodSendInvoice {
			if due := timeFromUnix(in.DueDate); in.DueDate != 0 && !due.After(now) {
				return &UnpaidInvoice{ID: in.ID, Since: due}, nil
			}
			continue
		}
		if in.AttemptCount == 0 {
			continue
		}
		unpaid, err := c.firstFailure(ctx, in)
		if err != nil || unpaid != nil {
			return unpaid, err
		}
	}
	return nil, nil //nolint:nilnil // all are paid
}

// firstFailure returns the first failed attempt to pay an open invoice, or nil if no attempt has
// failed. Each attempt that reached the bank is a charge. An attempt that the payer has to confirm
// is not a charge; it was made when the invoice was finalized.
func (c *Client) firstFailure(ctx context.Context, in *stripe.Invoice) (*UnpaidInvoice, error) {
	intent := paymentIntentOf(in.Payments)
	if intent == "" {
		return nil, nil //nolint:nilnil // no payment was attempted
	}
	unpaid := &UnpaidInvoice{ID: in.ID}
	pending := false
	_, err := call(ctx, c, "list charges", func(ctx context.Context) (struct{}, error) {
		list := c.api.V1Charges.List(ctx, &stripe.ChargeListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(listPage)}, PaymentIntent: stripe.String(intent),
		})
		for ch, err := range list.All(ctx) { // newest first
			if err != nil {
				return struct{}{}, err
			}
			pending = pending || ch.Status == stripe.ChargeStatusPending
			if ch.Status == stripe.ChargeStatusFailed {
				unpaid.Since = timeFromUnix(ch.Created)
				unpaid.Delayed = ch.PaymentMethodDetails != nil && ch.PaymentMethodDetails.Card == nil
			}
		}
		return struct{}{}, nil
	})
	switch {
	case err != nil:
		return nil, err
	case !unpaid.Since.IsZero():
		return unpaid, nil
	case pending || in.StatusTransitions == nil || in.StatusTransitions.FinalizedAt == 0:
		return nil, nil //nolint:nilnil // the first attempt is in progress
	}
	unpaid.Since = timeFromUnix(in.StatusTransitions.FinalizedAt)
	return unpaid, nil
}
