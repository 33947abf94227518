package wallet

import (
	"context"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
)

// EventRefunded is the type of the notification that a charge was refunded, at least in part. Its
// object is the charge.
const EventRefunded = "charge.refunded"

// Refund is a refund of a payment.
type Refund struct {
	ID       string
	Currency string // ISO 4217, upper case
	Amount   int64  // minor units
	At       time.Time
}

// Refunds returns the refunds of a charge and the invoices that the charge has paid, if any. The
// newest refund comes first. Failed refunds are omitted.
func (w Wallet) Refunds(ctx context.Context, chargeID string) (invoices []string, refunds []Refund, err error) {
	ch, _, err := psp.Call(ctx, w.Client, "get charge", func(ctx context.Context, api *stripe.Client) (*stripe.Charge, error) {
		return api.V1Charges.Retrieve(ctx, chargeID, nil)
	})
	if err != nil || ch.PaymentIntent == nil {
		return nil, nil, err
	}
	invoices, _, err = psp.Call(ctx, w.Client, "list invoices of a payment", func(ctx context.Context, api *stripe.Client) (found []string, _ error) {
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
	if err != nil || len(invoices) == 0 {
		return nil, nil, err
	}
	units, err := w.Client.UnitsRead(ctx, string(ch.Currency))
	if err != nil {
		return nil, nil, err
	}
	refunds, _, err = psp.Call(ctx, w.Client, "list refunds", func(ctx context.Context, api *stripe.Client) (found []Refund, _ error) {
		params := &stripe.RefundListParams{Charge: stripe.String(chargeID)}
		params.Limit = stripe.Int64(100)
		for r, err := range api.V1Refunds.List(ctx, params).All(ctx) {
			if err != nil {
				return nil, err
			}
			if r.Status == stripe.RefundStatusFailed || r.Status == stripe.RefundStatusCanceled {
				continue
			}
			found = append(found, Refund{
				ID: r.ID, Currency: strings.ToUpper(string(r.Currency)), Amount: units.FromProvider(r.Amount), At: time.Unix(r.Created, 0).UTC(),
			})
		}
		return found, nil
	})
	return invoices, refunds, err
}
