package stripe_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

// waiting returns a subscription with a pending update that waits for a confirmation.
func (w *world) waiting() *api.Subscription {
	w.t.Helper()
	sub := w.confirmed()
	sub = must[*api.Subscription](w.t)(w.V1Subscriptions.Update(w.t.Context(), sub.ID, upgrade(sub, 3, "pending_if_incomplete")))
	if sub.PendingUpdate == nil || sub.Items.Data[0].Quantity != 1 || sub.Status != "active" {
		w.t.Fatalf("no pending update: %s, %d, %+v", sub.Status, sub.Items.Data[0].Quantity, sub.PendingUpdate)
	}
	return sub
}

// ended checks that the pending update has ended, and checks the quantity and the invoice.
func (w *world) ended(id string, quantity int64, invoice string) {
	w.t.Helper()
	sub, in := w.subscription(id), w.latestInvoice(id)
	if sub.PendingUpdate != nil || sub.Items.Data[0].Quantity != quantity || string(in.Status) != invoice {
		w.t.Errorf("%+v, quantity %d, invoice %s; want %d and %s", sub.PendingUpdate, sub.Items.Data[0].Quantity, in.Status, quantity, invoice)
	}
}

func TestAChangeWaitsForItsPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.confirmed()
	before := w.eventTypes()
	sub = must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, upgrade(sub, 3, "pending_if_incomplete")))
	want := []string{
		"invoiceitem.created", "invoiceitem.created", "invoice.created", "customer.updated", "invoice.finalized", "payment_intent.created",
		"payment_intent.requires_action", "invoice.updated", "invoice.payment_action_required", "invoice.payment_failed", "customer.subscription.updated",
	}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Error(diff)
	}
	p := sub.PendingUpdate
	if p == nil || p.ExpiresAt != start.Add(23*time.Hour).Unix() || len(p.SubscriptionItems) != 1 || p.SubscriptionItems[0].Quantity != 3 || p.BillingCycleAnchor != 0 {
		t.Fatalf("pending update: %+v", p)
	}
	in := w.latestInvoice(sub.ID)
	if sub.Status != "active" || sub.Items.Data[0].Quantity != 1 || in.Status != "open" || in.AmountDue != 2000 || in.NextPaymentAttempt != 0 {
		t.Errorf("until then: %s, %d, invoice %s of %d", sub.Status, sub.Items.Data[0].Quantity, in.Status, in.AmountDue)
	}
	if got := w.answer(in, "refused"); got.status != http.StatusPaymentRequired {
		t.Errorf("refusing returns %d", got.status)
	}
	if got := w.subscription(sub.ID); got.Status != "active" || got.PendingUpdate == nil || got.PendingUpdate.ExpiresAt != p.ExpiresAt {
		t.Errorf("after a refusal: %s, %+v", got.Status, got.PendingUpdate)
	}
	before = w.eventTypes()
	w.payOpen(sub.Customer.ID)
	w.ended(sub.ID, 3, "paid")
	got := strings.Join(w.since(before), " ")
	if !strings.Contains(got, "invoice.paid") || !strings.Contains(got, "customer.subscription.pending_update_applied customer.subscription.updated") {
		t.Errorf("events after payment: %s", got)
	}
	// A change that can be paid immediately is applied immediately.
	card := w.attached(sub.Customer.ID, "pm_card_visa")
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{DefaultPaymentMethod: &card.ID}))
	before = w.eventTypes()
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, upgrade(sub, 5, "pending_if_incomplete")))
	w.ended(sub.ID, 5, "paid")
	if got := strings.Join(w.since(before), " "); strings.Contains(got, "pending_update") {
		t.Errorf("events of a paid change: %s", got)
	}
}

// TestAChangeIsPaidOverTheAPI pays the invoice of a pending update with another card.
func TestAChangeIsPaidOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.waiting()
	in := w.latestInvoice(sub.ID)
	late := w.attached(sub.Customer.ID, "pm_card_chargeCustomerFail")
	_, err := w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaymentMethod: &late.ID})
	refused(t, err, http.StatusPaymentRequired, "card_declined", "")
	if got := w.subscription(sub.ID); got.PendingUpdate == nil || got.Status != "active" {
		t.Errorf("after a declined card: %s, %+v", got.Status, got.PendingUpdate)
	}
	card := w.attached(sub.Customer.ID, "pm_card_visa")
	must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaymentMethod: &card.ID}))
	w.ended(sub.ID, 3, "paid")
}

// TestAChangeThatIsNotPaid ends a pending update in each possible way.
func TestAChangeThatIsNotPaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end      func(w *world, sub *api.Subscription)
		quantity int64
		invoice  string
	}{
		"time passes": {func(w *world, _ *api.Subscription) { w.advance(23 * time.Hour) }, 1, "void"},
		"it is voided": {func(w *world, sub *api.Subscription) {
			must[*api.Invoice](w.t)(w.V1Invoices.VoidInvoice(w.t.Context(), sub.LatestInvoice.ID, nil))
		}, 1, "void"},
		"it is canceled": {func(w *world, sub *api.Subscription) {
			must[*api.Subscription](w.t)(w.V1Subscriptions.Cancel(w.t.Context(), sub.ID, nil))
		}, 1, "void"},
		"the customer goes": {func(w *world, sub *api.Subscription) {
			must[*api.Customer](w.t)(w.V1Customers.Delete(w.t.Context(), sub.Customer.ID, nil))
		}, 1, "void"},
		"another change": {func(w *world, sub *api.Subscription) {
			must[*api.Subscription](w.t)(w.V1Subscriptions.Update(w.t.Context(), sub.ID, &api.SubscriptionUpdateParams{
				Items: []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Quantity: api.Int64(2)}},
			}))
		}, 2, "void"},
		"another pending change": {func(w *world, sub *api.Subscription) {
			got := must[*api.Subscription](w.t)(w.V1Subscriptions.Update(w.t.Context(), sub.ID, upgrade(sub, 7, "pending_if_incomplete")))
			if got.PendingUpdate == nil || got.PendingUpdate.SubscriptionItems[0].Quantity != 7 || got.LatestInvoice.ID == sub.LatestInvoice.ID {
				w.t.Errorf("the new one: %+v", got.PendingUpdate)
			}
			w.payOpen(sub.Customer.ID)
		}, 7, "paid"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			sub := w.waiting()
			w.advance(time.Minute)
			before := w.eventTypes()
			c.end(w, sub)
			events := strings.Join(w.since(before), " ")
			if !strings.Contains(events, "payment_intent.canceled") || !strings.Contains(events, "invoice.voided customer.subscription.pending_update_expired") {
				t.Errorf("events = %s", events)
			}
			w.ended(sub.ID, c.quantity, c.invoice)
			if in := must[*api.Invoice](t)(w.V1Invoices.Retrieve(t.Context(), sub.LatestInvoice.ID, nil)); in.Status != "void" {
				t.Errorf("the invoice is %s", in.Status)
			}
		})
	}
}

// TestAChangeExpiresWithThePeriod requests a change shortly before the renewal, which is not
// affected by the pending update.
func TestAChangeExpiresWithThePeriod(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.confirmed()
	end := time.Unix(sub.Items.Data[0].CurrentPeriodEnd, 0).UTC()
	w.clock.Set(end.Add(-time.Hour))
	sub = must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, upgrade(sub, 3, "pending_if_incomplete")))
	waits := sub.LatestInvoice.ID
	if sub.PendingUpdate == nil || sub.PendingUpdate.ExpiresAt != end.Unix() {
		t.Fatalf("pending update: %+v", sub.PendingUpdate)
	}
	w.clock.Set(end)
	got, in := w.subscription(sub.ID), w.latestInvoice(sub.ID)
	if got.PendingUpdate != nil || got.Items.Data[0].CurrentPeriodStart != end.Unix() || in.ID == waits || in.Total != 1000 {
		t.Errorf("renewed: %+v, invoice of %d", got.PendingUpdate, in.Total)
	}
	if in := must[*api.Invoice](t)(w.V1Invoices.Retrieve(t.Context(), waits, nil)); in.Status != "void" {
		t.Errorf("the invoice is %s", in.Status)
	}
}

// TestANewCycleWaits makes a new period pending. The period begins at the request, not at the later
// payment.
func TestANewCycleWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.confirmed()
	yearly := w.sold(9000, "eur", "year")
	w.until(3)
	asked := w.clock.Now().Unix()
	change := upgrade(sub, 1, "pending_if_incomplete")
	change.Items[0].Price = &yearly.ID
	sub = must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, change))
	if p := sub.PendingUpdate; p == nil || p.BillingCycleAnchor != asked || p.SubscriptionItems[0].Price.ID != yearly.ID || sub.Items.Data[0].Price.Recurring.Interval != "month" {
		t.Fatalf("pending update: %+v", p)
	}
	w.advance(time.Hour)
	if got := w.answer(w.latestInvoice(sub.ID), "confirmed"); got.status != http.StatusSeeOther {
		t.Fatalf("confirming returns %d", got.status)
	}
	item := w.subscription(sub.ID).Items.Data[0]
	if item.Price.ID != yearly.ID || item.CurrentPeriodStart != asked || item.CurrentPeriodEnd != time.Unix(asked, 0).UTC().AddDate(1, 0, 0).Unix() {
		t.Errorf("the item is now %+v", item)
	}
	// The end of a trial can be pending, too.
	trial := w.checkoutParams(w.sold(1000, "eur", "month"), 1)
	trial.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: api.Int64(7)}
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), trial))
	w.visit(http.MethodPost, session.ID, url.Values{"card_number": {asking}, "authentication": {"confirmed"}})
	tried := w.subscription(w.session(session.ID).Subscription.ID)
	tried = must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), tried.ID, &api.SubscriptionUpdateParams{
		PaymentBehavior: api.String("pending_if_incomplete"), TrialEndNow: api.Bool(true),
	}))
	if tried.Status != "trialing" || tried.PendingUpdate == nil || tried.PendingUpdate.TrialEnd != w.clock.Now().Unix() {
		t.Fatalf("the trial: %s, %+v", tried.Status, tried.PendingUpdate)
	}
	w.answer(w.latestInvoice(tried.ID), "confirmed")
	if got := w.subscription(tried.ID); got.Status != "active" || got.PendingUpdate != nil {
		t.Errorf("the trial ends %s", got.Status)
	}
}

func TestUnsupportedPendingParameters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.confirmed()
	for name, change := range map[string]func(*api.SubscriptionUpdateParams){
		"metadata":               func(p *api.SubscriptionUpdateParams) { p.AddMetadata("plan", "team") },
		"cancel_at_period_end":   func(p *api.SubscriptionUpdateParams) { p.CancelAtPeriodEnd = api.Bool(true) },
		"default_payment_method": func(p *api.SubscriptionUpdateParams) { p.DefaultPaymentMethod = &sub.DefaultPaymentMethod.ID },
	} {
		params := upgrade(sub, 3, "pending_if_incomplete")
		change(params)
		_, err := w.V1Subscriptions.Update(t.Context(), sub.ID, params)
		if got := refused(t, err, http.StatusBadRequest, "", name); !strings.Contains(got, "you can only pass supported params. `"+name+"` is not supported.") {
			t.Errorf("%s: %s", name, got)
		}
	}
	_, debited := w.debited(payingIBAN)
	w.until(6)
	_, err := w.V1Subscriptions.Update(t.Context(), debited.ID, upgrade(debited, 3, "pending_if_incomplete"))
	refused(t, err, http.StatusBadRequest, "", "payment_behavior")
}
