package stripe_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

func TestATrialBecomesPaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.trial(w.sold(1000, "eur", "month"), 14, "4242424242424242")
	before := w.eventTypes()
	w.until(11)
	if diff := cmp.Diff([]string{"invoice.upcoming", "customer.subscription.trial_will_end"}, w.since(before)); diff != "" {
		t.Errorf("three days before: %s", diff)
	}
	w.until(14)
	got := w.subscription(sub.ID)
	if item := got.Items.Data[0]; got.Status != "active" || item.CurrentPeriodStart != got.TrialEnd || item.CurrentPeriodEnd != start.AddDate(0, 1, 14).Unix()-3*24*3600 {
		t.Errorf("%s from %s to %s", got.Status, time.Unix(item.CurrentPeriodStart, 0).UTC(), time.Unix(item.CurrentPeriodEnd, 0).UTC())
	}
	w.advance(time.Hour)
	if in := w.latestInvoice(sub.ID); in.Status != "paid" || in.AmountPaid != 1000 || in.BillingReason != "subscription_cycle" {
		t.Errorf("first paid invoice: %s over %d", in.Status, in.AmountPaid)
	}
	want := []string{
		"invoice.upcoming", "customer.subscription.trial_will_end", "invoice.created", "customer.subscription.updated", "customer.updated", "invoice.finalized",
		"payment_intent.created", "charge.succeeded", "payment_intent.succeeded", "invoice_payment.paid", "invoice.paid", "invoice.payment_succeeded",
	}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Error(diff)
	}
}

func TestTheEndOfATrialIsAnnounced(t *testing.T) {
	t.Parallel()
	announced := func(w *world) (at []float64) {
		list := w.V1Events.List(w.t.Context(), &api.EventListParams{Type: api.String("customer.subscription.trial_will_end")})
		for e, err := range list.All(w.t.Context()) {
			if err != nil {
				w.t.Fatal(err)
			}
			at = append([]float64{time.Unix(e.Created, 0).Sub(start).Hours() / 24}, at...)
		}
		return at
	}
	for days, want := range map[int64][]float64{2: {0}, 3: {0}, 4: {1}, 30: {27}} {
		w := newWorld(t)
		w.trial(w.sold(1000, "eur", "month"), days, "4242424242424242")
		w.until(60)
		if diff := cmp.Diff(want, announced(w)); diff != "" {
			t.Errorf("a trial of %d days (-want +got):\n%s", days, diff)
		}
	}
	w := newWorld(t)
	sub := w.trial(w.sold(1000, "eur", "month"), 10, "4242424242424242")
	w.until(8)
	later := start.Add(20 * day).Unix()
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{TrialEnd: &later}))
	w.until(9)
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{Metadata: map[string]string{"a": "b"}}))
	w.until(60)
	if diff := cmp.Diff([]float64{7, 17}, announced(w)); diff != "" {
		t.Errorf("a trial that was made longer (-want +got):\n%s", diff)
	}
}

func TestATrialEndsWithoutACard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		behavior string
		amount   int64
		status   api.SubscriptionStatus
		invoice  api.InvoiceStatus
		events   []string
	}{
		{"create_invoice", 1000, "past_due", "open", []string{
			"invoice.created", "customer.subscription.updated", "customer.updated", "invoice.finalized", "payment_intent.created",
			"invoice.updated", "invoice.payment_failed", "customer.updated", "customer.subscription.updated",
		}},
		{"create_invoice", 0, "active", "paid", []string{
			"invoice.created", "customer.subscription.updated", "customer.updated", "invoice.finalized", "invoice.paid", "invoice.payment_succeeded",
		}},
		{"pause", 1000, "paused", "paid", []string{"customer.subscription.updated", "customer.subscription.paused"}},
		{"cancel", 1000, "canceled", "paid", []string{"customer.subscription.deleted"}},
	} {
		t.Run(c.behavior, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			params := w.checkoutParams(w.sold(c.amount, "eur", "month"), 1)
			params.PaymentMethodCollection = api.String("if_required")
			params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{
				TrialPeriodDays: api.Int64(14),
				TrialSettings: &api.CheckoutSessionCreateSubscriptionDataTrialSettingsParams{
					EndBehavior: &api.CheckoutSessionCreateSubscriptionDataTrialSettingsEndBehaviorParams{MissingPaymentMethod: &c.behavior},
				},
			}
			sub := w.paid(params, "")
			w.until(12)
			before := w.eventTypes()
			w.until(14.5)
			if diff := cmp.Diff(c.events, w.since(before)); diff != "" {
				t.Error(diff)
			}
			in := w.latestInvoice(sub.ID)
			if got := w.subscription(sub.ID); got.Status != c.status || in.Status != c.invoice {
				t.Errorf("subscription %s, latest invoice %s", got.Status, in.Status)
			}
			if in.Status == "open" {
				_, err := w.V1Invoices.Pay(t.Context(), in.ID, nil)
				refused(t, err, http.StatusBadRequest, "resource_missing", "")
			}
		})
	}
}

func TestEndingATrialByHandMindsTheCard(t *testing.T) {
	t.Parallel()
	for behavior, want := range map[string]api.SubscriptionStatus{"create_invoice": "past_due", "pause": "paused", "cancel": "canceled"} {
		w := newWorld(t)
		sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), &api.SubscriptionCreateParams{
			Customer: &w.customer("ada@example.test").ID, TrialPeriodDays: api.Int64(14),
			Items: []*api.SubscriptionCreateItemParams{{Price: &w.sold(1000, "eur", "month").ID, Quantity: api.Int64(1)}},
		}))
		got := must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{
			TrialEndNow: api.Bool(true),
			TrialSettings: &api.SubscriptionUpdateTrialSettingsParams{
				EndBehavior: &api.SubscriptionUpdateTrialSettingsEndBehaviorParams{MissingPaymentMethod: &behavior},
			},
		}))
		if got.Status != want || got.TrialEnd != w.clock.Now().Unix() {
			t.Errorf("%s: %s, trial until %d", behavior, got.Status, got.TrialEnd)
		}
	}
}

func TestAPausedSubscriptionIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cu := w.customer("ada@example.test")
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), &api.SubscriptionCreateParams{
		Customer: &cu.ID, TrialPeriodDays: api.Int64(14),
		Items: []*api.SubscriptionCreateItemParams{{Price: &w.sold(1000, "eur", "month").ID, Quantity: api.Int64(1)}},
		TrialSettings: &api.SubscriptionCreateTrialSettingsParams{
			EndBehavior: &api.SubscriptionCreateTrialSettingsEndBehaviorParams{MissingPaymentMethod: api.String("pause")},
		},
	}))
	_, err := w.V1Subscriptions.Resume(t.Context(), sub.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")
	w.until(40)
	if got := w.subscription(sub.ID); got.Status != "paused" {
		t.Fatalf("subscription is %s", got.Status)
	}
	card := w.attached(cu.ID, "pm_card_visa")
	must[*api.Customer](t)(w.V1Customers.Update(t.Context(), cu.ID, &api.CustomerUpdateParams{
		InvoiceSettings: &api.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: &card.ID},
	}))
	before := w.eventTypes()
	got := must[*api.Subscription](t)(w.V1Subscriptions.Resume(t.Context(), sub.ID, &api.SubscriptionResumeParams{BillingCycleAnchor: api.String("now")}))
	in := w.latestInvoice(sub.ID)
	if got.Status != "active" || got.BillingCycleAnchor != w.clock.Now().Unix() || in.Status != "paid" || in.AmountPaid != 1000 {
		t.Errorf("resumed: %s, invoice %s over %d", got.Status, in.Status, in.AmountPaid)
	}
	events := w.since(before)
	if diff := cmp.Diff([]string{"customer.subscription.updated", "customer.subscription.resumed"}, events[len(events)-2:]); diff != "" {
		t.Error(diff)
	}
	w.until(80)
	if in := w.latestInvoice(sub.ID); in.BillingReason != "subscription_cycle" || in.Status != "paid" {
		t.Errorf("the subscription does not renew: %s %s", in.BillingReason, in.Status)
	}
}

// attached attaches one of Stripe's test cards to a customer.
func (w *world) attached(customerID, card string) *api.PaymentMethod {
	w.t.Helper()
	return must[*api.PaymentMethod](w.t)(w.V1PaymentMethods.Attach(w.t.Context(), card, &api.PaymentMethodAttachParams{Customer: &customerID}))
}
