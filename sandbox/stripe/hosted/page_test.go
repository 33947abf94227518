package hosted_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

// overdue returns a subscription whose first invoice is open, and the invoice's page.
func overdue(w *stripetest.World, card string) (sub stripetest.Object, page string) {
	sub = w.Subscribe(w.Price(1000, "eur", "month"), card)
	return sub, strings.TrimPrefix(w.Get("/v1/invoices/"+sub.At("latest_invoice")).At("hosted_invoice_url"), stripetest.Site)
}

// TestAnInvoiceIsPaidOnItsPage submits the forms of a page in order.
func TestAnInvoiceIsPaidOnItsPage(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub, page := overdue(w, "pm_card_chargeCustomerFail")
	for _, c := range []struct {
		name, field, value string
		status             int
		says               []string
		events             string
	}{
		{"nothing", "other", "x", 422, []string{"Enter a card number."}, ""},
		{"a wrong number", "card_number", "4242 4242 4242 4241", 422, []string{"not a valid card number"}, ""},
		{"a declined card", "card_number", "4000 0000 0000 0002", 402, []string{"Your card was declined."}, ""},
		{"an unexpected answer", "authentication", "confirmed", 303, []string{`<form id="pay"`, `-<form id="confirm"`}, ""},
		{
			"a card that asks", "card_number", "4000 0027 6000 3184", 303,
			[]string{`<form id="confirm"`, "€10.00", `<form id="refuse"`},
			"payment_method.attached payment_intent.requires_action invoice.payment_action_required invoice.payment_failed",
		},
		{
			"a refusal", "authentication", "refused", 402,
			[]string{"unable to authenticate", `-<form id="confirm"`},
			"payment_intent.payment_failed invoice.payment_failed",
		},
		{"the card again", "card_number", "4000002760003184", 303, []string{`<form id="confirm"`}, "payment_method.attached payment_intent.requires_action invoice.payment_action_required invoice.payment_failed"},
		{
			"a confirmation", "authentication", "confirmed", 303,
			[]string{"This invoice is paid.", "-<form"},
			"charge.succeeded payment_intent.succeeded invoice_payment.paid invoice.paid invoice.payment_succeeded customer.updated customer.subscription.updated",
		},
		{"another card afterwards", "card_number", "4242424242424242", 303, []string{"This invoice is paid."}, ""},
	} {
		var status int
		var body string
		events := w.Events(func() {
			got := w.Form(page, c.field, c.value)
			if status, body = got.Code, got.Body.String(); status == http.StatusSeeOther {
				if to := got.Header().Get("Location"); to != page {
					t.Errorf("%s: redirected to %s", c.name, to)
				}
				body = w.Send("GET", page, "").Body.String()
			}
		})
		if got := strings.Join(events, " "); status != c.status || got != c.events {
			t.Errorf("%s: answered %d with %q, want %d with %q", c.name, status, got, c.status, c.events)
		}
		for _, part := range c.says {
			absent := strings.HasPrefix(part, "-")
			part = strings.TrimPrefix(part, "-")
			if strings.Contains(body, part) == absent {
				t.Errorf("%s: %q is wrong in %s", c.name, part, body)
			}
		}
	}
	w.Get("/v1/subscriptions/"+sub.At("id")).CheckValues(t, "afterwards", "status", "active", "default_payment_method", "null")
}

// TestThePageIsSafe checks the page's headers and the escaping of user-provided text.
func TestThePageIsSafe(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer := w.Customer()
	w.Card(customer, "pm_card_chargeCustomerFail")
	price := w.Post("/v1/prices", "unit_amount=700&currency=eur&recurring[interval]=month&product_data[name]=%3Cscript%3Ealert(1)%3C%2Fscript%3E").At("id")
	sub := w.Post("/v1/subscriptions", "customer="+customer+"&items[0][price]="+price+"&items[0][quantity]=1")
	page := "/sandbox/invoices/" + sub.At("latest_invoice")
	got := w.Send("GET", page, "")
	if body := got.Body.String(); got.Code != http.StatusOK || strings.Contains(body, "<script") || !strings.Contains(body, "&lt;script&gt;") {
		t.Errorf("answered %d: %s", got.Code, body)
	}
	policy := got.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "form-action 'self'") || got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers: %v", got.Header())
	}
	if got := w.Form(page, "card_number", `"><script>`).Body.String(); strings.Contains(got, "<script") {
		t.Errorf("input is not escaped: %s", got)
	}
	for path, want := range map[string]int{"/sandbox/invoices/in_x": 404, "/sandbox/invoices/" + sub.At("id"): 404} {
		if show, use := w.Send("GET", path, "").Code, w.Form(path, "card_number", "4242424242424242").Code; show != want || use != http.StatusSeeOther && use != want {
			t.Errorf("%s returns %d and %d", path, show, use)
		}
	}
}

// TestUncollectibleInvoiceCanBePaid checks that an uncollectible invoice can be paid, but not a
// void invoice or an invoice of a deleted customer.
func TestUncollectibleInvoiceCanBePaid(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	for name, c := range map[string]struct {
		end  func(sub stripetest.Object)
		pays bool
	}{
		"uncollectible": {func(sub stripetest.Object) {
			w.Post("/v1/invoices/"+sub.At("latest_invoice")+"/mark_uncollectible", "")
		}, true},
		"void":     {func(sub stripetest.Object) { w.Post("/v1/invoices/"+sub.At("latest_invoice")+"/void", "") }, false},
		"canceled": {func(sub stripetest.Object) { w.Delete("/v1/subscriptions/" + sub.At("id")) }, true},
	} {
		sub, page := overdue(w, "pm_card_chargeCustomerFail")
		c.end(sub)
		w.Form(page, "card_number", "4242424242424242")
		if paid := w.Get("/v1/invoices/"+sub.At("latest_invoice")).At("status") == "paid"; paid != c.pays {
			t.Errorf("%s: paid is %v", name, paid)
		}
	}
}

// If the account's balance pays a part of an invoice, the page shows it, so that the lines add up.
func TestTheBalanceOfTheAccountIsShown(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_visa")
	show := func() string {
		t.Helper()
		newest := w.IDs("/v1/invoices?limit=1&customer=" + sub.At("customer"))[0]
		url := w.Get("/v1/invoices/" + newest).At("hosted_invoice_url")
		return w.Send("GET", strings.TrimPrefix(url, stripetest.Site), "").Body.String()
	}
	if body := show(); strings.Contains(body, "Balance") {
		t.Errorf("the page shows a balance: %s", body)
	}
	w.Post("/v1/subscriptions/"+sub.At("id"), "items[0][id]="+sub.At("items.data.0.id")+"&items[0][price]="+w.Price(700, "eur", "month")+"&proration_behavior=always_invoice")
	w.Advance(32 * 24 * time.Hour)
	body := show()
	for _, want := range []string{`<td id="credit">-€3.00</td>`, `<td id="total">€4.00</td>`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}
