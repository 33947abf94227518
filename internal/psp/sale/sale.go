// Package sale sells something for a one-time payment at the hosted checkout, with an invoice.
package sale

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// maxName is the maximum length of a product's name at the provider, in characters.
const maxName = 250

// newestSessions is the number of a customer's newest sessions among which Open looks for a session
// whose response was lost.
const newestSessions = 100

// Sales opens and reads checkouts of one-time payments.
type Sales struct{ Client *psp.Client }

// Params describes a checkout.
type Params struct {
	Key        string // idempotency key
	CustomerID string
	Name       string // of the article, in the language of the invoice
	Currency   string // ISO 4217
	UnitAmount int64  // minor units; see charge.Units
	Quantity   int64
	SuccessURL string
	CancelURL  string
	// Metadata is set on the session, the payment and the invoice. It identifies the sale.
	Metadata map[string]string
	Locale   string // language of the page; empty follows the browser
}

// Sale is a checkout of a one-time payment.
type Sale struct {
	SessionID     string
	URL           string // where to send the browser; empty once the session is over
	Status        string // psp.CheckoutOpen, psp.CheckoutComplete or psp.CheckoutExpired
	PaymentStatus string // psp.PaymentPaid or psp.PaymentUnpaid
	// Failed means that the payment of a complete session has failed, as a bank debit can.
	Failed   bool
	Metadata map[string]string
	// PaidAt is when the payment succeeded. It is nil until the provider has issued the invoice.
	PaidAt *time.Time
	// InvoiceID is "" until the provider has issued the invoice.
	InvoiceID string
	// Refunded means that the whole payment was refunded.
	Refunded bool
}

// Open opens a hosted checkout. The price is part of the request, so that each checkout sells at the
// current price and nothing has to be kept in sync at the provider. If the amount cannot be charged,
// Open returns charge.ErrUnsupported without calling the provider.
func (s Sales) Open(ctx context.Context, p Params) (Sale, error) {
	units, err := s.Client.UnitsRead(ctx, p.Currency)
	if err != nil {
		return Sale{}, err
	}
	amount, err := units.ToProvider(p.UnitAmount)
	if err != nil {
		return Sale{}, err
	}
	params := &stripe.CheckoutSessionCreateParams{
		Params:   stripe.Params{IdempotencyKey: stripe.String(p.Key)},
		Mode:     stripe.String(stripe.CheckoutSessionModePayment),
		Customer: stripe.String(p.CustomerID),
		LineItems: []*stripe.CheckoutSessionCreateLineItemParams{{
			Quantity: stripe.Int64(p.Quantity),
			PriceData: &stripe.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: stripe.String(strings.ToLower(p.Currency)), UnitAmount: stripe.Int64(amount),
				ProductData: &stripe.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: stripe.String(shorten(p.Name))},
			},
		}},
		InvoiceCreation: &stripe.CheckoutSessionCreateInvoiceCreationParams{
			Enabled:     stripe.Bool(true),
			InvoiceData: &stripe.CheckoutSessionCreateInvoiceCreationInvoiceDataParams{Metadata: p.Metadata},
		},
		PaymentIntentData: &stripe.CheckoutSessionCreatePaymentIntentDataParams{Metadata: p.Metadata},
		SuccessURL:        stripe.String(p.SuccessURL),
		CancelURL:         stripe.String(p.CancelURL),
		Metadata:          p.Metadata,
	}
	if p.Locale != "" {
		params.Locale = stripe.String(p.Locale)
	}
	return psp.Write(ctx, s.Client, "create checkout of a payment", p.Key, func(ctx context.Context, api *calls.API) (Sale, error) {
		session, err := api.V1CheckoutSessions.Create(ctx, params)
		if err != nil {
			return Sale{}, err
		}
		return newSale(session), nil
	}, func(ctx context.Context) (Sale, error) { return s.find(ctx, p) })
}

// find looks for an open session of the same sale, which the metadata identifies, among the
// customer's newest sessions. It returns psp.ErrNotDone if it does not find the session.
func (s Sales) find(ctx context.Context, p Params) (Sale, error) {
	open, _, err := psp.Call(ctx, s.Client, "find checkout of a payment", func(ctx context.Context, api *calls.API) ([]*stripe.CheckoutSession, error) {
		list := api.V1CheckoutSessions.List(ctx, &stripe.CheckoutSessionListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(newestSessions)}, Customer: stripe.String(p.CustomerID),
			Status: stripe.String(stripe.CheckoutSessionStatusOpen),
		})
		return list.Data(), list.Err()
	})
	if err != nil {
		return Sale{}, err
	}
	for _, session := range open {
		if maps.Equal(session.Metadata, p.Metadata) {
			return newSale(session), nil
		}
	}
	return Sale{}, psp.ErrNotDone
}

// Get returns a sale, or psp.ErrNotFound.
func (s Sales) Get(ctx context.Context, sessionID string) (Sale, error) {
	session, _, err := psp.Call(ctx, s.Client, "get checkout of a payment", func(ctx context.Context, api *calls.API) (*stripe.CheckoutSession, error) {
		params := &stripe.CheckoutSessionRetrieveParams{}
		params.AddExpand("invoice")
		params.AddExpand("payment_intent.latest_charge")
		return api.V1CheckoutSessions.Retrieve(ctx, sessionID, params)
	})
	if err != nil {
		return Sale{}, err
	}
	return newSale(session), nil
}

// RefundedSale returns the metadata of the sale that a charge paid, and whether the whole payment was
// refunded.
func (s Sales) RefundedSale(ctx context.Context, chargeID string) (metadata map[string]string, whole bool, err error) {
	ch, _, err := psp.Call(ctx, s.Client, "get refunded charge", func(ctx context.Context, api *calls.API) (*stripe.Charge, error) {
		params := &stripe.ChargeRetrieveParams{}
		params.AddExpand("payment_intent")
		return api.V1Charges.Retrieve(ctx, chargeID, params)
	})
	if err != nil || ch.PaymentIntent == nil {
		return nil, false, err
	}
	return ch.PaymentIntent.Metadata, ch.Refunded, nil
}

// Refund refunds the whole payment of a session. It does nothing if it was refunded already.
func (s Sales) Refund(ctx context.Context, sessionID, key string) error {
	return s.Client.RefundCheckout(ctx, sessionID, key)
}

// newSale converts a session. Its payment and invoice are known if they were expanded.
func newSale(s *stripe.CheckoutSession) Sale {
	sale := Sale{SessionID: s.ID, URL: s.URL, Status: string(s.Status), PaymentStatus: string(s.PaymentStatus), Metadata: s.Metadata}
	if in := s.Invoice; in != nil {
		sale.InvoiceID = in.ID
		if in.StatusTransitions != nil && in.StatusTransitions.PaidAt != 0 {
			at := time.Unix(in.StatusTransitions.PaidAt, 0).UTC()
			sale.PaidAt = &at
		}
	}
	pi := s.PaymentIntent
	if pi == nil {
		return sale
	}
	switch pi.Status {
	case stripe.PaymentIntentStatusRequiresPaymentMethod, stripe.PaymentIntentStatusCanceled:
		sale.Failed = s.Status == stripe.CheckoutSessionStatusComplete
	}
	sale.Refunded = pi.LatestCharge != nil && pi.LatestCharge.Refunded
	return sale
}

// shorten limits a name to the number of characters that the provider accepts.
func shorten(name string) string {
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName])
	}
	return name
}
