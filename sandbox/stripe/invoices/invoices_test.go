package invoices_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

const day = stripetest.Day

// invoiceIn returns the id of an invoice in the given state, and its subscription.
func invoiceIn(w *stripetest.World, state string) (id string, sub stripetest.Object) {
	price := w.Price(1000, "eur", "month")
	switch state {
	case "paid":
		sub = w.Subscribe(price, "pm_card_visa")
		return sub.At("latest_invoice"), sub
	case "draft":
		sub = w.Subscribe(price, "pm_card_visa")
		w.Clock.Set(time.Unix(sub.Int("items.data.0.current_period_end"), 0))
		sub = w.Get("/v1/subscriptions/" + sub.At("id"))
		return sub.At("latest_invoice"), sub
	}
	sub = w.Subscribe(price, "pm_card_chargeCustomerFail")
	id = sub.At("latest_invoice")
	switch state {
	case "void":
		w.Post("/v1/invoices/"+id+"/void", "")
	case "uncollectible":
		w.Post("/v1/invoices/"+id+"/mark_uncollectible", "")
	}
	return id, sub
}

// TestInvoiceActions tries each action in each state of an invoice. A cell contains the
// resulting status, or "!" and the code of the error.
func TestInvoiceActions(t *testing.T) {
	t.Parallel()
	actions := []string{"finalize", "pay", "void", "mark_uncollectible", "delete"}
	for state, cells := range map[string][]string{
		"draft":         {"open", "paid", "!invoice_not_editable", "!invoice_not_editable", "!"},
		"open":          {"!invoice_not_editable", "paid", "void", "uncollectible", "!invoice_not_editable"},
		"paid":          {"!invoice_not_editable", "!", "!invoice_not_editable", "!invoice_not_editable", "!invoice_not_editable"},
		"void":          {"!invoice_not_editable", "!invoice_not_editable", "!invoice_not_editable", "!invoice_not_editable", "!invoice_not_editable"},
		"uncollectible": {"!invoice_not_editable", "paid", "void", "!invoice_not_editable", "!invoice_not_editable"},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			w := stripetest.New(t)
			for i, action := range actions {
				id, sub := invoiceIn(w, state)
				w.Get("/v1/invoices/"+id).CheckValues(t, "before "+action, "status", state)
				method, path, body := "POST", "/v1/invoices/"+id+"/"+action, ""
				switch action {
				case "delete":
					method, path = "DELETE", "/v1/invoices/"+id
				case "pay":
					body = "payment_method=" + w.Card(sub.At("customer"), "pm_card_visa")
				}
				if code, refused := strings.CutPrefix(cells[i], "!"); refused {
					w.CheckRefused(stripetest.Refusal{Name: action, Method: method, Path: path, Body: body, Code: code})
					continue
				}
				w.Do(method, path, body).CheckValues(t, action, "status", cells[i])
				w.Get("/v1/invoices/"+id).CheckValues(t, "after "+action, "status", cells[i])
			}
		})
	}
}

func TestInvoiceRefusals(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	id, sub := invoiceIn(w, "open")
	other := w.Card(w.Customer(), "pm_card_visa")
	for _, action := range []string{"finalize", "pay", "void", "mark_uncollectible"} {
		w.CheckRefused(
			stripetest.Refusal{Name: action + " of nothing", Method: "POST", Path: "/v1/invoices/in_x/" + action, Status: 404, Code: "resource_missing", Param: "id"},
			stripetest.Refusal{Name: action + " with a parameter", Method: "POST", Path: "/v1/invoices/" + id + "/" + action, Body: "colour=red", Code: "parameter_unknown", Param: "colour"},
		)
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "another's card", Method: "POST", Path: "/v1/invoices/" + id + "/pay", Body: "payment_method=" + other, Param: "payment_method"},
		stripetest.Refusal{Name: "unknown card", Method: "POST", Path: "/v1/invoices/" + id + "/pay", Body: "payment_method=pm_x", Code: "resource_missing", Param: "payment_method"},
		stripetest.Refusal{Name: "unknown invoice", Method: "GET", Path: "/v1/invoices/in_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "its lines", Method: "GET", Path: "/v1/invoices/in_x/lines", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "delete", Method: "DELETE", Path: "/v1/invoices/in_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "unknown item", Method: "GET", Path: "/v1/invoiceitems/ii_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "pending", Method: "GET", Path: "/v1/invoiceitems?pending=maybe", Param: "pending"},
		stripetest.Refusal{Name: "unknown payment", Method: "GET", Path: "/v1/invoice_payments/inpay_x", Status: 404, Code: "resource_missing", Param: "id"},
	)
	answer := w.API("POST", "/v1/invoices/"+id+"/pay", "")
	if answer.Code != http.StatusPaymentRequired || !strings.Contains(answer.Body.String(), `"decline_code":"generic_decline"`) {
		t.Errorf("declined: answered %d %s", answer.Code, answer.Body)
	}
	w.Get("/v1/invoices/"+id).CheckValues(t, "a declined payment is recorded", "status", "open", "attempted", "true", "attempt_count", "1")
	if diff := cmp.Diff([]string{"invoice.payment_failed", "invoice.payment_failed"}, failures(w, sub)); diff != "" {
		t.Error(diff)
	}
}

func failures(w *stripetest.World, sub stripetest.Object) (types []string) {
	for _, e := range w.Get("/v1/events?type=invoice.payment_failed").List("data") {
		if e.At("data.object.customer") == sub.At("customer") {
			types = append(types, e.At("type"))
		}
	}
	return types
}

// TestAnInvoiceFinalizedByHand checks that an invoice without automatic collection is not
// collected.
func TestAnInvoiceFinalizedByHand(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	id, _ := invoiceIn(w, "draft")
	open := w.Post("/v1/invoices/"+id+"/finalize", "auto_advance=false")
	open.CheckValues(t, "finalized", "status", "open", "auto_advance", "false", "next_payment_attempt", "null", "automatically_finalizes_at", "null")
	if events := w.Events(func() { w.Advance(20 * day) }); len(events) > 0 {
		t.Errorf("invoice is still collected: %v", events)
	}
	w.Get("/v1/invoices/"+id).CheckValues(t, "20 days later", "status", "open", "attempt_count", "0")
}

// TestADraftOfNothingIsPaidByFinalizing uses a credit that covers the draft.
func TestADraftOfNothingIsPaidByFinalizing(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	dear, cheap := w.Price(3000, "eur", "month"), w.Price(1000, "eur", "month")
	sub := w.Subscribe(dear, "pm_card_visa")
	w.Post("/v1/subscriptions/"+sub.At("id"), "items[0][id]="+sub.At("items.data.0.id")+"&items[0][price]="+cheap+"&proration_behavior=always_invoice")
	w.Get("/v1/customers/"+sub.At("customer")).CheckValues(t, "credit", "balance", "-2000")
	w.Advance(31 * day)
	id := w.Get("/v1/subscriptions/" + sub.At("id")).At("latest_invoice")
	events := w.Events(func() {
		w.Post("/v1/invoices/"+id+"/finalize", "").CheckValues(t, "finalized", "status", "paid", "amount_due", "0", "total", "1000", "starting_balance", "-2000", "ending_balance", "-1000")
	})
	if diff := cmp.Diff([]string{"customer.updated", "invoice.finalized", "invoice.paid", "invoice.payment_succeeded"}, events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	pdf := w.Send("GET", "/sandbox/stripe/invoices/"+id+"/pdf", "").Body.String()
	for _, part := range []string{"Total: 10.00 EUR", "From the balance: 10.00 EUR", "Paid: 0.00 EUR"} {
		if !strings.Contains(pdf, part) {
			t.Errorf("the PDF lacks %q", part)
		}
	}
}

// TestPDFOfALongInvoice checks that the PDF omits lines that do not fit and characters that the
// font lacks.
func TestPDFOfALongInvoice(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	body := "invoice_settings[custom_fields]=&name=" + "%D0%90da+%28x%29%5C"
	customer := w.Post("/v1/customers", body).At("id")
	w.Card(customer, "pm_card_visa")
	params := "customer=" + customer
	for i := range 20 {
		params += fmt.Sprintf("&items[%d][price]=%s&items[%d][quantity]=%d", i, w.Price(100, "eur", "month"), i, i+1)
	}
	id := w.Post("/v1/subscriptions", params).At("latest_invoice")
	pdf := w.Send("GET", "/sandbox/stripe/invoices/"+id+"/pdf", "")
	text := pdf.Body.String()
	if pdf.Header().Get("Content-Type") != "application/pdf" || !strings.Contains(text, `(?da \(x\)\\)`) || !strings.Contains(text, "(1 \xd7 Starter \\(at 1.00 EUR / month\\))") {
		t.Errorf("PDF: %q", text)
	}
	if strings.Contains(text, "(20 \xd7") || strings.Contains(text, "Tf 50 -") {
		t.Error("the page has lines below its end")
	}
	for path, want := range map[string]int{"/sandbox/stripe/invoices/in_x/pdf": 404, "/sandbox/stripe/invoices/" + id + "/pdf": 200} {
		if got := w.Send("GET", path, "").Code; got != want {
			t.Errorf("%s returns %d, want %d", path, got, want)
		}
	}
	lines := w.IDs("/v1/invoices/" + id + "/lines?limit=15")
	if next := w.IDs("/v1/invoices/" + id + "/lines?limit=15&starting_after=" + lines[14]); len(lines) != 15 || len(next) != 5 {
		t.Errorf("the lines come in pages of %d and %d", len(lines), len(next))
	}
}

func TestListsOfInvoices(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	first, sub := invoiceIn(w, "paid")
	w.Post("/v1/subscriptions/"+sub.At("id"), "items[0][id]="+sub.At("items.data.0.id")+"&items[0][quantity]=2")
	pending := w.IDs("/v1/invoiceitems?pending=true&customer=" + sub.At("customer"))
	if len(pending) != 2 || len(w.IDs("/v1/invoiceitems?pending=false")) != 0 {
		t.Fatalf("pending items: %v", pending)
	}
	w.Get("/v1/invoiceitems/"+pending[0]).CheckValues(t, "item", "object", "invoiceitem", "invoice", "null", "proration", "true", "amount", "2000", "created", "null")
	w.Advance(31*day + time.Hour)
	second := w.Get("/v1/subscriptions/" + sub.At("id")).At("latest_invoice")
	for path, want := range map[string][]string{
		"/v1/invoices": {second, first},
		"/v1/invoices?status=paid&subscription=" + sub.At("id"): {second, first},
		"/v1/invoices?status=open":                              nil,
		"/v1/invoices?created[lt]=1772400000":                   {first},
		"/v1/invoices?limit=1&starting_after=" + second:         {first},
		"/v1/invoiceitems?pending=true":                         nil,
		"/v1/invoiceitems?invoice=" + second:                    pending,
		"/v1/invoices?customer=cus_x":                           nil,
	} {
		if diff := cmp.Diff(want, w.IDs(path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	w.Get("/v1/invoices/"+second).CheckValues(t, "renewal", "total", "3000", "billing_reason", "subscription_cycle", "lines.data.0.amount", "-1000", "lines.data.1.amount", "2000", "lines.data.2.amount", "2000")
}

// TestLinksFollowTheSandbox restarts the sandbox with the same database at another address.
func TestLinksFollowTheSandbox(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	id, _ := invoiceIn(w, "paid")
	before := w.Get("/v1/invoices/" + id)
	draft, _ := invoiceIn(w, "draft")
	const site = "http://127.0.0.1:9999"
	moved := stripetest.New(t, func(c *stripe.Config) { c.DB, c.PublicURL = w.DB, site })
	after := moved.Get("/v1/invoices/" + id)
	for _, link := range []string{"invoice_pdf", "hosted_invoice_url"} {
		if want := strings.Replace(before.At(link), stripetest.Site, site, 1); after.At(link) != want || want == before.At(link) {
			t.Errorf("%s is %s, want %s", link, after.At(link), want)
		}
	}
	if link := moved.Get("/v1/invoices/" + draft)["invoice_pdf"]; link != nil {
		t.Errorf("the PDF of a draft is %v", link)
	}
}
