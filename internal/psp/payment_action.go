package psp

import (
	"context"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/money"
)

// paymentAction returns the action that an invoice requires from the payer. It is zero if the
// invoice is not open, or if a bank debit is in progress. The invoice must have its payments
// expanded.
func (c *Client) paymentAction(ctx context.Context, in *stripe.Invoice) (_ money.PaymentAction, inProgress bool, _ error) {
	if in == nil || in.Status != stripe.InvoiceStatusOpen || in.HostedInvoiceURL == "" || in.AmountRemaining <= 0 {
		return money.PaymentAction{}, false, nil
	}
	action := money.PaymentAction{Type: money.ActionPay, URL: in.HostedInvoiceURL}
	intent := paymentIntentOf(in.Payments)
	if intent == "" {
		return action, false, nil
	}
	pi, err := read(ctx, c, "get payment intent", intent, func(ctx context.Context) (*stripe.PaymentIntent, error) {
		return c.api.V1PaymentIntents.Retrieve(ctx, intent, nil)
	})
	switch {
	case err != nil:
		return money.PaymentAction{}, false, err
	case pi.Status == stripe.PaymentIntentStatusProcessing:
		return money.PaymentAction{}, true, nil
	case pi.Status == stripe.PaymentIntentStatusRequiresAction:
		action.Type = money.ActionConfirm
	}
	return action, false, nil
}

// MarkPaid records that an open invoice was paid outside of the provider, so that the provider does
// not charge it. It fails with ErrRefused if the invoice is not open.
func (c *Client) MarkPaid(ctx context.Context, id, key string) error {
	_, err := writeOnce(context.WithValue(ctx, refusable{}, true), c, "mark invoice as paid", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Invoices.Pay(ctx, id, &stripe.InvoicePayParams{Params: idempotencyParams(key), PaidOutOfBand: stripe.Bool(true)})
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		in, err := c.GetInvoice(ctx, id)
		if err == nil && !in.PaidOutside {
			err = ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

// PayInvoice collects an open invoice now. It fails with ErrDeclined if the payment is declined or
// the payment method is missing, and with ErrRefused if the invoice is not open. A refusal is not
// logged as a defect: if several payments are concurrent, the provider makes one and refuses the
// others.
func (c *Client) PayInvoice(ctx context.Context, id, key string) error {
	_, err := write(context.WithValue(ctx, refusable{}, true), c, "pay invoice", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Invoices.Pay(ctx, id, &stripe.InvoicePayParams{Params: idempotencyParams(key)})
		return struct{}{}, err
	})
	return err
}
