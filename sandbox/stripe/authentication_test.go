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

// asking is the number of the card that requires authentication for each payment.
const asking = "4000 0027 6000 3184"

// pageOf returns the path of an invoice's page.
func (w *world) pageOf(in *api.Invoice) string {
	w.t.Helper()
	path, ok := strings.CutPrefix(in.HostedInvoiceURL, w.url)
	if !ok {
		w.t.Fatalf("the page of invoice %s is at %q", in.ID, in.HostedInvoiceURL)
	}
	return path
}

// payOpen pays the open invoices of a customer on their pages.
func (w *world) payOpen(customer string) {
	w.t.Helper()
	for in, err := range w.V1Invoices.List(w.t.Context(), &api.InvoiceListParams{Customer: &customer, Status: api.String("open")}).All(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		if got := w.open(http.MethodPost, w.pageOf(in), url.Values{"card_number": {"4242 4242 4242 4242"}}); got.status != http.StatusSeeOther {
			w.t.Errorf("paying %s returns %d: %s", in.ID, got.status, got.body)
		}
	}
}

// answer submits the payer's response to the bank.
func (w *world) answer(in *api.Invoice, answer string) page {
	w.t.Helper()
	return w.open(http.MethodPost, w.pageOf(in), url.Values{"authentication": {answer}})
}

// confirmed returns a subscription that was bought with the card that requires authentication.
func (w *world) confirmed() *api.Subscription {
	w.t.Helper()
	session := w.checkout(w.sold(1000, "eur", "month"), 1)
	if got := w.visit(http.MethodPost, session.ID, url.Values{"card_number": {asking}, "authentication": {"confirmed"}}); got.status != http.StatusSeeOther {
		w.t.Fatalf("confirming returns %d: %s", got.status, got.body)
	}
	return w.subscription(w.session(session.ID).Subscription.ID)
}

func TestACheckoutIsConfirmed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session := w.checkout(w.sold(1000, "eur", "month"), 1)
	before := w.eventTypes()
	w.pay(session.ID, asking).shows(t, "Do you approve this payment of €10.00?", `<form id="confirm"`, `<form id="refuse"`,
		`name="card_number" value="`+asking+`"`, `-<form id="pay"`)
	refusing := w.visit(http.MethodPost, session.ID, url.Values{"card_number": {asking}, "authentication": {"refused"}})
	if refusing.status != http.StatusPaymentRequired {
		t.Errorf("refusing returns %d", refusing.status)
	}
	refusing.shows(t, "was not confirmed", `<form id="pay"`)
	if diff := cmp.Diff([]string{}, w.since(before)); diff != "" || w.session(session.ID).Status != "open" {
		t.Errorf("before it is confirmed: %s", diff)
	}
	got := w.visit(http.MethodPost, session.ID, url.Values{"card_number": {asking}, "authentication": {"confirmed"}})
	if got.status != http.StatusSeeOther || w.session(session.ID).PaymentStatus != "paid" {
		t.Fatalf("confirming returns %d", got.status)
	}
	sub := w.subscription(w.session(session.ID).Subscription.ID)
	in, pi := w.paymentOf(sub)
	if sub.Status != "active" || in.Status != "paid" || pi.Status != "succeeded" || pi.LatestCharge.PaymentMethodDetails.Card.ThreeDSecure.Result != "authenticated" {
		t.Errorf("subscription %s, invoice %s, payment %+v", sub.Status, in.Status, pi)
	}
	trial := w.checkoutParams(w.sold(1000, "eur", "month"), 1)
	trial.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: api.Int64(7)}
	free := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), trial))
	w.pay(free.ID, asking).shows(t, "Do you want to use this card?")
}

// TestARenewalWaitsForItsPayer refuses and then confirms the payment of a renewal.
func TestARenewalWaitsForItsPayer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.confirmed()
	before := w.eventTypes()
	w.until(28)
	w.advance(time.Hour)
	sub = w.subscription(sub.ID)
	in, pi := w.paymentOf(sub)
	if sub.Status != "past_due" || in.Status != "open" || pi.Status != "requires_action" || pi.NextAction.Type != "use_stripe_sdk" || pi.LatestCharge != nil || in.NextPaymentAttempt == 0 {
		t.Errorf("subscription %s, invoice %s, payment %+v", sub.Status, in.Status, pi)
	}
	want := []string{
		"invoice.upcoming", "invoice.created", "customer.subscription.updated", "customer.updated", "invoice.finalized", "payment_intent.created",
		"payment_intent.requires_action", "invoice.updated", "invoice.payment_action_required", "invoice.payment_failed", "customer.updated", "customer.subscription.updated",
	}
	if diff := cmp.Diff(want, w.since(before)); diff != "" {
		t.Error(diff)
	}
	_, err := w.V1Invoices.Pay(t.Context(), in.ID, nil)
	refused(t, err, http.StatusPaymentRequired, "invoice_payment_intent_requires_action", "")
	w.open(http.MethodGet, w.pageOf(in), nil).shows(t, "€10.00", `<form id="confirm"`, `<form id="refuse"`, `<form id="pay"`)

	if got := w.answer(in, "refused"); got.status != http.StatusPaymentRequired {
		t.Errorf("refusing returns %d", got.status)
	}
	if in, pi := w.paymentOf(sub); in.Status != "open" || pi.Status != "requires_payment_method" || pi.NextAction != nil || pi.LastPaymentError.Code != "payment_intent_authentication_failure" {
		t.Errorf("refused: invoice %s, payment %+v", in.Status, pi)
	}
	w.open(http.MethodGet, w.pageOf(in), nil).shows(t, `-<form id="confirm"`, `<form id="pay"`)

	if got := w.open(http.MethodPost, w.pageOf(in), url.Values{"card_number": {asking}}); got.status != http.StatusSeeOther || got.location != w.pageOf(in) {
		t.Errorf("the same card again returns %d", got.status)
	}
	if got := w.answer(in, "confirmed"); got.status != http.StatusSeeOther {
		t.Errorf("confirming returns %d", got.status)
	}
	if in, pi := w.paymentOf(sub); in.Status != "paid" || pi.Status != "succeeded" || w.subscription(sub.ID).Status != "active" {
		t.Errorf("confirmed: invoice %s, payment %+v", in.Status, pi)
	}
	if got := w.answer(in, "confirmed"); got.status != http.StatusSeeOther {
		t.Errorf("confirming twice returns %d", got.status)
	}
	w.open(http.MethodGet, w.pageOf(in), nil).shows(t, "This invoice is paid.", "-<form", "Download invoice (PDF)")
}

// TestThePageOfAnInvoice pays an open invoice with different cards.
func TestThePageOfAnInvoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sub := w.overdue()
	in := w.latestInvoice(sub.ID)
	for number, c := range map[string]struct {
		status int
		says   string
	}{
		"4000 0000 0000 0002": {http.StatusPaymentRequired, "was declined"},
		"4242424242424241":    {http.StatusUnprocessableEntity, "not a valid card number"},
		`"><script>`:          {http.StatusUnprocessableEntity, "not a valid card number"},
	} {
		got := w.open(http.MethodPost, w.pageOf(in), url.Values{"card_number": {number}})
		if got.status != c.status {
			t.Errorf("%s returns %d", number, got.status)
		}
		got.shows(t, c.says, `role="alert"`, "-<script")
	}
	if got := w.answer(in, "confirmed"); got.status != http.StatusSeeOther || w.latestInvoice(sub.ID).Status != "open" {
		t.Errorf("confirming a payment that is not pending returns %d", got.status)
	}
	w.payOpen(sub.Customer.ID)
	if got := w.subscription(sub.ID); got.Status != "active" || got.DefaultPaymentMethod.ID != sub.DefaultPaymentMethod.ID || w.latestInvoice(sub.ID).Status != "paid" {
		t.Errorf("paid: %s with %s", got.Status, got.DefaultPaymentMethod.ID)
	}
	w.until(59)
	w.advance(59 * time.Minute)
	draft := w.latestInvoice(sub.ID)
	if draft.Status != "draft" || draft.HostedInvoiceURL != "" {
		t.Errorf("a draft is %s at %q", draft.Status, draft.HostedInvoiceURL)
	}
	for _, path := range []string{"/sandbox/invoices/" + draft.ID, "/sandbox/invoices/in_x"} {
		if got := w.open(http.MethodGet, path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s returns %d", path, got.status)
		}
	}
	w.advance(time.Minute)
	open := must[*api.Invoice](t)(w.V1Invoices.VoidInvoice(t.Context(), draft.ID, nil))
	w.open(http.MethodGet, w.pageOf(open), nil).shows(t, "This invoice was voided.", "-<form")
}

// TestPaymentsRequireAuthentication creates and changes subscriptions with the card that
// requires authentication.
func TestPaymentsRequireAuthentication(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	customer, price := w.customer("ada@example.test"), w.sold(1000, "eur", "month")
	card := w.attached(customer.ID, "pm_card_authenticationRequired")
	params := func(behavior string) *api.SubscriptionCreateParams {
		p := &api.SubscriptionCreateParams{
			Customer: &customer.ID, DefaultPaymentMethod: &card.ID, PaymentBehavior: &behavior,
			Items: []*api.SubscriptionCreateItemParams{{Price: &price.ID, Quantity: api.Int64(1)}},
		}
		p.AddExpand("latest_invoice")
		return p
	}
	_, err := w.V1Subscriptions.Create(t.Context(), params("error_if_incomplete"))
	refused(t, err, http.StatusPaymentRequired, "subscription_payment_intent_requires_action", "")
	_, err = w.V1Subscriptions.Create(t.Context(), params("pending_if_incomplete"))
	refused(t, err, http.StatusBadRequest, "", "payment_behavior")
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(t.Context(), params("allow_incomplete")))
	if sub.Status != "incomplete" {
		t.Fatalf("created %s", sub.Status)
	}
	if got := w.answer(sub.LatestInvoice, "confirmed"); got.status != http.StatusSeeOther || w.subscription(sub.ID).Status != "active" {
		t.Errorf("confirming returns %d, then status is %s", got.status, w.subscription(sub.ID).Status)
	}
	before := w.eventTypes()
	_, err = w.V1Subscriptions.Update(t.Context(), sub.ID, upgrade(sub, 3, "error_if_incomplete"))
	refused(t, err, http.StatusPaymentRequired, "subscription_payment_intent_requires_action", "")
	if diff := cmp.Diff([]string{}, w.since(before)); diff != "" || w.subscription(sub.ID).Items.Data[0].Quantity != 1 {
		t.Errorf("rejected change has an effect: %s", diff)
	}
}

// upgrade changes the quantity of the first item and bills the change immediately.
func upgrade(sub *api.Subscription, quantity int64, behavior string) *api.SubscriptionUpdateParams {
	return &api.SubscriptionUpdateParams{
		PaymentBehavior: &behavior, ProrationBehavior: api.String("always_invoice"),
		Items: []*api.SubscriptionUpdateItemParams{{ID: &sub.Items.Data[0].ID, Quantity: &quantity}},
	}
}
