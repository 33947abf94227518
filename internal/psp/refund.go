package psp

import (
	"context"
	"errors"

	"github.com/stripe/stripe-go/v85"
)

// payment identifies a payment of an invoice for its refund, by its payment intent or else by its
// charge.
type payment struct {
	intent, charge string
}

// RefundCheckout refunds the full amount of a checkout: payments are refunded, and used credit
// becomes credit again. It returns nil if nothing was paid or everything was already refunded. It
// appends the ID of each payment to the key.
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
	return c.refundPayments(ctx, payments, checkout.InvoiceID, key)
}

// RefundInvoice refunds the full amount of an invoice, as RefundCheckout does, or voids the invoice
// if it is not paid.
func (c *Client) RefundInvoice(ctx context.Context, invoiceID, key string) error {
	in, err := c.GetInvoice(ctx, invoiceID)
	if err != nil {
		return err
	}
	if in.Status != string(stripe.InvoiceStatusPaid) {
		if err := c.VoidInvoice(ctx, invoiceID, key+"-void"); !errors.Is(err, ErrRefused) {
			return ignoreFinalAnswer(err)
		}
		// It was paid in the meantime, or is void already.
		if in, err = c.GetInvoice(ctx, invoiceID); err != nil || in.Status != string(stripe.InvoiceStatusPaid) {
			return err
		}
	}
	payments, err := c.invoicePayments(ctx, invoiceID)
	if err != nil {
		return err
	}
	return c.refundPayments(ctx, payments, invoiceID, key)
}

func (c *Client) refundPayments(ctx context.Context, payments []payment, invoiceID, key string) error {
	for _, p := range payments {
		if err := c.refund(ctx, p, key); err != nil {
			return err
		}
	}
	return c.restoreCredit(ctx, invoiceID, key+"-credit")
}

// invoicePayments lists the payments of an invoice, or no payments for "". In this API version an
// invoice does not contain its payments.
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
			if err != nil {
				return nil, err
			}
			if p.Payment == nil {
				return nil, errUnreadable
			}
			if id := paymentOf(p); id != (payment{}) {
				payments = append(payments, id)
			}
		}
		return payments, nil
	})
}

// paymentOf identifies a payment. It returns zero for a payment that was made outside the provider.
func paymentOf(p *stripe.InvoicePayment) payment {
	switch {
	case p.Payment == nil:
		return payment{}
	case p.Payment.PaymentIntent != nil:
		return payment{intent: p.Payment.PaymentIntent.ID}
	case p.Payment.Charge != nil:
		return payment{charge: p.Payment.Charge.ID}
	default:
		return payment{}
	}
}

// RefundedAmount returns the part of an invoice's total that was returned to the customer: refunds that
// have not failed, open and lost disputes, and credit notes. A refund that belongs to a credit note
// counts once. The amount is in the minor units of this service.
func (c *Client) RefundedAmount(ctx context.Context, in Invoice) (int64, error) {
	payments, err := c.invoicePayments(ctx, in.ID)
	if err != nil {
		return 0, err
	}
	inNotes, err := c.creditNoteRefunds(ctx, in)
	if err != nil {
		return 0, err
	}
	var returned int64
	for _, p := range payments {
		ch, err := c.chargeOf(ctx, p)
		if err != nil {
			return 0, err
		}
		refunded, err := c.sumRefunds(ctx, ch.ID, inNotes)
		if err != nil {
			return 0, err
		}
		returned += refunded
		if ch.Disputed {
			disputed, err := c.sumDisputes(ctx, ch.ID)
			if err != nil {
				return 0, err
			}
			returned += disputed
		}
	}
	units, err := c.UnitsRead(ctx, in.Currency)
	if err != nil {
		return 0, err
	}
	return units.FromProvider(returned) + in.Credited, nil
}

// metaCreditNote is the metadata key of the refunds that replace the failed refund of a credit note, as
// in package creditnote.
const metaCreditNote = "credit_note_id"

// creditNoteRefunds returns the IDs of the refunds of an invoice's credit notes.
func (c *Client) creditNoteRefunds(ctx context.Context, in Invoice) (map[string]bool, error) {
	ids := map[string]bool{}
	if in.Credited == 0 {
		return ids, nil
	}
	return call(ctx, c, "list credit notes", func(ctx context.Context) (map[string]bool, error) {
		for note, err := range c.api.V1CreditNotes.List(ctx, &stripe.CreditNoteListParams{Invoice: stripe.String(in.ID)}).All(ctx) {
			if err != nil {
				return nil, err
			}
			for _, r := range note.Refunds {
				if r.Refund != nil {
					ids[r.Refund.ID] = true
				}
			}
		}
		return ids, nil
	})
}

// sumRefunds returns the sum of a charge's refunds that have not failed and belong to no credit note,
// in the provider's minor units.
func (c *Client) sumRefunds(ctx context.Context, chargeID string, inNotes map[string]bool) (int64, error) {
	return call(ctx, c, "list refunds", func(ctx context.Context) (sum int64, _ error) {
		for r, err := range c.api.V1Refunds.List(ctx, &stripe.RefundListParams{Charge: stripe.String(chargeID)}).All(ctx) {
			if err != nil {
				return 0, err
			}
			isReturned := r.Status != stripe.RefundStatusFailed && r.Status != stripe.RefundStatusCanceled
			if isReturned && !inNotes[r.ID] && r.Metadata[metaCreditNote] == "" {
				sum += r.Amount
			}
		}
		return sum, nil
	})
}

// chargeOf returns the charge that made a payment.
func (c *Client) chargeOf(ctx context.Context, p payment) (*stripe.Charge, error) {
	if p.charge != "" {
		return read(ctx, c, "get charge", p.charge, func(ctx context.Context) (*stripe.Charge, error) {
			return c.api.V1Charges.Retrieve(ctx, p.charge, nil)
		})
	}
	intent, err := read(ctx, c, "get payment intent", p.intent, func(ctx context.Context) (*stripe.PaymentIntent, error) {
		params := &stripe.PaymentIntentRetrieveParams{}
		params.AddExpand("latest_charge")
		return c.api.V1PaymentIntents.Retrieve(ctx, p.intent, params)
	})
	if err != nil {
		return nil, err
	}
	if intent.LatestCharge == nil {
		return nil, errUnreadable
	}
	return intent.LatestCharge, nil
}

// sumDisputes returns the sum of a charge's open and lost disputes, in the provider's minor units.
// An inquiry (a status that begins with warning) takes no money.
func (c *Client) sumDisputes(ctx context.Context, chargeID string) (int64, error) {
	return call(ctx, c, "list disputes", func(ctx context.Context) (sum int64, _ error) {
		for d, err := range c.api.V1Disputes.List(ctx, &stripe.DisputeListParams{Charge: stripe.String(chargeID)}).All(ctx) {
			if err != nil {
				return 0, err
			}
			switch d.Status {
			case stripe.DisputeStatusNeedsResponse, stripe.DisputeStatusUnderReview, stripe.DisputeStatusLost:
				sum += d.Amount
			}
		}
		return sum, nil
	})
}

func (c *Client) refund(ctx context.Context, p payment, key string) error {
	if key == "" {
		return c.failure(ctx, "refund", errNoKey)
	}
	key += "-" + p.intent + p.charge
	_, err := write(ctx, c, "refund", key, func(ctx context.Context) (struct{}, error) {
		_, err := c.api.V1Refunds.Create(ctx, &stripe.RefundCreateParams{
			Params:        idempotencyParams(key),
			PaymentIntent: stringOrNil(p.intent),
			Charge:        stringOrNil(p.charge),
		})
		var refusal *stripe.Error
		if errors.As(err, &refusal) && refusal.Code == stripe.ErrorCodeChargeAlreadyRefunded {
			return struct{}{}, nil
		}
		return struct{}{}, err
	})
	return err
}
