package stripe_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/testkit"
)

const (
	payingIBAN  = "DE89 3704 0044 0532 0130 00"
	failingIBAN = "de62370400440532013001"
)

// debited returns a session that was completed by debit, and its subscription.
func (w *world) debited(iban string) (*api.CheckoutSession, *api.Subscription) {
	w.t.Helper()
	session := w.checkout(w.sold(1000, "eur", "month"), 1)
	if got := w.visit(http.MethodPost, session.ID, url.Values{"iban": {iban}}); got.status != http.StatusSeeOther {
		w.t.Fatalf("the debit returns %d %s", got.status, got.body)
	}
	session = w.session(session.ID)
	return session, must[*api.Subscription](w.t)(w.V1Subscriptions.Retrieve(w.t.Context(), session.Subscription.ID, nil))
}

func (w *world) session(id string) *api.CheckoutSession {
	w.t.Helper()
	return must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Retrieve(w.t.Context(), id, nil))
}

// paymentOf returns the latest invoice of a subscription and its payment.
func (w *world) paymentOf(sub *api.Subscription) (*api.Invoice, *api.PaymentIntent) {
	w.t.Helper()
	params := &api.InvoiceRetrieveParams{}
	params.AddExpand("payments")
	in := must[*api.Invoice](w.t)(w.V1Invoices.Retrieve(w.t.Context(), sub.LatestInvoice.ID, params))
	about := &api.PaymentIntentRetrieveParams{}
	about.AddExpand("latest_charge")
	about.AddExpand("payment_method")
	return in, must[*api.PaymentIntent](w.t)(w.V1PaymentIntents.Retrieve(w.t.Context(), in.Payments.Data[0].Payment.PaymentIntent.ID, about))
}

func TestADebitIsUnderWayForFiveDays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	session, sub := w.debited(payingIBAN)
	if session.Status != "complete" || session.PaymentStatus != "unpaid" || sub.Status != "active" {
		t.Errorf("at first the session is %s and %s, the subscription %s", session.Status, session.PaymentStatus, sub.Status)
	}
	in, pi := w.paymentOf(sub)
	if in.Status != "open" || !in.Attempted || pi.Status != "processing" || pi.AmountReceived != 0 || pi.LatestCharge.Status != "pending" || pi.LatestCharge.Paid ||
		pi.PaymentMethod.Type != "sepa_debit" || pi.PaymentMethod.SEPADebit.Last4 != "3000" || pi.LatestCharge.PaymentMethodDetails.SEPADebit.BankCode != "37040044" {
		t.Errorf("invoice %s, payment %+v", in.Status, pi)
	}
	w.visit(http.MethodGet, session.ID, nil).shows(t, "complete", "debited in the next few days")
	w.clock.Set(start.Add(5*24*time.Hour - time.Second))
	if got := w.session(session.ID); got.PaymentStatus != "unpaid" {
		t.Errorf("before five days: got %s", got.PaymentStatus)
	}
	before := w.eventTypes()
	w.clock.Set(start.Add(5 * 24 * time.Hour))
	if got := w.session(session.ID); got.PaymentStatus != "paid" || got.Status != "complete" {
		t.Errorf("after five days: got %s", got.PaymentStatus)
	}
	in, pi = w.paymentOf(sub)
	if in.Status != "paid" || pi.Status != "succeeded" || pi.AmountReceived != 1000 || pi.LatestCharge.Status != "succeeded" || !pi.LatestCharge.Paid || w.subscription(sub.ID).Status != "active" {
		t.Errorf("invoice %s, payment %+v", in.Status, pi)
	}
	want := []string{
		"charge.succeeded", "payment_intent.succeeded", "invoice_payment.paid", "invoice.paid", "invoice.payment_succeeded",
		"checkout.session.async_payment_succeeded",
	}
	if diff := cmp.Diff(want, w.eventTypes()[len(before):]); diff != "" {
		t.Error(diff)
	}
	if !slices.Contains(before, "checkout.session.completed") || !slices.Contains(before, "payment_intent.processing") || slices.Contains(before, "invoice.paid") {
		t.Errorf("before: %v", before)
	}
}

func TestADebitFails(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newWorld(t, r.config)
	w.run()
	session, sub := w.debited(failingIBAN)
	if sub.Status != "active" {
		t.Errorf("at first the subscription is %s", sub.Status)
	}
	w.clock.Set(start.Add(5 * 24 * time.Hour))
	w.server.Wake()
	testkit.Eventually(t, "the notification", func() bool { return slices.Contains(r.types(), "checkout.session.async_payment_failed") })
	if got := w.session(session.ID); got.PaymentStatus != "unpaid" || got.Status != "complete" {
		t.Errorf("the session is %s and %s", got.Status, got.PaymentStatus)
	}
	in, pi := w.paymentOf(sub)
	if in.Status != "open" || pi.Status != "requires_payment_method" || pi.LastPaymentError.Code != "insufficient_funds" ||
		pi.LatestCharge.Status != "failed" || w.subscription(sub.ID).Status != "past_due" {
		t.Errorf("invoice %s, payment %+v", in.Status, pi)
	}
	w.payOpen(sub.Customer.ID)
	if in, _ := w.paymentOf(sub); in.Status != "paid" || w.subscription(sub.ID).Status != "active" {
		t.Errorf("then the invoice is %s", in.Status)
	}
	if got := w.session(session.ID); got.PaymentStatus != "unpaid" {
		t.Errorf("session of an invoice paid elsewhere is %s, want unpaid", got.PaymentStatus)
	}
}

func TestADebitUnderWayIsNotPaidTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, sub := w.debited(payingIBAN)
	path := w.portal(sub.Customer.ID)
	w.open(http.MethodGet, path, nil).shows(t, "Direct debit from the account ending in 3000")
	if got := w.open(http.MethodPost, path+"/card", url.Values{"card_number": {"4242424242424242"}}); got.status != http.StatusSeeOther {
		t.Fatalf("a new card returns %d", got.status)
	}
	page := w.pageOf(w.latestInvoice(sub.ID))
	w.open(http.MethodGet, page, nil).shows(t, "Your account is being debited", "-<form")
	if got := w.open(http.MethodPost, page, url.Values{"card_number": {"4242424242424242"}}); got.status != http.StatusConflict {
		t.Errorf("paying during a debit: status = %d, want 409", got.status)
	}
	if in, pi := w.paymentOf(sub); in.Status != "open" || pi.Status != "processing" {
		t.Errorf("invoice %s, payment %s", in.Status, pi.Status)
	}
	w.clock.Set(start.Add(5 * 24 * time.Hour))
	if in, pi := w.paymentOf(sub); in.Status != "paid" || pi.AmountReceived != 1000 || pi.PaymentMethod.Type != "sepa_debit" {
		t.Errorf("invoice %s, payment %+v", in.Status, pi)
	}
}

func TestADebitOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	params := w.checkoutParams(w.sold(1000, "eur", "month"), 1)
	params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: api.Int64(7)}
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), params))
	w.visit(http.MethodPost, session.ID, url.Values{"iban": {payingIBAN}})
	session = w.session(session.ID)
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(t.Context(), session.Subscription.ID, nil))
	if session.PaymentStatus != "no_payment_required" || sub.Status != "trialing" || sub.DefaultPaymentMethod == nil {
		t.Errorf("the session is %s, the subscription %s", session.PaymentStatus, sub.Status)
	}
}

func TestWaysToPay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	euros, dollars := w.sold(1000, "eur", "month"), w.sold(1000, "usd", "month")
	for name, c := range map[string]struct {
		price       *api.Price
		types, want []string
		shows       []string
		refused     map[string]string // typed values and their error messages
	}{
		"euros": {euros, nil, []string{"card", "sepa_debit"}, []string{`<form id="pay"`, `<form id="debit"`, `<label for="iban">`}, map[string]string{
			"iban=DE89370400440532013001":                       "not a valid IBAN",
			"iban=GB82WEST12345698765432":                       "No real account",
			"iban=%22%3E%3Cscript%3E":                           "not a valid IBAN",
			"iban=" + strings.Repeat("9", 40):                   "not a valid IBAN",
			"iban=DE8937040044053201300%C3%A9":                  "not a valid IBAN",
			"iban=DE89370400440532013000&card_number=424242424": "either by card or by direct debit",
			"iban=&card_number=":                                "Enter a card number",
		}},
		"dollars": {dollars, nil, []string{"card"}, []string{`<form id="pay"`, `-<form id="debit"`}, map[string]string{"iban=DE89370400440532013000": "Direct debit is not available"}},
		"cards":   {euros, []string{"card"}, []string{"card"}, []string{`<form id="pay"`, `-<form id="debit"`}, map[string]string{"iban=DE89370400440532013000": "Direct debit is not available"}},
		"debits": {euros, []string{"sepa_debit"}, []string{"sepa_debit"}, []string{`-<form id="pay"`, `<form id="debit"`}, map[string]string{
			"card_number=4242424242424242": "Cards are not available", "": "not a valid IBAN",
		}},
	} {
		params := w.checkoutParams(c.price, 1)
		params.PaymentMethodTypes = api.StringSlice(c.types)
		session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(t.Context(), params))
		if diff := cmp.Diff(c.want, session.PaymentMethodTypes); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		w.visit(http.MethodGet, session.ID, nil).shows(t, c.shows...)
		for typed, says := range c.refused {
			form, err := url.ParseQuery(typed)
			if err != nil {
				t.Fatal(err)
			}
			got := w.visit(http.MethodPost, session.ID, form)
			if got.status != http.StatusUnprocessableEntity {
				t.Errorf("%s: %s returns %d", name, typed, got.status)
			}
			got.shows(t, says, "-<script")
		}
		if got := w.session(session.ID); got.Status != "open" {
			t.Errorf("%s: the session is %s", name, got.Status)
		}
	}
	for name, c := range map[string]struct {
		price *api.Price
		types []string
	}{
		"debits of dollars": {dollars, []string{"sepa_debit"}},
		"another way":       {euros, []string{"card", "paypal"}},
		"twice":             {euros, []string{"card", "card"}},
	} {
		params := w.checkoutParams(c.price, 1)
		params.PaymentMethodTypes = api.StringSlice(c.types)
		if _, err := w.V1CheckoutSessions.Create(t.Context(), params); err == nil {
			t.Errorf("%s is not refused", name)
		} else {
			refused(t, err, http.StatusBadRequest, "", "payment_method_types")
		}
	}
}

func TestRenewalsByDebit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	params := w.checkoutParams(w.sold(1000, "eur", "month"), 1)
	params.SubscriptionData = &api.CheckoutSessionCreateSubscriptionDataParams{TrialPeriodDays: api.Int64(7)}
	session := must[*api.CheckoutSession](t)(w.V1CheckoutSessions.Create(ctx, params))
	w.visit(http.MethodPost, session.ID, url.Values{"iban": {failingIBAN}})
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Retrieve(ctx, w.session(session.ID).Subscription.ID, nil))
	w.advance(7*24*time.Hour + time.Hour) // the trial has ended, and its invoice is final
	sub = w.subscription(sub.ID)
	in, pi := w.paymentOf(sub)
	if sub.Status != "active" || in.Status != "open" || pi.Status != "processing" || in.NextPaymentAttempt != 0 && in.NextPaymentAttempt > w.clock.Now().Unix() {
		t.Errorf("subscription %s, invoice %s, payment %s", sub.Status, in.Status, pi.Status)
	}
	_, err := w.V1Invoices.Pay(ctx, in.ID, nil)
	refused(t, err, http.StatusBadRequest, "payment_intent_unexpected_state", "")
	_, err = w.V1Invoices.VoidInvoice(ctx, in.ID, nil)
	refused(t, err, http.StatusBadRequest, "payment_intent_unexpected_state", "")
	w.advance(5 * 24 * time.Hour)
	if in, pi = w.paymentOf(sub); w.subscription(sub.ID).Status != "past_due" || in.Status != "open" || pi.Status != "requires_payment_method" || in.NextPaymentAttempt == 0 {
		t.Errorf("invoice %s, payment %s, next attempt at %d", in.Status, pi.Status, in.NextPaymentAttempt)
	}
	w.advance(3 * 24 * time.Hour)
	if in, pi = w.paymentOf(sub); in.AttemptCount != 2 || pi.Status != "processing" || w.subscription(sub.ID).Status != "past_due" {
		t.Errorf("retried: attempt %d, payment %s", in.AttemptCount, pi.Status)
	}
	w.advance(60 * 24 * time.Hour)
	if got := w.subscription(sub.ID).Status; got != "canceled" {
		t.Errorf("after the last retry: got %s", got)
	}
}

func TestASubscriptionBeginsWithADebit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	_, first := w.debited(payingIBAN)
	p := w.sold(2000, "eur", "month")
	sub := must[*api.Subscription](t)(w.V1Subscriptions.Create(ctx, &api.SubscriptionCreateParams{
		Customer: &first.Customer.ID, DefaultPaymentMethod: &first.DefaultPaymentMethod.ID,
		Items: []*api.SubscriptionCreateItemParams{{Price: &p.ID, Quantity: api.Int64(1)}},
	}))
	if in, _ := w.paymentOf(sub); sub.Status != "active" || in.Status != "open" {
		t.Errorf("subscription %s, invoice %s", sub.Status, in.Status)
	}
	must[*api.Subscription](t)(w.V1Subscriptions.Cancel(ctx, sub.ID, nil))
	w.advance(5 * 24 * time.Hour)
	if in, _ := w.paymentOf(sub); w.subscription(sub.ID).Status != "canceled" || in.Status != "paid" {
		t.Errorf("invoice debited after the end is %s, want paid", in.Status)
	}
}
