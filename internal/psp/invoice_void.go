package psp

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v85"
)

// VoidInvoice voids an open invoice, or discards one that is still a draft. The
// invoice is read back: one that was voided before is returned as it is.
// ErrRefused is the cause when its state does not allow it.
func (c *Client) VoidInvoice(ctx context.Context, id, key string) error {
	in, err := c.GetInvoice(ctx, id)
	if err != nil {
		return err
	}
	if in.Status == string(stripe.InvoiceStatusVoid) {
		return nil
	}
	if in.Status == string(stripe.InvoiceStatusDraft) {
		_, err := write(ctx, c, "delete draft invoice", key, func(ctx context.Context) (struct{}, error) {
			_, err := c.api.V1Invoices.Delete(ctx, id, &stripe.InvoiceDeleteParams{Params: keyed(key)})
			return struct{}{}, err
		})
		if errors.Is(err, ErrNotFound) {
			return nil // an attempt of unknown outcome has done it
		}
		return err
	}
	_, err = write(ctx, c, "void invoice", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Invoices.VoidInvoice(ctx, id, &stripe.InvoiceVoidInvoiceParams{Params: keyed(key)})
		return struct{}{}, err
	})
	return err
}
