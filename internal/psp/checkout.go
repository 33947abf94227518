package psp

import (
	"context"
	"maps"
	"time"

	"github.com/stripe/stripe-go/v85"
)

// The statuses of a checkout and of its payment.
const (
	CheckoutOpen     = "open"
	CheckoutComplete = "complete"
	CheckoutExpired  = "expired"

	PaymentPaid        = "paid"
	PaymentUnpaid      = "unpaid"
	PaymentNotRequired = "no_payment_required"
)

// CheckoutParams describes a hosted checkout that starts a subscription.
type CheckoutParams struct {
	Key        string // idempotency key
	CustomerID string
	PriceID    string
	Quantity   int64 // 0 omits it, which prices billed by usage require
	// MeteredPriceIDs are additional prices, which are billed by reported usage.
	MeteredPriceIDs []string
	TrialDays       int  // 0 for no trial
	InvoicesMonthly bool // invoice pending items monthly in longer periods
	// Free means that a card is required only if an amount is due.
	Free bool
	// TrialWithoutCard does not require a card for the trial. If a card is still missing at the end of
	// the trial, the subscription is canceled.
	TrialWithoutCard bool
	// PromotionCodeID is the promotion code whose discount the subscription gets, or "".
	PromotionCodeID string
	ExpiresAt       time.Time // when the session ends; zero for the provider's default
	SuccessURL      string
	CancelURL       string
	// Metadata is set on the session and on the subscription that it starts.
	Metadata map[string]string
	Locale   string // language of the page; empty follows the browser
}

// Checkout is a hosted checkout. The objects that it created are known once it is complete. IDs
// that do not apply are empty.
type Checkout struct {
	ID              string
	URL             string // where to send the browser; empty once the session is over
	Status          string
	PaymentStatus   string
	CustomerID      string
	SubscriptionID  string
	InvoiceID       string
	PaymentIntentID string // only set for a payment without a subscription
	Metadata        map[string]string
	ExpiresAt       time.Time
}

// CreateCheckout opens a hosted checkout for a subscription.
func (c *Client) CreateCheckout(ctx context.Context, p CheckoutParams) (Checkout, error) {
	params := &stripe.CheckoutSessionCreateParams{
		Params:           idempotencyParams(p.Key),
		Mode:             stripe.String(stripe.CheckoutSessionModeSubscription),
		Customer:         stripe.String(p.CustomerID),
		LineItems:        []*stripe.CheckoutSessionCreateLineItemParams{{Price: stripe.String(p.PriceID)}},
		SubscriptionData: &stripe.CheckoutSessionCreateSubscriptionDataParams{Metadata: p.Metadata},
		SuccessURL:       stripe.String(p.SuccessURL),
		CancelURL:        stripe.String(p.CancelURL),
		Metadata:         p.Metadata,
		Locale:           stringOrNil(p.Locale),
	}
	if p.Quantity > 0 {
		params.LineItems[0].Quantity = stripe.Int64(p.Quantity)
	}
	for _, id := range p.MeteredPriceIDs {
		params.LineItems = append(params.LineItems, &stripe.CheckoutSessionCreateLineItemParams{Price: stripe.String(id)})
	}
	if p.TrialDays > 0 {
		params.SubscriptionData.TrialPeriodDays = stripe.Int64(int64(p.TrialDays))
	}
	if p.InvoicesMonthly {
		params.SubscriptionData.PendingInvoiceItemInterval = &stripe.CheckoutSessionCreateSubscriptionDataPendingInvoiceItemIntervalParams{Interval: stripe.String(IntervalMonth)}
	}
	if p.TrialWithoutCard {
		params.SubscriptionData.TrialSettings = &stripe.CheckoutSessionCreateSubscriptionDataTrialSettingsParams{
			EndBehavior: &stripe.CheckoutSessionCreateSubscriptionDataTrialSettingsEndBehaviorParams{
				MissingPaymentMethod: stripe.String(stripe.SubscriptionTrialSettingsEndBehaviorMissingPaymentMethodCancel),
			},
		}
	}
	if p.Free || p.TrialWithoutCard {
		params.PaymentMethodCollection = stripe.String(stripe.CheckoutSessionPaymentMethodCollectionIfRequired)
	}
	if p.PromotionCodeID != "" {
		params.Discounts = []*stripe.CheckoutSessionCreateDiscountParams{{PromotionCode: stripe.String(p.PromotionCodeID)}}
	}
	if !p.ExpiresAt.IsZero() {
		params.ExpiresAt = stripe.Int64(p.ExpiresAt.Unix())
	}
	return writeOnce(ctx, c, "create checkout", p.Key, func(ctx context.Context) (Checkout, error) {
		s, err := c.api.V1CheckoutSessions.Create(ctx, params)
		if err != nil {
			return Checkout{}, err
		}
		return newCheckout(s), nil
	}, func(ctx context.Context) (Checkout, error) { return c.findCheckout(ctx, p) })
}

// findCheckout looks for an open checkout of the same purchase, which the metadata identifies. It
// returns ErrNotDone if the customer's newest checkouts do not include it.
func (c *Client) findCheckout(ctx context.Context, p CheckoutParams) (Checkout, error) {
	open, err := call(ctx, c, "find checkout", func(ctx context.Context) ([]*stripe.CheckoutSession, error) {
		list := c.api.V1CheckoutSessions.List(ctx, &stripe.CheckoutSessionListParams{
			ListParams: stripe.ListParams{Limit: stripe.Int64(listPage)}, Customer: stripe.String(p.CustomerID),
			Status: stripe.String(stripe.CheckoutSessionStatusOpen),
		})
		return list.Data(), list.Err()
	})
	if err != nil {
		return Checkout{}, err
	}
	for _, s := range open {
		if maps.Equal(s.Metadata, p.Metadata) {
			return newCheckout(s), nil
		}
	}
	return Checkout{}, ErrNotDone
}

// GetCheckout returns a checkout, or ErrNotFound.
func (c *Client) GetCheckout(ctx context.Context, id string) (Checkout, error) {
	return read(ctx, c, "get checkout", id, func(ctx context.Context) (Checkout, error) {
		s, err := c.api.V1CheckoutSessions.Retrieve(ctx, id, nil)
		if err != nil {
			return Checkout{}, err
		}
		return newCheckout(s), nil
	})
}

func newCheckout(s *stripe.CheckoutSession) Checkout {
	checkout := Checkout{
		ID:            s.ID,
		URL:           s.URL,
		Status:        string(s.Status),
		PaymentStatus: string(s.PaymentStatus),
		Metadata:      s.Metadata,
		ExpiresAt:     timeFromUnix(s.ExpiresAt),
	}
	if s.Customer != nil {
		checkout.CustomerID = s.Customer.ID
	}
	if s.Subscription != nil {
		checkout.SubscriptionID = s.Subscription.ID
	}
	if s.Invoice != nil {
		checkout.InvoiceID = s.Invoice.ID
	}
	if s.PaymentIntent != nil {
		checkout.PaymentIntentID = s.PaymentIntent.ID
	}
	return checkout
}
