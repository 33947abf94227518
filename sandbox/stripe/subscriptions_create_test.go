package stripe_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

// createParams returns the parameters of a subscription without a checkout.
func (w *world) createParams(customerID string, p *api.Price, card string) *api.SubscriptionCreateParams {
	w.t.Helper()
	params := &api.SubscriptionCreateParams{
		Customer: &customerID, Items: []*api.SubscriptionCreateItemParams{{Price: &p.ID, Quantity: api.Int64(2)}},
	}
	if card != "" {
		params.DefaultPaymentMethod = &w.attached(customerID, card).ID
	}
	return params
}

func TestSubscriptionsAreMadeWithoutACheckout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, card, behavior string
		amount, trialDays    int64
		status               api.SubscriptionStatus
		invoice              api.InvoiceStatus
		error                int
	}{
		{"paid", "pm_card_visa", "", 1000, 0, "active", "paid", 0},
		{"free", "", "", 0, 0, "active", "paid", 0},
		{"trial", "", "", 1000, 7, "trialing", "paid", 0},
		{"declined", "pm_card_chargeCustomerFail", "", 1000, 0, "incomplete", "open", 0},
		{"without a card", "", "allow_incomplete", 1000, 0, "incomplete", "open", 0},
		{"to be paid later", "pm_card_visa", "default_incomplete", 1000, 0, "incomplete", "open", 0},
		{"declined and refused", "pm_card_chargeCustomerFail", "error_if_incomplete", 1000, 0, "", "", http.StatusPaymentRequired},
		{"pending", "pm_card_visa", "pending_if_incomplete", 1000, 0, "", "", http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cu := w.customer("ada@example.test")
			params := w.createParams(cu.ID, w.sold(c.amount, "eur", "month"), c.card)
			params.Metadata = map[string]string{"plan": "starter"}
			if c.behavior != "" {
				params.PaymentBehavior = &c.behavior
			}
			if c.trialDays > 0 {
				params.TrialPeriodDays = &c.trialDays
			}
			sub, err := w.V1Subscriptions.Create(t.Context(), params)
			if c.error != 0 {
				code, param := "card_declined", ""
				if c.error == http.StatusBadRequest {
					code, param = "", "payment_behavior"
				}
				refused(t, err, c.error, code, param)
				for s, err := range w.V1Subscriptions.List(t.Context(), &api.SubscriptionListParams{Status: api.String("all")}).All(t.Context()) {
					t.Errorf("rejected subscription exists: %+v, %v", s, err)
				}
				return
			}
			if err != nil || sub.Status != c.status || sub.Metadata["plan"] != "starter" || sub.Items.Data[0].Quantity != 2 {
				t.Fatalf("created: %+v, %v", sub, err)
			}
			in := w.latestInvoice(sub.ID)
			if in.Status != c.invoice || in.BillingReason != "subscription_create" {
				t.Errorf("invoice is %s", in.Status)
			}
			w.until(40)
			if c.status == "active" && w.latestInvoice(sub.ID).BillingReason != "subscription_cycle" {
				t.Error("the subscription does not renew")
			}
		})
	}
}

func TestAnIncompleteSubscription(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		end    func(w *world, invoiceID string)
		status api.SubscriptionStatus
		events []string
	}{
		{"expires", func(w *world, _ string) { w.until(23.0 / 24) }, "incomplete_expired", []string{
			"payment_intent.canceled", "invoice.voided", "customer.subscription.updated",
		}},
		{"is paid", func(w *world, id string) {
			must[*api.Invoice](w.t)(w.V1Invoices.Pay(w.t.Context(), id, nil))
			w.until(2)
		}, "active", []string{
			"charge.succeeded", "payment_intent.succeeded", "invoice_payment.paid", "invoice.paid", "invoice.payment_succeeded", "customer.subscription.updated",
		}},
		{"is voided", func(w *world, id string) { must[*api.Invoice](w.t)(w.V1Invoices.VoidInvoice(w.t.Context(), id, nil)) }, "incomplete_expired", []string{
			"payment_intent.canceled", "invoice.voided", "customer.subscription.updated",
		}},
		{"is canceled", func(w *world, id string) {
			in := must[*api.Invoice](w.t)(w.V1Invoices.Retrieve(w.t.Context(), id, nil))
			must[*api.Subscription](w.t)(w.V1Subscriptions.Cancel(w.t.Context(), in.Parent.SubscriptionDetails.Subscription.ID, nil))
			w.until(2)
		}, "canceled", []string{"customer.subscription.deleted", "invoice.updated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			params := w.createParams(w.customer("ada@example.test").ID, w.sold(1000, "eur", "month"), "pm_card_visa")
			params.PaymentBehavior = api.String("default_incomplete")
			sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), params))
			_, err := w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{Items: []*api.SubscriptionUpdateItemParams{item(sub, nil, 1)}})
			refused(t, err, http.StatusBadRequest, "", "")
			w.clock.Set(start.Add(23*time.Hour - time.Second))
			if got := w.subscription(sub.ID); got.Status != "incomplete" {
				t.Errorf("just before the end: got %s", got.Status)
			}
			before := w.eventTypes()
			c.end(w, sub.LatestInvoice.ID)
			if got := w.subscription(sub.ID); got.Status != c.status {
				t.Errorf("subscription is %s", got.Status)
			}
			if diff := cmp.Diff(c.events, w.since(before)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCardsAreAttachedByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cu, other := w.customer("ada@example.test"), w.customer("bob@example.test")
	card := w.attached(cu.ID, "pm_card_visa")
	if again := w.attached(cu.ID, card.ID); again.ID != card.ID {
		t.Errorf("attached again as %s", again.ID)
	}
	attach := func(card, customerID string) error {
		_, err := w.V1PaymentMethods.Attach(t.Context(), card, &api.PaymentMethodAttachParams{Customer: &customerID})
		return err
	}
	refused(t, attach("pm_card_visa_chargeDeclined", cu.ID), http.StatusPaymentRequired, "card_declined", "")
	refused(t, attach(card.ID, other.ID), http.StatusBadRequest, "", "")
	refused(t, attach("pm_card_gold", cu.ID), http.StatusNotFound, "resource_missing", "id")
	refused(t, attach("pm_card_visa", "cus_x"), http.StatusBadRequest, "resource_missing", "customer")
	for pm, err := range w.V1PaymentMethods.List(t.Context(), &api.PaymentMethodListParams{Customer: &cu.ID}).All(t.Context()) {
		if err != nil || pm.ID != card.ID {
			t.Errorf("listed: %+v, %v", pm, err)
		}
	}
	_, err := w.V1Customers.Update(t.Context(), other.ID, &api.CustomerUpdateParams{
		InvoiceSettings: &api.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: &card.ID},
	})
	refused(t, err, http.StatusBadRequest, "", "invoice_settings[default_payment_method]")
	_, err = w.V1Subscriptions.Create(t.Context(), &api.SubscriptionCreateParams{
		Customer: &other.ID, DefaultPaymentMethod: &card.ID,
		Items: []*api.SubscriptionCreateItemParams{{Price: &w.sold(1000, "eur", "month").ID, Quantity: api.Int64(1)}},
	})
	refused(t, err, http.StatusBadRequest, "", "default_payment_method")
}

// payment_settings[save_default_payment_method] is described in stripe-go's
// SubscriptionCreatePaymentSettingsParams.
func TestAPaymentSavesItsMethod(t *testing.T) {
	t.Parallel()
	for setting, saved := range map[string]bool{"off": false, "on_subscription": true} {
		w := newWorld(t)
		cu := w.customer("ada@example.test")
		card := w.attached(cu.ID, "pm_card_visa")
		must[*api.Customer](t)(w.V1Customers.Update(t.Context(), cu.ID, &api.CustomerUpdateParams{
			InvoiceSettings: &api.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: &card.ID},
		}))
		sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), &api.SubscriptionCreateParams{
			Customer: &cu.ID, PaymentSettings: &api.SubscriptionCreatePaymentSettingsParams{SaveDefaultPaymentMethod: &setting},
			Items: []*api.SubscriptionCreateItemParams{{Price: &w.sold(1000, "eur", "month").ID, Quantity: api.Int64(1)}},
		}))
		if sub.Status != "active" || string(sub.PaymentSettings.SaveDefaultPaymentMethod) != setting || (sub.DefaultPaymentMethod != nil) != saved {
			t.Errorf("%s: %s, default payment method %v", setting, sub.Status, sub.DefaultPaymentMethod)
		}
	}
}
