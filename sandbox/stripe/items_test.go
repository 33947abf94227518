package stripe_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	api "github.com/stripe/stripe-go/v85"
)

// A subscription contains its first ten items; /v1/subscription_items lists all of them
// (https://docs.stripe.com/api/subscription_items/list). The maximum is 20
// (https://docs.stripe.com/billing/subscriptions/multiple-products).
func TestItemsOfASubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	params := w.checkoutParams(w.sold(1000, "eur", "month"), 1)
	for i := range 20 {
		price := w.metered(w.meter(fmt.Sprint("calls", i), "sum"), "5")
		params.LineItems = append(params.LineItems, &api.CheckoutSessionCreateLineItemParams{Price: &price.ID})
	}
	_, err := w.V1CheckoutSessions.Create(ctx, params)
	refused(t, err, http.StatusBadRequest, "", "line_items")
	params.LineItems = params.LineItems[:20]
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(ctx, params))
	w.pay(session.ID, "4242424242424242")
	session = must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Retrieve(ctx, session.ID, nil))
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(ctx, session.Subscription.ID, nil))
	if len(sub.Items.Data) != 10 || !sub.Items.HasMore {
		t.Errorf("the subscription shows %d items, more: %t", len(sub.Items.Data), sub.Items.HasMore)
	}
	seen := map[string]bool{}
	for item, err := range w.V1SubscriptionItems.List(ctx, &api.SubscriptionItemListParams{
		ListParams: api.ListParams{Limit: api.Int64(7)}, Subscription: &sub.ID,
	}).All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		seen[item.ID] = true
		if one := must[*api.SubscriptionItem](t)(w.V1SubscriptionItems.Retrieve(ctx, item.ID, nil)); one.Price.ID != item.Price.ID {
			t.Errorf("item %s reads %+v", item.ID, one)
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d items are listed, want 20", len(seen))
	}
	_, err = w.V1SubscriptionItems.Retrieve(ctx, "si_none", nil)
	refused(t, err, http.StatusNotFound, "resource_missing", "id")
	if answer, body := w.call("GET", "/v1/subscription_items", "", nil); answer.StatusCode != http.StatusBadRequest || !strings.Contains(body, "subscription") {
		t.Errorf("without a subscription: %d %s", answer.StatusCode, body)
	}
}

// Currencies that Stripe does not support are refused, whether they exist or not
// (https://docs.stripe.com/currencies#presentment-currencies).
func TestUnsupportedCurrencies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, code := range []string{"irr", "kpw", "cup", "syp", "iqd", "zzz", "xau", "IRR", "us d", "usda"} {
		_, err := w.V1Prices.Create(t.Context(), &api.PriceCreateParams{
			Currency: &code, UnitAmount: api.Int64(1000), ProductData: &api.PriceCreateProductDataParams{Name: api.String("Starter")},
		})
		if msg := refused(t, err, http.StatusBadRequest, "", "currency"); !strings.HasPrefix(msg, "Invalid currency: ") {
			t.Errorf("%s: %s", code, msg)
		}
	}
	for _, code := range []string{"EUR", "kwd", "xpf", "uzs"} {
		w.sold(1000, code, "month")
	}
}
