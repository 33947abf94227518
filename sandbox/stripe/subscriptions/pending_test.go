package subscriptions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// waiting returns a subscription that costs 1000 per unit and month, with a pending update to three
// units. change contains the parameters of the update, without the quantity.
func waiting(w *stripetest.World) (sub stripetest.Object, path, change string) {
	sub = w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	path = "/v1/subscriptions/" + sub.At("id")
	card := w.Post("/v1/payment_methods/pm_card_authenticationRequired/attach", "customer="+sub.At("customer")).At("id")
	w.Post(path, "default_payment_method="+card)
	change = "payment_behavior=pending_if_incomplete&proration_behavior=always_invoice&items[0][id]=" + sub.At("items.data.0.id") + "&items[0][quantity]="
	return w.Post(path, change+"3"), path, change
}

// TestOtherChangesDuringPendingUpdate changes other things during a pending update.
func TestOtherChangesDuringPendingUpdate(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub, path, _ := waiting(w)
	expires := sub.At("pending_update.expires_at")
	for name, body := range map[string]string{
		"metadata": "metadata[a]=1", "an end": "cancel_at_period_end=true", "a description": "description=x", "nothing": "",
	} {
		w.Post(path, body).CheckValues(t, name, "pending_update.expires_at", expires, "pending_update.subscription_items.0.quantity", "3", "items.data.0.quantity", "1", "latest_invoice", sub.At("latest_invoice"))
	}
	w.Post("/v1/invoices/"+sub.At("latest_invoice")+"/mark_uncollectible", "")
	w.Get(path).CheckValues(t, "given up", "pending_update.expires_at", expires)
	w.Advance(23 * time.Hour)
	w.Get(path).CheckValues(t, "lapsed", "pending_update", "null", "items.data.0.quantity", "1", "status", "active")
	w.Get("/v1/invoices/"+sub.At("latest_invoice")).CheckValues(t, "lapsed", "status", "void")
	w.Get("/v1/customers/"+sub.At("customer")).CheckValues(t, "nothing was owed", "balance", "0", "delinquent", "false")
}

// TestAWaitingChangeUsesCredit pays a part from the customer's balance, which is restored when the
// pending update expires.
func TestAWaitingChangeUsesCredit(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(3000, "eur", "month"), "pm_card_visa", "items[0][quantity]=4")
	path, item := "/v1/subscriptions/"+sub.At("id"), "&items[0][id]="+sub.At("items.data.0.id")+"&items[0][quantity]="
	w.Post(path, "proration_behavior=always_invoice"+item+"3") // becomes a credit of 3000
	w.Get("/v1/customers/"+sub.At("customer")).CheckValues(t, "credit", "balance", "-3000")
	card := w.Post("/v1/payment_methods/pm_card_authenticationRequired/attach", "customer="+sub.At("customer")).At("id")
	w.Post(path, "default_payment_method="+card)
	waits := w.Post(path, "payment_behavior=pending_if_incomplete&proration_behavior=always_invoice"+item+"5")
	w.Get("/v1/invoices/"+waits.At("latest_invoice")).CheckValues(t, "the invoice", "total", "6000", "amount_due", "3000", "status", "open")
	w.Get("/v1/customers/"+sub.At("customer")).CheckValues(t, "meanwhile", "balance", "0")
	w.Advance(24 * time.Hour)
	w.Get("/v1/customers/"+sub.At("customer")).CheckValues(t, "afterwards", "balance", "-3000")
	// A change that the credit covers is applied immediately, with any card.
	done := w.Post(path, "payment_behavior=pending_if_incomplete&proration_behavior=always_invoice"+item+"4")
	done.CheckValues(t, "covered", "pending_update", "null", "items.data.0.quantity", "4")
}

// TestChangesThatNeedNotWait checks that changes without an invoice, and changes whose invoice is
// not above zero, are applied immediately.
func TestChangesThatNeedNotWait(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub, path, change := waiting(w)
	for _, c := range []struct{ name, body, quantity string }{
		{"later", strings.Replace(change, "always_invoice", "create_prorations", 1) + "2", "2"},
		{"none", strings.Replace(change, "always_invoice", "none", 1) + "9", "9"},
		{"less", change + "4", "4"},
	} {
		w.Post(path, c.body).CheckValues(t, c.name, "pending_update", "null", "items.data.0.quantity", c.quantity, "status", "active")
	}
	w.Get("/v1/invoices/"+sub.At("latest_invoice")).CheckValues(t, "what waited before", "status", "void")
	w.CheckRefused(
		stripetest.Refusal{Name: "metadata", Method: "POST", Path: path, Body: change + "5&metadata[a]=1", Param: "metadata"},
		stripetest.Refusal{Name: "an unknown parameter", Method: "POST", Path: path, Body: change + "5&coupon=x", Code: "parameter_unknown", Param: "coupon"},
		stripetest.Refusal{Name: "when created", Method: "POST", Path: "/v1/subscriptions", Body: "payment_behavior=pending_if_incomplete&customer=" + sub.At("customer") + "&items[0][price]=" + sub.At("items.data.0.price.id") + "&items[0][quantity]=1", Param: "payment_behavior"},
	)
}
