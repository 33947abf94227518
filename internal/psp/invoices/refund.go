package invoices

import (
	"context"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// The statuses of a refund. A refund can fail after it succeeded
// (https://docs.stripe.com/refunds#failed-refunds).
const (
	RefundPending   = "pending"
	RefundSucceeded = "succeeded"
	RefundFailed    = "failed"
)

// statusOf returns the status of a refund. A refund that waits for the customer is pending, and a
// canceled one has failed.
func statusOf(r *stripe.Refund) string {
	switch r.Status {
	case stripe.RefundStatusSucceeded:
		return RefundSucceeded
	case stripe.RefundStatusFailed, stripe.RefundStatusCanceled:
		return RefundFailed
	default:
		return RefundPending
	}
}

// Refund is a refund of a payment.
type Refund struct {
	ID       string
	Key      string // the key passed to CreditNotes.Refund; empty for other refunds
	Currency string // ISO 4217, upper case
	Amount   int64
	Status   string
	At       time.Time
}

// Payment is a payment of an invoice by a card or a bank debit.
type Payment struct {
	intent, charge, currency string
	Amount                   int64
	Refunds                  []Refund // oldest first
}

// RefundableAmount returns the amount of the payment that was not refunded.
func (p Payment) RefundableAmount() int64 {
	left := p.Amount
	for _, r := range p.Refunds {
		if r.Status != RefundFailed {
			left -= r.Amount
		}
	}
	return max(left, 0)
}

// Payments returns the payments of an invoice with their refunds. Payments outside of the provider
// are omitted.
func (n CreditNotes) Payments(ctx context.Context, invoiceID string) ([]Payment, error) {
	found, _, err := psp.Call(ctx, n.Client, "list invoice payments", func(ctx context.Context, api *calls.API) (all []Payment, _ error) {
		list := api.V1InvoicePayments.List(ctx, &stripe.InvoicePaymentListParams{Invoice: stripe.String(invoiceID), Status: stripe.String("paid")})
		for p, err := range list.All(ctx) {
			if err != nil {
				return nil, err
			}
			payment := Payment{currency: string(p.Currency), Amount: p.AmountPaid}
			switch {
			case p.Payment == nil:
			case p.Payment.PaymentIntent != nil:
				payment.intent = p.Payment.PaymentIntent.ID
			case p.Payment.Charge != nil:
				payment.charge = p.Payment.Charge.ID
			}
			if payment.intent+payment.charge != "" {
				all = append(all, payment)
			}
		}
		return all, nil
	})
	if err != nil {
		return nil, err
	}
	for i := range found {
		units, err := n.Client.UnitsRead(ctx, found[i].currency)
		if err != nil {
			return nil, err
		}
		found[i].Amount = units.FromProvider(found[i].Amount)
		if found[i].Refunds, err = n.refunds(ctx, found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (n CreditNotes) refunds(ctx context.Context, p Payment) ([]Refund, error) {
	raw, _, err := psp.Call(ctx, n.Client, "list refunds", func(ctx context.Context, api *calls.API) (all []*stripe.Refund, _ error) {
		params := &stripe.RefundListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(notesPerPage)}, PaymentIntent: orNil(p.intent), Charge: orNil(p.charge),
		}
		for r, err := range api.V1Refunds.List(ctx, params).All(ctx) {
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		return all, nil
	})
	refunds := make([]Refund, len(raw))
	for i, r := range raw {
		if refunds[len(raw)-1-i], err = n.convertRefund(ctx, r); err != nil {
			return nil, err
		}
	}
	return refunds, err
}

func (n CreditNotes) convertRefund(ctx context.Context, r *stripe.Refund) (Refund, error) {
	units, err := n.Client.UnitsRead(ctx, string(r.Currency))
	return Refund{
		ID: r.ID, Key: r.Metadata[metaID], Currency: strings.ToUpper(string(r.Currency)), Amount: units.FromProvider(r.Amount),
		Status: statusOf(r), At: time.Unix(r.Created, 0).UTC(),
	}, err
}

// Refund refunds an amount of a payment. Repeating it with the same key refunds nothing. The
// provider remembers the key for a day; after that, look for the key in the refunds of the payment.
func (n CreditNotes) Refund(ctx context.Context, p Payment, amount int64, key string) (Refund, error) {
	units, err := n.Client.UnitsRead(ctx, p.currency)
	if err != nil {
		return Refund{}, err
	}
	cents, err := units.ToProvider(amount)
	if err != nil {
		return Refund{}, err
	}
	return psp.Write(ctx, n.Client, "refund", "refund-"+key, func(ctx context.Context, api *calls.API) (Refund, error) {
		r, err := api.V1Refunds.Create(ctx, &stripe.RefundCreateParams{
			Params:        stripe.Params{IdempotencyKey: stripe.String("refund-" + key)},
			PaymentIntent: orNil(p.intent), Charge: orNil(p.charge), Amount: &cents, Metadata: map[string]string{metaID: key},
		})
		if err != nil {
			return Refund{}, err
		}
		return n.convertRefund(ctx, r)
	}, func(ctx context.Context) (Refund, error) {
		refunds, err := n.refunds(ctx, p)
		for _, r := range refunds {
			if r.Key == key {
				return r, nil
			}
		}
		if err == nil {
			err = psp.ErrNotDone
		}
		return Refund{}, err
	})
}

// ChargeOf returns the charge of a refund.
func (n CreditNotes) ChargeOf(ctx context.Context, refundID string) (string, error) {
	r, _, err := psp.Call(ctx, n.Client, "get refund", func(ctx context.Context, api *calls.API) (*stripe.Refund, error) {
		return api.V1Refunds.Retrieve(ctx, refundID, nil)
	})
	if err != nil || r.Charge == nil {
		return "", err
	}
	return r.Charge.ID, nil
}

// InvoicesOf returns the invoices that a charge has paid.
func (n CreditNotes) InvoicesOf(ctx context.Context, chargeID string) ([]string, error) {
	ch, _, err := psp.Call(ctx, n.Client, "get charge", func(ctx context.Context, api *calls.API) (*stripe.Charge, error) {
		return api.V1Charges.Retrieve(ctx, chargeID, nil)
	})
	if err != nil || ch.PaymentIntent == nil {
		return nil, err
	}
	invoices, _, err := psp.Call(ctx, n.Client, "list invoices of a payment", func(ctx context.Context, api *calls.API) (found []string, _ error) {
		params := &stripe.InvoicePaymentListParams{Payment: &stripe.InvoicePaymentListPaymentParams{
			Type: stripe.String("payment_intent"), PaymentIntent: stripe.String(ch.PaymentIntent.ID),
		}}
		for p, err := range api.V1InvoicePayments.List(ctx, params).All(ctx) {
			if err != nil {
				return nil, err
			}
			if p.Invoice != nil {
				found = append(found, p.Invoice.ID)
			}
		}
		return found, nil
	})
	return invoices, err
}
