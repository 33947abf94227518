package psp_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Invoices that the provider was about to collect are collected before the subscription ends,
// oldest first, and no others. The result of the collection does not delay the end.
func TestEndCollectsDueInvoices(t *testing.T) {
	t.Parallel()
	lists := map[string]string{
		"draft": `{"id": "in_new", "status": "draft", "created": 30, "auto_advance": true},
			{"id": "in_held", "status": "draft", "created": 10, "auto_advance": false}`,
		"open": `{"id": "in_old", "status": "open", "created": 20, "auto_advance": true, "attempted": false},
			{"id": "in_tried", "status": "open", "created": 5, "auto_advance": true, "attempted": true}`,
	}
	for name, tt := range map[string]struct{ status int }{"paid": {200}, "declined": {402}, "done meanwhile": {400}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				switch {
				case r.Method == http.MethodDelete:
					reply(w, 200, strings.Replace(subscriptionJSON, `"status": "active"`, `"status": "canceled"`, 1))
				case r.Method == http.MethodGet:
					reply(w, 200, `{"object": "list", "data": [`+lists[r.Form.Get("status")]+`]}`)
				case tt.status != 200:
					replyError(w, tt.status, "card_error", "card_declined", "The payment failed.")
				default:
					reply(w, 200, openInvoice)
				}
			})
			ended, err := provider.client(t).EndSubscription(t.Context(), "sub_1", "k")
			if err != nil || ended.Status != "canceled" {
				t.Fatalf("%+v, %v", ended, err)
			}
			var got []string
			for _, r := range provider.requests() {
				switch r.method {
				case http.MethodGet:
					if r.form.Get("subscription") != "sub_1" {
						t.Errorf("requested %v", r.form)
					}
				case http.MethodPost:
					if !strings.HasPrefix(r.key, "k-") {
						t.Errorf("%s has the key %q", r.path, r.key)
					}
					got = append(got, strings.TrimPrefix(r.path, "/v1/invoices/")+" "+r.form.Get("auto_advance"))
				default:
					got = append(got, "end")
				}
			}
			if diff := cmp.Diff([]string{"in_old/pay ", "in_new/finalize true", "in_new/pay ", "end"}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	// While the outcome of a payment is unknown, the subscription does not end.
	lost := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodGet {
			reply(w, 200, `{"object": "list", "data": [`+lists[r.Form.Get("status")]+`]}`)
			return
		}
		replyError(w, 500, "api_error", "", "later")
	})
	_, err := lost.client(t).EndSubscription(t.Context(), "sub_1", "k")
	checkPSPError(t, err)
	for _, r := range lost.requests() {
		if r.method == http.MethodDelete {
			t.Error("subscription was ended")
		}
	}
}
