package psp_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
)

// openInvoice is an invoice that waits for its payment.
const openInvoice = `{
	"id": "in_1", "object": "invoice", "status": "open", "currency": "eur", "customer": "cus_1", "created": 1700000000,
	"amount_due": 1200, "amount_remaining": 1200, "total": 1200, "hosted_invoice_url": "https://invoice.stripe.com/i/1",
	"payments": {"object": "list", "data": [{
		"id": "inpay_1", "is_default": true, "status": "open", "payment": {"type": "payment_intent", "payment_intent": "pi_1"}
	}]},
	"lines": {"object": "list", "data": [], "has_more": false}
}`

// An open invoice can require an action, which depends on its payment.
func TestPaymentActionOfInvoice(t *testing.T) {
	t.Parallel()
	const page = "https://invoice.stripe.com/i/1"
	tests := map[string]struct {
		old, new string // a replacement in the invoice
		intent   string // the status of its payment; empty if it is not requested
		want     money.PaymentAction
	}{
		"to confirm":           {"", "", "requires_action", money.PaymentAction{Type: money.ActionConfirm, URL: page}},
		"to pay":               {"", "", "requires_payment_method", money.PaymentAction{Type: money.ActionPay, URL: page}},
		"nothing by a debit":   {"", "", "processing", money.PaymentAction{}},
		"without a payment":    {`"payment_intent": "pi_1"`, `"payment_intent": null`, "", money.PaymentAction{Type: money.ActionPay, URL: page}},
		"nothing once paid":    {`"status": "open", "currency"`, `"status": "paid", "currency"`, "", money.PaymentAction{}},
		"nothing as a draft":   {`"status": "open", "currency"`, `"status": "draft", "currency"`, "", money.PaymentAction{}},
		"nothing without page": {`"https://invoice.stripe.com/i/1"`, `null`, "", money.PaymentAction{}},
		"nothing without debt": {`"amount_remaining": 1200`, `"amount_remaining": 0`, "", money.PaymentAction{}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.URL.Path == "/v1/payment_intents/pi_1" && tt.intent != "" {
					reply(w, 200, `{"id": "pi_1", "object": "payment_intent", "status": "`+tt.intent+`"}`)
					return
				}
				if r.URL.Path != "/v1/invoices/in_1" {
					t.Errorf("requested %s", r.URL.Path)
				}
				reply(w, 200, strings.Replace(openInvoice, tt.old, tt.new, 1))
			})
			in, err := provider.client(t).GetInvoice(t.Context(), "in_1")
			if err != nil {
				t.Fatal(err)
			}
			if in.Action != tt.want {
				t.Errorf("action = %+v, want %+v", in.Action, tt.want)
			}
			if got := in.Action.OrNil(); (got == nil) != (tt.want == money.PaymentAction{}) {
				t.Errorf("shown is %+v", got)
			}
		})
	}
}

// A subscription includes its pending change and the action that the invoice of the change
// requires.
func TestSubscriptionWithAChangeThatWaits(t *testing.T) {
	t.Parallel()
	waiting := strings.NewReplacer(`"latest_invoice": "in_1"`, `"latest_invoice": `+openInvoice+`, "pending_update": {
		"expires_at": 1700082800, "subscription_items": [
			{"id": "si_2", "price": {"id": "price_usage", "recurring": {"interval": "month", "interval_count": 1, "usage_type": "metered"}}},
			{"id": "si_1", "quantity": 5, "price": {"id": "price_2", "recurring": {"interval": "month", "interval_count": 1, "usage_type": "licensed"}}}
		]}`).Replace(subscriptionJSON)
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if strings.HasPrefix(r.URL.Path, "/v1/payment_intents/") {
			reply(w, 200, `{"id": "pi_1", "object": "payment_intent", "status": "requires_action"}`)
			return
		}
		reply(w, 200, waiting)
	})
	client := provider.client(t)
	for name, get := range map[string]func() (psp.Subscription, error){
		"read": func() (psp.Subscription, error) { return client.GetSubscription(t.Context(), "sub_1") },
		"asked for": func() (psp.Subscription, error) {
			return client.AwaitChange(t.Context(), psp.Change{
				SubscriptionID: "sub_1", ItemID: "si_1", PriceID: "price_2", Quantity: 5, ProrationDate: second(1700000200),
			}, "k")
		},
	} {
		s, err := get()
		if err != nil {
			t.Fatal(err)
		}
		want := &psp.PendingChange{PriceID: "price_2", Quantity: 5, ExpiresAt: time.Unix(1700082800, 0).UTC()}
		if diff := cmp.Diff(want, s.Pending); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if s.PriceID != "price_1" || s.LatestInvoiceID != "in_1" || s.Action.Type != money.ActionConfirm {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A payment that the payer has to confirm is distinguished from a declined payment.
func TestPaymentsThatNeedTheirPayer(t *testing.T) {
	t.Parallel()
	for code, waits := range map[string]bool{
		"subscription_payment_intent_requires_action": true, "invoice_payment_intent_requires_action": true,
		"authentication_required": true, "card_declined": false, "expired_card": false,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				replyError(w, http.StatusPaymentRequired, "card_error", code, "The payment failed.")
			})
			err := provider.client(t).PayInvoice(t.Context(), "in_1", "k")
			if !errors.Is(err, psp.ErrDeclined) || errors.Is(err, psp.ErrActionRequired) != waits || errors.Is(err, psp.ErrRefused) {
				t.Errorf("%v", err)
			}
			if got := provider.requests()[0]; got.path != "/v1/invoices/in_1/pay" || !strings.HasPrefix(got.key, "k") {
				t.Errorf("requested %s with the key %q", got.path, got.key)
			}
		})
	}
}
