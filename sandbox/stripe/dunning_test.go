package stripe_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"
)

// overdue returns a subscription whose first renewal has just failed.
func (w *world) overdue() *api.Subscription {
	w.t.Helper()
	sub := w.paid(w.checkoutParams(w.sold(1000, "eur", "month"), 1), "4000000000000341")
	w.until(28)
	w.advance(time.Hour)
	return w.subscription(sub.ID)
}

// putDunning changes the dunning setting.
func (w *world) putDunning(body string) (int, string) {
	w.t.Helper()
	res, answer := w.call(http.MethodPut, "/dunning", body, map[string]string{"Content-Type": "application/json", "Authorization": ""})
	return res.StatusCode, strings.TrimSpace(answer)
}

func TestAFailedRenewalIsRetried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.paid(w.checkoutParams(w.sold(1000, "eur", "month"), 1), "4000000000000341")
	before := w.eventTypes()
	w.until(28)
	w.advance(time.Hour)
	failed := w.clock.Now()
	sub, in := w.subscription(sub.ID), w.latestInvoice(sub.ID)
	if sub.Status != "past_due" || in.Status != "open" || in.AttemptCount != 1 || in.NextPaymentAttempt != failed.Add(3*day).Unix() || !in.Attempted {
		t.Errorf("subscription %s, invoice %s after %d attempts, next at %d", sub.Status, in.Status, in.AttemptCount, in.NextPaymentAttempt)
	}
	want := []string{
		"invoice.upcoming", "invoice.created", "customer.subscription.updated", "customer.updated", "invoice.finalized", "payment_intent.created",
		"charge.failed", "payment_intent.payment_failed", "invoice.updated", "invoice.payment_failed", "customer.updated", "customer.subscription.updated",
	}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Error(diff)
	}
	if cu := must[*api.Customer](t)(w.V1Customers.Retrieve(t.Context(), sub.Customer.ID, nil)); !cu.Delinquent {
		t.Error("the customer is not delinquent")
	}
	get := &api.InvoiceRetrieveParams{}
	get.AddExpand("payments.data.payment.payment_intent")
	pi := must[*api.Invoice](t)(w.V1Invoices.Retrieve(t.Context(), in.ID, get)).Payments.Data[0].Payment.PaymentIntent
	if pi.Status != "requires_payment_method" || pi.LastPaymentError == nil || pi.LastPaymentError.Code != "card_declined" || pi.LatestCharge == nil {
		t.Errorf("payment: %+v", pi)
	}
	if ch := must[*api.Charge](t)(w.V1Charges.Retrieve(t.Context(), pi.LatestCharge.ID, nil)); ch.Status != "failed" || ch.Paid || ch.Outcome.Type != "issuer_declined" {
		t.Errorf("charge: %+v", ch)
	}
	for i, days := range []int{3, 5, 7} {
		before = w.eventTypes()
		failed = failed.Add(time.Duration(days) * day)
		w.clock.Set(failed.Add(-time.Second))
		if got := w.since(before); len(got) != 0 {
			t.Errorf("before retry %d: %v", i+1, got)
		}
		w.clock.Set(failed)
		if in = w.latestInvoice(sub.ID); in.AttemptCount != int64(i)+2 || in.Status != "open" {
			t.Errorf("retry %d: attempt %d, %s", i+1, in.AttemptCount, in.Status)
		}
	}
	got := w.subscription(sub.ID)
	if got.Status != "canceled" || got.CancellationDetails.Reason != "payment_failed" || got.EndedAt != failed.Unix() || in.NextPaymentAttempt != 0 || in.AutoAdvance {
		t.Errorf("after the last retry: %s because of %s, next attempt %d", got.Status, got.CancellationDetails.Reason, in.NextPaymentAttempt)
	}
	want = []string{
		"charge.failed", "payment_intent.payment_failed", "invoice.updated", "invoice.payment_failed", "customer.subscription.deleted", "invoice.updated",
	}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Error(diff)
	}
	before = w.eventTypes()
	w.until(200)
	if after := w.since(before); len(after) > 0 {
		t.Errorf("after its end: %v", after)
	}
}

func TestAReplacedCardPaysTheNextRetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.overdue()
	card := w.attached(sub.Customer.ID, "pm_card_visa")
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{DefaultPaymentMethod: &card.ID}))
	w.advance(3 * day)
	if got, in := w.subscription(sub.ID), w.latestInvoice(sub.ID); got.Status != "active" || in.Status != "paid" || in.AttemptCount != 2 || in.NextPaymentAttempt != 0 {
		t.Errorf("subscription %s, invoice %s after %d attempts", got.Status, in.Status, in.AttemptCount)
	}
	if cu := must[*api.Customer](t)(w.V1Customers.Retrieve(t.Context(), sub.Customer.ID, nil)); cu.Delinquent {
		t.Error("the customer is still delinquent")
	}
	w.until(60)
	if in := w.latestInvoice(sub.ID); in.Status != "paid" || in.Created != start.Add(59*day).Unix() {
		t.Errorf("the next renewal: %s", in.Status)
	}
}

func TestAReplacedCardPaysNothingByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putDunning(`{"outcome":"past_due"}`)
	sub := w.overdue()
	w.until(60) // the second renewal has failed, too
	if got := w.open(http.MethodPost, w.portal(sub.Customer.ID)+"/card", url.Values{"card_number": {"4242424242424242"}}); got.status != http.StatusSeeOther {
		t.Fatalf("the portal returns %d", got.status)
	}
	if got := w.subscription(sub.ID); got.Status != "past_due" {
		t.Errorf("with a new card the subscription is %s", got.Status)
	}
	w.payOpen(sub.Customer.ID)
	cu := must[*api.Customer](t)(w.V1Customers.Retrieve(t.Context(), sub.Customer.ID, nil))
	got := w.subscription(sub.ID)
	if got.Status != "active" || got.DefaultPaymentMethod.ID != cu.InvoiceSettings.DefaultPaymentMethod.ID || got.DefaultPaymentMethod.ID == sub.DefaultPaymentMethod.ID {
		t.Errorf("subscription %s with card %s", got.Status, got.DefaultPaymentMethod.ID)
	}
	for in, err := range w.V1Invoices.List(t.Context(), &api.InvoiceListParams{Customer: &cu.ID}).All(t.Context()) {
		if err != nil || in.Status != "paid" {
			t.Errorf("invoice: %s, %v", in.Status, err)
		}
	}
}

func TestAnOpenInvoiceIsPaidByHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.overdue()
	in := w.latestInvoice(sub.ID)
	w.advance(day)
	_, err := w.V1Invoices.Pay(t.Context(), in.ID, nil)
	refused(t, err, http.StatusPaymentRequired, "card_declined", "")
	if again := w.latestInvoice(sub.ID); again.AttemptCount != 1 || again.NextPaymentAttempt != in.NextPaymentAttempt {
		t.Errorf("an attempt by hand moves the retries: %d attempts, next at %d", again.AttemptCount, again.NextPaymentAttempt)
	}
	other := w.attached(w.customer("bob@example.test").ID, "pm_card_visa")
	_, err = w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaymentMethod: &other.ID})
	refused(t, err, http.StatusBadRequest, "", "payment_method")
	card := w.attached(sub.Customer.ID, "pm_card_visa")
	paid := must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), in.ID, &api.InvoicePayParams{PaymentMethod: &card.ID}))
	if got := w.subscription(sub.ID); paid.Status != "paid" || got.Status != "active" || got.DefaultPaymentMethod.ID == card.ID {
		t.Errorf("invoice %s, subscription %s", paid.Status, got.Status)
	}
	_, err = w.V1Invoices.Pay(t.Context(), in.ID, nil)
	refused(t, err, http.StatusBadRequest, "", "")
	before := w.eventTypes()
	w.until(50)
	if after := w.since(before); len(after) > 0 {
		t.Errorf("paid invoice is retried: %v", after)
	}
}

func TestUnpaidSubscriptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if status, answer := w.putDunning(`{"outcome":"unpaid"}`); status != http.StatusOK || answer != `{"data":{"outcome":"unpaid","retry_days":[3,5,7]}}` {
		t.Errorf("answered %d %s", status, answer)
	}
	w.restart()
	if res, answer := w.call(http.MethodGet, "/dunning", "", nil); res.StatusCode != http.StatusOK || !strings.Contains(answer, `"outcome":"unpaid"`) {
		t.Errorf("kept: %d %s", res.StatusCode, answer)
	}
	sub := w.overdue()
	first := w.latestInvoice(sub.ID)
	w.until(45)
	if got, in := w.subscription(sub.ID), w.latestInvoice(sub.ID); got.Status != "unpaid" || in.Status != "open" || in.AutoAdvance {
		t.Fatalf("subscription %s, invoice %s, which advances by itself: %v", got.Status, in.Status, in.AutoAdvance)
	}
	w.until(70)
	draft := w.latestInvoice(sub.ID)
	if draft.ID == first.ID || draft.Status != "draft" || draft.AutoAdvance || draft.AutomaticallyFinalizesAt != 0 {
		t.Errorf("the next invoice: %s, advances by itself: %v", draft.Status, draft.AutoAdvance)
	}
	card := w.attached(sub.Customer.ID, "pm_card_visa")
	must[*api.Subscription](t)(w.V1Subscriptions.Update(t.Context(), sub.ID, &api.SubscriptionUpdateParams{DefaultPaymentMethod: &card.ID}))
	must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), first.ID, nil))
	if got := w.subscription(sub.ID); got.Status != "active" {
		t.Errorf("after paying, the subscription is %s", got.Status)
	}
	if in := must[*api.Invoice](t)(w.V1Invoices.FinalizeInvoice(t.Context(), draft.ID, nil)); in.Status != "open" || in.NextPaymentAttempt != 0 {
		t.Errorf("finalized by hand: %s", in.Status)
	}
	if in := must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), draft.ID, nil)); in.Status != "paid" {
		t.Errorf("paid by hand: %s", in.Status)
	}
}

func TestSubscriptionsCanStayPastDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.putDunning(`{"outcome":"past_due"}`)
	sub := w.overdue()
	w.until(100)
	if got := w.subscription(sub.ID); got.Status != "past_due" {
		t.Errorf("subscription is %s", got.Status)
	}
	var open []string // newest first
	for in, err := range w.V1Invoices.List(t.Context(), &api.InvoiceListParams{Subscription: &sub.ID, Status: api.String("open")}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, in.ID)
	}
	if len(open) != 3 {
		t.Fatalf("%d invoices are open", len(open))
	}
	card := w.attached(sub.Customer.ID, "pm_card_visa")
	for _, step := range []struct {
		invoice string
		want    api.SubscriptionStatus
	}{{open[1], "past_due"}, {open[0], "active"}} { // the latest invoice decides
		must[*api.Invoice](t)(w.V1Invoices.Pay(t.Context(), step.invoice, &api.InvoicePayParams{PaymentMethod: &card.ID}))
		if got := w.subscription(sub.ID); got.Status != step.want {
			t.Errorf("the subscription is %s, want %s", got.Status, step.want)
		}
	}
}

func TestNewCardDoesNotPayEndedSubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.overdue()
	w.until(50)
	portal := w.portal(sub.Customer.ID)
	before := w.eventTypes()
	if got := w.open(http.MethodPost, portal+"/card", url.Values{"card_number": {"4242424242424242"}}); got.status != http.StatusSeeOther {
		t.Fatalf("the portal returns %d", got.status)
	}
	if diff := cmp.Diff([]string{"payment_method.attached", "customer.updated"}, w.since(before)); diff != "" {
		t.Error(diff)
	}
	if got, in := w.subscription(sub.ID), w.latestInvoice(sub.ID); got.Status != "canceled" || in.Status != "open" {
		t.Errorf("subscription %s, invoice %s", got.Status, in.Status)
	}
}

func TestRefusedDunningSettings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, want := range map[string]int{
		`{"outcome":"forgiven"}`:     http.StatusUnprocessableEntity,
		`{"outcome":1}`:              http.StatusUnprocessableEntity,
		`{"retry_days":[1]}`:         http.StatusUnprocessableEntity,
		`{`:                          http.StatusBadRequest,
		`{}`:                         http.StatusOK,
		`{"outcome":"past_due"}`:     http.StatusOK,
		`{"outcome":"canceled"}    `: http.StatusOK,
	} {
		if status, answer := w.putDunning(body); status != want || !json.Valid([]byte(answer)) {
			t.Errorf("%s returns %d %s", body, status, answer)
		}
	}
}
