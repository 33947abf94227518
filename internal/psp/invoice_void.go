package psp

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v85"
)

// VoidInvoice voids an open or draft invoice and returns nil if it was already void. It returns
// ErrRefused if the status of the invoice does not allow it.
//
// The provider cannot void drafts. The draft of a subscription is finalized first, without
// collecting it. Any other draft is deleted, and can no longer be found after that.
func (c *Client) VoidInvoice(ctx context.Context, id, key string) error {
	in, err := c.GetInvoice(ctx, id)
	if err != nil {
		return err
	}
	switch draft := in.Status == string(stripe.InvoiceStatusDraft); {
	case in.Status == string(stripe.InvoiceStatusVoid):
		return nil
	case draft && in.SubscriptionID == "":
		return c.deleteDraft(ctx, id, key)
	case draft:
		if err := c.finalize(ctx, id, false, key+"-finalize"); err != nil {
			return err
		}
	}
	_, err = writeOnce(ctx, c, "void invoice", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Invoices.VoidInvoice(ctx, id, &stripe.InvoiceVoidInvoiceParams{Params: idempotencyParams(key)})
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		return c.invoiceHas(ctx, id, func(s stripe.InvoiceStatus) bool { return s == stripe.InvoiceStatusVoid })
	})
	return err
}

// finalize finalizes a draft. collect allows the provider to collect it automatically.
func (c *Client) finalize(ctx context.Context, id string, collect bool, key string) error {
	_, err := writeOnce(ctx, c, "finalize invoice", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Invoices.FinalizeInvoice(ctx, id, &stripe.InvoiceFinalizeInvoiceParams{
			Params: idempotencyParams(key), AutoAdvance: stripe.Bool(collect),
		})
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		return c.invoiceHas(ctx, id, func(s stripe.InvoiceStatus) bool { return s != stripe.InvoiceStatusDraft })
	})
	return err
}

// invoiceHas returns ErrNotDone if the status of an invoice does not satisfy wanted.
func (c *Client) invoiceHas(ctx context.Context, id string, wanted func(stripe.InvoiceStatus) bool) (struct{}, error) {
	in, err := c.GetInvoice(ctx, id)
	if err == nil && !wanted(stripe.InvoiceStatus(in.Status)) {
		err = ErrNotDone
	}
	return struct{}{}, err
}

func (c *Client) deleteDraft(ctx context.Context, id, key string) error {
	_, err := write(ctx, c, "delete draft invoice", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Invoices.Delete(ctx, id, &stripe.InvoiceDeleteParams{Params: idempotencyParams(key)})
		return struct{}{}, err
	})
	if errors.Is(err, ErrNotFound) {
		return nil // deleted by an earlier attempt with an unknown outcome
	}
	return err
}
