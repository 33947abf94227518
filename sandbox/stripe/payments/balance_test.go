package payments_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// TestTheBalance checks that the balance is the charges minus the refunds.
func TestTheBalance(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	w.Get("/v1/balance").CheckValues(t, "of nothing", "object", "balance", "available", `[{"amount":0,"currency":"usd","source_types":{"card":0}}]`)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	w.Subscribe(w.Price(700, "usd", "month"), "pm_card_visa")
	w.Subscribe(w.Price(500, "usd", "month"), "pm_card_chargeCustomerFail") // declined
	intent := w.Get("/v1/invoices/" + sub.At("latest_invoice") + "?expand[]=payments").At("payments.data.0.payment.payment_intent")
	w.Post("/v1/refunds", "payment_intent="+intent+"&amount=400")
	w.Get("/v1/balance").CheckValues(t, "afterwards", "available.0.amount", "600", "available.0.currency", "eur", "available.1.amount", "700", "pending.1.amount", "0")
	w.CheckRefused(stripetest.Refusal{Name: "a parameter", Method: "GET", Path: "/v1/balance?currency=eur", Code: "parameter_unknown", Param: "currency"})
}
