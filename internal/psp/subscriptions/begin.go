package subscriptions

import (
	"context"
	"slices"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

// statusTrialing is the status of a subscription in its trial.
const statusTrialing = string(stripe.SubscriptionStatusTrialing)

// Begin ends the trial of a subscription and makes the change in the same step, so that the first paid
// period has the new price. The subscription must not have a schedule. A repetition does nothing.
func (s Schedules) Begin(ctx context.Context, subscriptionID string, n NextPeriod, key string) error {
	present, err := s.Client.GetSubscription(ctx, subscriptionID)
	if err != nil || present.Status != statusTrialing {
		return err
	}
	params, err := s.beginParams(ctx, present, n)
	if err != nil {
		return err
	}
	params.IdempotencyKey = stripe.String(key)
	_, err = psp.Write(ctx, s.Client, "begin scheduled change", key, func(ctx context.Context, api *calls.API) (struct{}, error) {
		_, err := api.V1Subscriptions.Update(ctx, subscriptionID, params)
		return struct{}{}, err
	}, func(ctx context.Context) (struct{}, error) {
		again, err := s.Client.GetSubscription(ctx, subscriptionID)
		if err == nil && again.Status == statusTrialing {
			err = psp.ErrNotDone
		}
		return struct{}{}, err
	})
	return err
}

func (s Schedules) beginParams(ctx context.Context, present psp.Subscription, n NextPeriod) (*stripe.SubscriptionUpdateParams, error) {
	item, err := s.item(ctx, n)
	if err != nil {
		return nil, err
	}
	plan := &stripe.SubscriptionUpdateItemParams{ID: stripe.String(present.ItemID), Price: item.Price, Quantity: item.Quantity}
	if data := item.PriceData; data != nil {
		plan.PriceData = &stripe.SubscriptionUpdateItemPriceDataParams{
			Currency: data.Currency, Product: data.Product, UnitAmount: data.UnitAmount,
			Recurring: &stripe.SubscriptionUpdateItemPriceDataRecurringParams{Interval: data.Recurring.Interval, IntervalCount: data.Recurring.IntervalCount},
		}
	}
	params := &stripe.SubscriptionUpdateParams{
		Items: []*stripe.SubscriptionUpdateItemParams{plan}, TrialEndNow: stripe.Bool(true), ProrationBehavior: stripe.String("none"), Metadata: n.Metadata,
	}
	for _, m := range present.Metered {
		if !slices.Contains(n.MeteredPriceIDs, m.PriceID) {
			params.Items = append(params.Items, &stripe.SubscriptionUpdateItemParams{ID: stripe.String(m.ID), Deleted: stripe.Bool(true)})
		}
	}
	for _, id := range n.MeteredPriceIDs {
		if !slices.ContainsFunc(present.Metered, func(m psp.MeteredItem) bool { return m.PriceID == id }) {
			params.Items = append(params.Items, &stripe.SubscriptionUpdateItemParams{Price: stripe.String(id)})
		}
	}
	if n.DropsDiscount {
		params.UnsetFields = append(params.UnsetFields, stripe.SubscriptionUpdateParamsUnsetFieldDiscounts)
	}
	return params, nil
}
