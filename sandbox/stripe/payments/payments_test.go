package payments_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// intent returns the payment intent of a subscription's latest invoice.
func intent(w *stripetest.World, sub stripetest.Object) stripetest.Object {
	return w.Get("/v1/invoice_payments?expand[]=data.payment.payment_intent&invoice=" + sub.At("latest_invoice")).List("data")[0]
}

func TestRefundsOfAPayment(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	pi := intent(w, w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa"))
	id, charge := pi.At("payment.payment_intent.id"), pi.At("payment.payment_intent.latest_charge")
	pi.CheckValues(t, "payment", "status", "paid", "amount_paid", "1000", "payment.payment_intent.status", "succeeded", "payment.payment_intent.amount_received", "1000")
	w.CheckRefused(
		stripetest.Refusal{Name: "nothing to refund", Method: "POST", Path: "/v1/refunds", Code: "parameter_missing", Param: "payment_intent"},
		stripetest.Refusal{Name: "charge and intent", Method: "POST", Path: "/v1/refunds", Body: "charge=" + charge + "&payment_intent=" + id, Code: "parameter_missing", Param: "payment_intent"},
		stripetest.Refusal{Name: "unknown charge", Method: "POST", Path: "/v1/refunds", Body: "charge=ch_x", Code: "resource_missing", Param: "charge"},
		stripetest.Refusal{Name: "unknown intent", Method: "POST", Path: "/v1/refunds", Body: "payment_intent=pi_x", Code: "resource_missing", Param: "payment_intent"},
		stripetest.Refusal{Name: "amount of zero", Method: "POST", Path: "/v1/refunds", Body: "amount=0&charge=" + charge, Code: "parameter_invalid_integer", Param: "amount"},
		stripetest.Refusal{Name: "reason", Method: "POST", Path: "/v1/refunds", Body: "reason=regret&charge=" + charge, Param: "reason"},
		stripetest.Refusal{Name: "too much", Method: "POST", Path: "/v1/refunds", Body: "amount=1001&charge=" + charge, Param: "amount"},
	)
	var first stripetest.Object
	events := w.Events(func() { first = w.Post("/v1/refunds", "amount=999&reason=duplicate&metadata[a]=b&payment_intent="+id) })
	if diff := cmp.Diff([]string{"refund.created", "charge.refunded"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	first.CheckValues(t, "a part", "amount", "999", "status", "succeeded", "charge", charge, "reason", "duplicate", "metadata.a", "b", "livemode", "null")
	w.Get("/v1/charges/"+charge).CheckValues(t, "charge", "amount_refunded", "999", "refunded", "false")
	w.CheckRefused(stripetest.Refusal{Name: "more than is left", Method: "POST", Path: "/v1/refunds", Body: "amount=2&charge=" + charge, Param: "amount"})
	rest := w.Post("/v1/refunds", "charge="+charge)
	rest.CheckValues(t, "the rest", "amount", "1", "payment_intent", id, "reason", "null")
	w.Get("/v1/charges/"+charge+"?expand[]=refunds").CheckValues(t, "charge", "amount_refunded", "1000", "refunded", "true", "refunds.data.1.amount", "1")
	w.CheckRefused(
		stripetest.Refusal{Name: "all is refunded", Method: "POST", Path: "/v1/refunds", Body: "charge=" + charge, Code: "charge_already_refunded"},
		stripetest.Refusal{Name: "unknown refund", Method: "GET", Path: "/v1/refunds/re_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "unknown charge", Method: "GET", Path: "/v1/charges/ch_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "unknown intent", Method: "GET", Path: "/v1/payment_intents/pi_x", Status: 404, Code: "resource_missing", Param: "id"},
	)
	for query, want := range map[string][]string{"": {rest.At("id"), first.At("id")}, "?charge=" + charge + "&limit=1": {rest.At("id")}, "?payment_intent=pi_x": nil} {
		if diff := cmp.Diff(want, w.IDs("/v1/refunds"+query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
}

// TestOnlySuccessfulChargesAreRefunded tries to refund unsuccessful payments.
func TestOnlySuccessfulChargesAreRefunded(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price := w.Price(1000, "eur", "month")
	untried := intent(w, w.Subscribe(price, "", "payment_behavior=default_incomplete"))
	declined := intent(w, w.Subscribe(price, "pm_card_chargeCustomerFail"))
	declined.CheckValues(t, "declined", "status", "open", "payment.payment_intent.status", "requires_payment_method", "payment.payment_intent.last_payment_error.code", "card_declined")
	session := w.Checkout(price)
	if got := w.Form("/sandbox/checkout/"+session.At("id"), "iban", "DE89370400440532013000"); got.Code != http.StatusSeeOther {
		t.Fatalf("the debit returns %d", got.Code)
	}
	pending := intent(w, w.Get("/v1/subscriptions/"+w.Get("/v1/checkout/sessions/"+session.At("id")).At("subscription")))
	failed := declined.At("payment.payment_intent.latest_charge")
	for query, want := range map[string][]string{
		"?payment_intent=" + declined.At("payment.payment_intent.id"): {failed}, "?payment_intent=pi_x": nil, "?customer=cus_x": nil,
	} { // https://docs.stripe.com/api/charges/list
		if diff := cmp.Diff(want, w.IDs("/v1/charges"+query)); diff != "" {
			t.Errorf("charges %q (-want +got):\n%s", query, diff)
		}
	}
	w.Get("/v1/charges/"+pending.At("payment.payment_intent.latest_charge")).CheckValues(t, "debit", "status", "pending", "paid", "false", "payment_method_details.sepa_debit.last4", "3000")
	w.CheckRefused(
		stripetest.Refusal{Name: "no charge", Method: "POST", Path: "/v1/refunds", Body: "payment_intent=" + untried.At("payment.payment_intent.id"), Param: "payment_intent"},
		stripetest.Refusal{Name: "declined", Method: "POST", Path: "/v1/refunds", Body: "payment_intent=" + declined.At("payment.payment_intent.id"), Code: "charge_not_refundable"},
		stripetest.Refusal{Name: "declined, by its charge", Method: "POST", Path: "/v1/refunds", Body: "charge=" + declined.At("payment.payment_intent.latest_charge"), Code: "charge_not_refundable"},
		stripetest.Refusal{Name: "under way", Method: "POST", Path: "/v1/refunds", Body: "payment_intent=" + pending.At("payment.payment_intent.id"), Code: "charge_not_refundable"},
	)
	w.Advance(5 * stripetest.Day)
	w.Post("/v1/refunds", "payment_intent="+pending.At("payment.payment_intent.id")).CheckValues(t, "settled", "amount", "1000")
}
