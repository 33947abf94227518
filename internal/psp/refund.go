package psp

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v85"
)

// payment identifies one payment of an invoice for its refund: by a payment intent,
// else by a charge.
type payment struct {
	intent, charge string
}

// RefundCheckout gives back everything that a checkout took, in the form in which it
// was taken: payments are refunded, and credit becomes credit again. It is no error if
// nothing was paid or everything was given back before. The id of each payment is
// added to the key.
func (c *Client) RefundCheckout(ctx context.Context, sessionID, key string) error {
	checkout, err := c.GetCheckout(ctx, sessionID)
	if err != nil {
		return err
	}
	payments := []payment{{intent: checkout.PaymentIntentID}}
	if checkout.PaymentIntentID == "" {
		if payments, err = c.invoicePayments(ctx, checkout.InvoiceID); err != nil {
			return err
		}
	}
	for _, p := range payments {
		if err := c.refund(ctx, p, key); err != nil {
			return err
		}
	}
	return c.giveBackCredit(ctx, checkout.InvoiceID, key+"-credit")
}

// invoicePayments lists the payments of an invoice; none for "". In this version of
// the API an invoice does not name its payments itself.
func (c *Client) invoicePayments(ctx context.Context, invoiceID string) ([]payment, error) {
	if invoiceID == "" {
		return nil, nil
	}
	return call(ctx, c, "list invoice payments", func(ctx context.Context) ([]payment, error) {
		list := c.api.V1InvoicePayments.List(ctx, &stripe.InvoicePaymentListParams{
			Invoice: stripe.String(invoiceID),
			Status:  stripe.String("paid"),
		})
		var payments []payment
		for p, err := range list.All(ctx) {
			switch {
			case err != nil:
				return nil, err
			case p.Payment == nil:
				return nil, errUnreadable
			case p.Payment.PaymentIntent != nil:
				payments = append(payments, payment{intent: p.Payment.PaymentIntent.ID})
			case p.Payment.Charge != nil:
				payments = append(payments, payment{charge: p.Payment.Charge.ID})
			}
		}
		return payments, nil
	})
}

func (c *Client) refund(ctx context.Context, p payment, key string) error {
	if key == "" {
		return c.failure(ctx, "refund", errNoKey)
	}
	key += "-" + p.intent + p.charge
	_, err := write(ctx, c, "refund", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Refunds.Create(ctx, &stripe.RefundCreateParams{
			Params:        keyed(key),
			PaymentIntent: optional(p.intent),
			Charge:        optional(p.charge),
		})
		var refusal *stripe.Error
		if errors.As(err, &refusal) && refusal.Code == stripe.ErrorCodeChargeAlreadyRefunded {
			return struct{}{}, nil
		}
		return struct{}{}, err
	})
	return err
}
