package psp

import (
	"context"

	"github.com/stripe/stripe-go/v85"
)

// CreateSubscription starts a subscription without a checkout. It ignores the parameters of the
// checkout's page. The subscription is active if its first invoice is 0
// (https://docs.stripe.com/billing/subscriptions/overview#subscription-statuses). A payment method
// that later pays an invoice becomes the default of the subscription.
func (c *Client) CreateSubscription(ctx context.Context, p CheckoutParams) (Subscription, error) {
	return c.CreateSubscriptionWith(ctx, p, p.SubscriptionParams())
}

// CreateSubscriptionWith is CreateSubscription with parameters that were changed by the caller.
func (c *Client) CreateSubscriptionWith(ctx context.Context, p CheckoutParams, params *stripe.SubscriptionCreateParams) (Subscription, error) {
	return writeOnce(ctx, c, "create subscription", p.Key, func(ctx context.Context) (Subscription, error) {
		s, err := c.api.V1Subscriptions.Create(ctx, params)
		if err != nil {
			return Subscription{}, err
		}
		return c.newSubscription(ctx, s)
	}, func(ctx context.Context) (Subscription, error) {
		return c.FindSubscription(ctx, p.CustomerID, p.Metadata)
	})
}

// SubscriptionParams returns the parameters of CreateSubscription.
func (p CheckoutParams) SubscriptionParams() *stripe.SubscriptionCreateParams {
	params := &stripe.SubscriptionCreateParams{
		Params:   idempotencyParams(p.Key),
		Customer: stripe.String(p.CustomerID),
		Items:    []*stripe.SubscriptionCreateItemParams{{Price: stripe.String(p.PriceID), Quantity: stripe.Int64(p.Quantity)}},
		Metadata: p.Metadata,
		PaymentSettings: &stripe.SubscriptionCreatePaymentSettingsParams{
			SaveDefaultPaymentMethod: stripe.String(stripe.SubscriptionPaymentSettingsSaveDefaultPaymentMethodOnSubscription),
		},
	}
	if p.TrialDays > 0 {
		params.TrialPeriodDays = stripe.Int64(int64(p.TrialDays))
	}
	if p.TrialWithoutCard {
		params.TrialSettings = &stripe.SubscriptionCreateTrialSettingsParams{EndBehavior: &stripe.SubscriptionCreateTrialSettingsEndBehaviorParams{
			MissingPaymentMethod: stripe.String(stripe.SubscriptionTrialSettingsEndBehaviorMissingPaymentMethodCancel),
		}}
	}
	if p.PromotionCodeID != "" {
		params.Discounts = []*stripe.SubscriptionCreateDiscountParams{{PromotionCode: stripe.String(p.PromotionCodeID)}}
	}
	for _, id := range p.MeteredPriceIDs {
		params.Items = append(params.Items, &stripe.SubscriptionCreateItemParams{Price: stripe.String(id)})
	}
	if p.InvoicesMonthly {
		params.PendingInvoiceItemInterval = &stripe.SubscriptionCreatePendingInvoiceItemIntervalParams{Interval: stripe.String(IntervalMonth)}
	}
	return params
}

// FindSubscription looks for the subscription of an earlier attempt, which the metadata identifies.
// It returns ErrNotDone if no subscription of the customer has this metadata.
func (c *Client) FindSubscription(ctx context.Context, customerID string, metadata map[string]string) (Subscription, error) {
	for s, err := range c.Subscriptions(ctx, customerID, "") {
		if err != nil {
			return Subscription{}, err
		}
		if hasMetadata(s.Metadata, metadata) {
			return s, nil
		}
	}
	return Subscription{}, ErrNotDone
}

func hasMetadata(all, wanted map[string]string) bool {
	for key, value := range wanted {
		if all[key] != value {
			return false
		}
	}
	return true
}
