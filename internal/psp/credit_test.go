package psp_test

import (
	"net/http"
	"strings"
	"testing"
)

// A customer's other currency comes from its credit, debt, pending items or unpaid invoices.
func TestOtherCurrency(t *testing.T) {
	t.Parallel()
	const none = `{"object": "list", "data": []}`
	eur, usd := `{"object": "list", "data": [{"id": "x", "currency": "eur"}]}`, `{"object": "list", "data": [{"id": "x", "currency": "usd"}]}`
	tests := map[string]struct {
		customer                string
		invoices, drafts, items string // "" if it is not requested
		want                    string
	}{
		"a new one":                   {`{"id": "cus_1", "currency": null, "balance": 0}`, "", "", "", ""},
		"the same":                    {`{"id": "cus_1", "currency": "eur", "balance": -500, "invoice_credit_balance": {"eur": 500}}`, "", "", "", ""},
		"credit":                      {`{"id": "cus_1", "currency": "usd", "balance": -500, "invoice_credit_balance": {"usd": 500}}`, "", "", "", "USD"},
		"credit of before":            {`{"id": "cus_1", "currency": "eur", "balance": 0, "invoice_credit_balance": {"eur": 0, "usd": 1}}`, "", "", "", "USD"},
		"debt":                        {`{"id": "cus_1", "currency": "usd", "balance": 500}`, "", "", "", "USD"},
		"nothing open in the old one": {`{"id": "cus_1", "currency": "usd", "balance": 0, "invoice_credit_balance": {"usd": 0}}`, none, none, none, ""},
		"the new invoice contains the open amount": {`{"id": "cus_1", "currency": "usd", "balance": 0}`, eur, eur, eur, ""},
		"an open invoice":                          {`{"id": "cus_1", "currency": "usd", "balance": 0}`, usd, "", "", "USD"},
		"a draft":                                  {`{"id": "cus_1", "currency": "usd", "balance": 0}`, none, usd, "", "USD"},
		"an item":                                  {`{"id": "cus_1", "currency": "usd", "balance": 0}`, none, none, usd, "USD"},
		"deleted":                                  {`{"id": "cus_1", "deleted": true}`, "", "", "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				answer := ""
				switch q := r.URL.Query(); {
				case strings.HasSuffix(r.URL.Path, "/customers/cus_1") && q.Get("expand[0]") == "invoice_credit_balance":
					answer = tt.customer
				case q.Get("customer") != "cus_1":
				case strings.HasSuffix(r.URL.Path, "/invoices") && q.Get("status") == "open":
					answer = tt.invoices
				case strings.HasSuffix(r.URL.Path, "/invoices") && q.Get("status") == "draft":
					answer = tt.drafts
				case strings.HasSuffix(r.URL.Path, "/invoiceitems") && q.Get("pending") == "true":
					answer = tt.items
				}
				if answer == "" {
					t.Errorf("unexpected %s %s", r.Method, r.URL)
				}
				reply(w, 200, answer)
			})
			got, err := provider.client(t).OtherCurrency(t.Context(), "cus_1", "EUR")
			if err != nil || got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// The credit is the amount that the next invoice in the currency can use, without debts and other currencies.
func TestCustomerCredit(t *testing.T) {
	t.Parallel()
	for customer, want := range map[string]int64{
		`{"id": "cus_1", "invoice_credit_balance": {"usd": 900, "eur": 500}}`:  500,
		`{"id": "cus_1", "invoice_credit_balance": {"usd": 900, "eur": -500}}`: 0,
		`{"id": "cus_1", "invoice_credit_balance": {"usd": 900}}`:              0,
		`{"id": "cus_1", "deleted": true}`:                                     0,
	} {
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, customer) })
		if got, err := provider.client(t).CustomerCredit(t.Context(), "cus_1", "EUR"); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", customer, got, err, want)
		}
	}
}
