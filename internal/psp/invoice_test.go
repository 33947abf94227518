package psp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp"
)

func lineJSON(id string) string {
	return fmt.Sprintf(`{"id": %q, "amount": 2400, "currency": "eur", "description": "2 × Team", "quantity": 2,
		"period": {"start": 1700000000, "end": 1702592000},
		"pricing": {"price_details": {"price": "price_1", "product": "prod_1"}, "unit_amount_decimal": "1200.000000000001"},
		"parent": {"type": "subscription_item_details", "subscription_item_details": {
			"proration": true, "subscription": "sub_1", "subscription_item": "si_1"}}}`, id)
}

func invoiceJSON(lines string, more bool) string {
	return fmt.Sprintf(`{"id": "in_1", "object": "invoice", "number": "A-1", "status": "paid", "customer": "cus_1", "currency": "eur",
		"billing_reason": "subscription_cycle", "subtotal": 2400, "total": 2880, "amount_due": 2880,
		"total_taxes": [{"amount": 480, "tax_behavior": "exclusive"}],
		"created": 1700000000, "due_date": null, "status_transitions": {"finalized_at": 1700000001, "paid_at": 1700000002},
		"invoice_pdf": "https://files.test/in_1.pdf", "hosted_invoice_url": "https://pay.test/in_1",
		"customer_name": "Acme", "customer_email": "a@acme.test", "customer_address": {"line1": "1 Road", "country": "FR", "postal_code": "75001"},
		"parent": {"type": "subscription_details", "subscription_details": {"subscription": "sub_1"}},
		"payments": {"object": "list", "data": [
			{"status": "canceled", "is_default": true, "payment": {"payment_intent": "pi_0"}},
			{"status": "paid", "is_default": false, "payment": {"payment_intent": "pi_1"}}]},
		"lines": {"object": "list", "has_more": %t, "data": [%s]}}`, more, lines)
}

func wantLine(id string) psp.InvoiceLine {
	return psp.InvoiceLine{
		ID: id, Description: "2 × Team", Amount: 2400, Currency: "EUR", Quantity: 2, UnitAmount: "1200.000000000001",
		PriceID: "price_1", ProductID: "prod_1", SubscriptionID: "sub_1", SubscriptionItemID: "si_1", Proration: true,
		PeriodStart: second(1700000000), PeriodEnd: second(1702592000),
	}
}

func wantInvoice(lines ...psp.InvoiceLine) psp.Invoice {
	finalized, paid := second(1700000001), second(1700000002)
	return psp.Invoice{
		ID: "in_1", Number: "A-1", Status: "paid", CustomerID: "cus_1", SubscriptionID: "sub_1", PaymentIntentID: "pi_1",
		BillingReason: "subscription_cycle", Currency: "EUR", Subtotal: 2400, Tax: 480, Total: 2880, AmountDue: 2880,
		CreatedAt: second(1700000000), FinalizedAt: &finalized, PaidAt: &paid,
		PDFURL: "https://files.test/in_1.pdf", HostedURL: "https://pay.test/in_1",
		Billed: psp.BilledCustomer{
			Name: "Acme", Email: "a@acme.test", Address: psp.Address{Line1: "1 Road", PostalCode: "75001", Country: "FR"},
		},
		Lines: lines,
	}
}

func TestInvoiceIsReadWithAllLines(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch {
		case !strings.HasSuffix(r.URL.Path, "/lines"):
			reply(w, 200, invoiceJSON(lineJSON("il_1"), true))
		case r.FormValue("starting_after") == "":
			reply(w, 200, `{"object": "list", "has_more": true, "data": [`+lineJSON("il_1")+`,`+lineJSON("il_2")+`]}`)
		case r.FormValue("starting_after") == "il_2":
			reply(w, 200, `{"object": "list", "has_more": false, "data": [`+lineJSON("il_3")+`]}`)
		}
	})
	got, err := provider.client(t).GetInvoice(t.Context(), "in_1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantInvoice(wantLine("il_1"), wantLine("il_2"), wantLine("il_3")), got); diff != "" {
		t.Error(diff)
	}
}

// The provider's subtotal includes an inclusive tax. Invoice.Subtotal does not.
func TestSubtotalIsWithoutTaxes(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 200, strings.Replace(strings.Replace(invoiceJSON("", false), `"exclusive"`, `"inclusive"`, 1), "2880", "2400", 2))
	})
	got, err := provider.client(t).GetInvoice(t.Context(), "in_1")
	if err != nil {
		t.Fatal(err)
	}
	if got.Subtotal != 1920 || got.Tax != 480 || got.Total != 2400 {
		t.Errorf("subtotal %d, tax %d, total %d", got.Subtotal, got.Tax, got.Total)
	}
}

func TestInvoicesAreListedByPage(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 200, `{"object": "list", "has_more": true, "data": [`+invoiceJSON(lineJSON("il_1"), false)+`]}`)
	})
	client := provider.client(t)
	got, err := client.ListInvoices(t.Context(), psp.InvoiceQuery{CustomerID: "cus_1", Status: "paid", After: "in_9", Limit: 25})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(psp.InvoicePage{Invoices: []psp.Invoice{wantInvoice(wantLine("il_1"))}, More: true}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := client.ListInvoices(t.Context(), psp.InvoiceQuery{CustomerID: "cus_1"}); err != nil {
		t.Fatal(err)
	}
	asked := provider.requests()
	first, second := asked[0].form, asked[1].form
	if first.Get("customer") != "cus_1" || first.Get("status") != "paid" || first.Get("starting_after") != "in_9" || first.Get("limit") != "25" {
		t.Errorf("requested %v", first)
	}
	if second.Get("limit") != "100" || second.Has("status") || second.Has("starting_after") {
		t.Errorf("without choices: requested %v", second)
	}
	// Without a customer ID, the invoices of all customers would be listed.
	if _, err := client.ListInvoices(t.Context(), psp.InvoiceQuery{}); err == nil || len(provider.requests()) != 2 {
		t.Error("invoices of no customer were listed")
	}
}
