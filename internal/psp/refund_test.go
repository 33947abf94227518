package psp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each payment of the checkout's invoice is refunded separately, with its own key.
func TestRefundCheckout(t *testing.T) {
	t.Parallel()
	const (
		session  = `{"id": "cs_1", "invoice": "in_1", "subscription": "sub_1"}`
		payments = `{"object": "list", "data": [
			{"id": "inpay_1", "payment": {"type": "payment_intent", "payment_intent": "pi_1"}},
			{"id": "inpay_2", "payment": {"type": "charge", "charge": "ch_2"}},
			{"id": "inpay_3", "payment": {"type": "payment_record", "payment_record": "pr_3"}}]}`
	)
	type refund struct{ Key, Intent, Charge string }
	tests := map[string]struct {
		session, payments string
		refuse            string // error code
		want              []refund
		wantErr           bool
	}{
		"payments of the invoice": {session, payments, "", []refund{{"k-pi_1", "pi_1", ""}, {"k-ch_2", "", "ch_2"}}, false},
		"refunded before":         {session, payments, "charge_already_refunded", []refund{{"k-pi_1", "pi_1", ""}, {"k-ch_2", "", "ch_2"}}, false},
		"refused":                 {session, payments, "charge_disputed", []refund{{"k-pi_1", "pi_1", ""}}, true},
		"a single payment":        {`{"id": "cs_1", "payment_intent": "pi_9"}`, "", "", []refund{{"k-pi_9", "pi_9", ""}}, false},
		"nothing was due":         {`{"id": "cs_1"}`, "", "", nil, false},
		"nothing was paid":        {session, `{"object": "list", "data": []}`, "", nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/checkout/sessions/cs_1"):
					reply(w, 200, tt.session)
				case strings.HasSuffix(r.URL.Path, "/invoice_payments") && r.FormValue("invoice") == "in_1" && r.FormValue("status") == "paid":
					reply(w, 200, tt.payments)
				case strings.HasSuffix(r.URL.Path, "/invoices/in_1"):
					reply(w, 200, `{"id": "in_1", "customer": "cus_1", "status": "paid", "starting_balance": 0, "ending_balance": 0}`)
				case strings.HasSuffix(r.URL.Path, "/refunds") && tt.refuse != "":
					replyError(w, 400, "invalid_request_error", tt.refuse, "no")
				case strings.HasSuffix(r.URL.Path, "/refunds"):
					reply(w, 200, `{"id": "re_1"}`)
				default:
					t.Errorf("unexpected %s %s", r.Method, r.URL)
				}
			})
			err := provider.client(t).RefundCheckout(t.Context(), "cs_1", "k")
			if (err != nil) != tt.wantErr {
				t.Errorf("error %v", err)
			}
			var got []refund
			for _, r := range provider.requests() {
				if strings.HasSuffix(r.path, "/refunds") {
					got = append(got, refund{r.key, r.form.Get("payment_intent"), r.form.Get("charge")})
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The amount that an invoice took from the customer's balance becomes credit again, once.
func TestRefundCheckoutGivesBackCredit(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		invoice string // the status and the balances
		list    string // the list of adjustments
		want    string // the amount; "" if there is no adjustment
	}{
		"credit":               {`"status": "paid", "starting_balance": -500, "ending_balance": -200`, `{"data": []}`, "-300"},
		"a debt was collected": {`"status": "paid", "starting_balance": 500, "ending_balance": 0`, `{"data": []}`, "500"},
		"none":                 {`"status": "paid", "starting_balance": -500, "ending_balance": -500`, `{"data": []}`, ""},
		"given back before":    {`"status": "paid", "starting_balance": -500, "ending_balance": 0`, `{"data": [{"id": "cbtxn_1", "metadata": {"gives_back_credit_of": "in_1"}}]}`, ""},
		"of another one":       {`"status": "paid", "starting_balance": -500, "ending_balance": 0`, `{"data": [{"id": "cbtxn_1", "metadata": {"gives_back_credit_of": "in_2"}}]}`, "-500"},
		"void":                 {`"status": "void", "starting_balance": -500, "ending_balance": 0`, `{"data": []}`, ""},
		"deleted customer":     {`"status": "paid", "starting_balance": -500, "ending_balance": 0`, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				switch path := r.URL.Path; {
				case strings.HasSuffix(path, "/checkout/sessions/cs_1"):
					reply(w, 200, `{"id": "cs_1", "invoice": "in_1", "subscription": "sub_1"}`)
				case strings.HasSuffix(path, "/invoice_payments"):
					reply(w, 200, `{"object": "list", "data": []}`)
				case strings.HasSuffix(path, "/invoices/in_1"):
					reply(w, 200, `{"id": "in_1", "customer": "cus_1", "currency": "eur", `+tt.invoice+`}`)
				case strings.HasSuffix(path, "/customers/cus_1/balance_transactions") && tt.list == "":
					replyError(w, 404, "invalid_request_error", "resource_missing", "No such customer")
				case strings.HasSuffix(path, "/customers/cus_1/balance_transactions") && r.Method == http.MethodGet:
					reply(w, 200, tt.list)
				case strings.HasSuffix(path, "/customers/cus_1/balance_transactions"):
					reply(w, 200, `{"id": "cbtxn_2"}`)
				default:
					t.Errorf("unexpected %s %s", r.Method, r.URL)
				}
			})
			if err := provider.client(t).RefundCheckout(t.Context(), "cs_1", "k"); err != nil {
				t.Error(err)
			}
			got := ""
			for _, r := range provider.requests() {
				if r.key != "" {
					got += r.form.Get("amount")
					if r.key != "k-credit" || r.form.Get("currency") != "eur" || r.form.Get("metadata[gives_back_credit_of]") != "in_1" {
						t.Errorf("key %q, form %v", r.key, r.form)
					}
				}
			}
			if got != tt.want {
				t.Errorf("given back %q, want %q", got, tt.want)
			}
		})
	}
}

// RefundedAmount counts refunds that have not failed, credit notes, and open and lost disputes. The
// statuses are listed in https://docs.stripe.com/api/disputes/object#dispute_object-status and
// https://docs.stripe.com/api/refunds/object#refund_object-status.
func TestRefundedAmount(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		charge, refunds, disputes, notes string
		want                             int64
	}{
		"nothing":              {"", "", "", "0", 0},
		"a partial refund":     {"", `{"id": "re_1", "status": "succeeded", "amount": 300}`, "", "0", 300},
		"a pending refund":     {"", `{"id": "re_1", "status": "pending", "amount": 300}`, "", "0", 300},
		"a failed refund":      {"", `{"id": "re_1", "status": "failed", "amount": 300}`, "", "0", 0},
		"a credit note":        {"", "", "", "400", 400},
		"both are one":         {"", `{"id": "re_9", "status": "succeeded", "amount": 300}`, "", "300", 300},
		"a retried refund":     {"", `{"id": "re_2", "status": "succeeded", "amount": 300, "metadata": {"credit_note_id": "x/y"}}`, "", "300", 300},
		"both are two":         {"", `{"id": "re_1", "status": "succeeded", "amount": 300}`, "", "400", 700},
		"an open dispute":      {`, "disputed": true`, "", `{"status": "needs_response", "amount": 1000}`, "0", 1000},
		"a lost dispute":       {`, "disputed": true`, "", `{"status": "lost", "amount": 1000}`, "0", 1000},
		"a won dispute":        {`, "disputed": true`, "", `{"status": "won", "amount": 1000}`, "0", 0},
		"an inquiry":           {`, "disputed": true`, "", `{"status": "warning_needs_response", "amount": 1000}`, "0", 0},
		"a refund and dispute": {`, "disputed": true`, `{"id": "re_1", "status": "succeeded", "amount": 200}`, `{"status": "under_review", "amount": 800}`, "0", 1000},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				switch path := r.URL.Path; {
				case strings.HasSuffix(path, "/invoices/in_1"):
					reply(w, 200, `{"id": "in_1", "customer": "cus_1", "currency": "eur", "status": "paid", "total": 1000, "amount_paid": 1000,
						"post_payment_credit_notes_amount": `+tt.notes+`}`)
				case strings.HasSuffix(path, "/invoice_payments") && r.FormValue("status") == "paid":
					reply(w, 200, `{"data": [{"id": "inpay_1", "payment": {"type": "payment_intent", "payment_intent": "pi_1"}}]}`)
				case strings.HasSuffix(path, "/payment_intents/pi_1"):
					reply(w, 200, `{"id": "pi_1", "status": "succeeded", "latest_charge": {"id": "ch_1"`+tt.charge+`}}`)
				case strings.HasSuffix(path, "/refunds") && r.FormValue("charge") == "ch_1":
					reply(w, 200, `{"object": "list", "data": [`+tt.refunds+`]}`)
				case strings.HasSuffix(path, "/credit_notes") && r.FormValue("invoice") == "in_1":
					reply(w, 200, `{"object": "list", "data": [{"id": "cn_1", "refunds": [{"refund": "re_9", "amount_refunded": 300}]}]}`)
				case strings.HasSuffix(path, "/disputes") && r.FormValue("charge") == "ch_1":
					reply(w, 200, `{"object": "list", "data": [`+tt.disputes+`]}`)
				default:
					t.Errorf("unexpected %s %s", r.Method, r.URL)
				}
			})
			client := provider.client(t)
			in, err := client.GetInvoice(t.Context(), "in_1")
			if err != nil {
				t.Fatal(err)
			}
			if got, err := client.RefundedAmount(t.Context(), in); err != nil || got != tt.want {
				t.Errorf("%d, %v, want %d", got, err, tt.want)
			}
		})
	}
}
