package psp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// object is one of Stripe's published fixtures in testdata.
type object map[string]any

func published(t *testing.T, name string) object {
	t.Helper()
	text, err := os.ReadFile("testdata/stripe/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// with returns the object with some fields changed.
func (o object) with(fields object) object {
	o = maps.Clone(o)
	maps.Copy(o, fields)
	return o
}

func (o object) String() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func listOf(url string, more bool, elements ...any) object {
	return object{"object": "list", "url": url, "has_more": more, "data": elements}
}

// Stripe's own response bodies, replayed for cases that have broken other integrations.

// Only the message, and not a code, shows that the meter has received the identifier before.
func TestRealRepeatedMeterEvent(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 400, `{"error": {"message": "An event already exists with identifier 019c0000-0000-7000-8000-000000000001.",
			"request_log_url": "https://dashboard.stripe.com/test/logs/req_1", "type": "invalid_request_error"}}`)
	})
	err := provider.client(t).ReportUsage(t.Context(), psp.UsageReport{
		EventName: "api-calls", CustomerID: "cus_1", Quantity: money.Quantity(1_000_000), Identifier: "019c0000-0000-7000-8000-000000000001", At: time.Unix(1_700_000_000, 0),
	})
	if err != nil {
		t.Error(err)
	}
}

// The portal of an account with flexible billing sets cancel_at and leaves cancel_at_period_end
// unset.
func TestRealCancellationInThePortal(t *testing.T) {
	t.Parallel()
	sub := published(t, "subscription").with(object{"cancel_at": 1_702_592_100, "cancel_at_period_end": false})
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, sub.String()) })
	s, err := provider.client(t).GetSubscription(t.Context(), "sub_1")
	if err != nil || s.CancelAt == nil || s.CancelAt.Unix() != 1_702_592_100 || s.CancelAtPeriodEnd {
		t.Errorf("%+v, %v", s, err)
	}
}

// An upcoming invoice has no ID, neither in the event nor in the list of events.
func TestRealUpcomingInvoice(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		invoice := published(t, "invoice").with(object{"billing_reason": "upcoming"})
		delete(invoice, "id")
		event := published(t, "event").with(object{"id": "evt_1", "type": "invoice.upcoming", "data": object{"object": invoice}}).String()
		i := newInbox(t, db, nil)
		if w := i.deliver(t.Context(), event, sign(event, oldSecret, 0)); w.Code != http.StatusOK {
			t.Errorf("answered %d %s", w.Code, w.Body)
		}
		if n := i.waiting(t); n != 0 {
			t.Errorf("%d jobs", n)
		}
	})
}

// Events are requested by type, at most 20 types per list.
func TestRealListOfEvents(t *testing.T) {
	t.Parallel()
	event := published(t, "event").with(object{"id": "evt_1", "type": "invoice.paid", "data": object{"object": published(t, "invoice")}})
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if n := strings.Count(r.URL.RawQuery, "types"); n == 0 || n > 20 {
			reply(w, 400, `{"error": {"type": "invalid_request_error", "param": "types", "message": "You may only specify up to 20 event types."}}`)
			return
		}
		reply(w, 200, listOf("/v1/events", false, event).String())
	})
	types := make([]string, 21)
	for i := range types {
		types[i] = fmt.Sprintf("invoice.kind_%d", i)
	}
	n := 0
	for e, err := range provider.client(t).Events(t.Context(), time.Unix(1_700_000_000, 0), time.Time{}, types) {
		if err != nil || e.ID != "evt_1" || !strings.HasPrefix(e.ObjectID, "in_") {
			t.Errorf("%+v, %v", e, err)
		}
		n++
	}
	if n != 2 || len(provider.requests()) != 2 {
		t.Errorf("%d events of %d lists", n, len(provider.requests()))
	}
}

// Stripe replays a stored failure, which only a header marks.
func TestRealRepeatedFailure(t *testing.T) {
	t.Parallel()
	const failure = `{"error": {"message": "An unknown error occurred", "type": "api_error"}}`
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, n int) {
		switch {
		case r.Method == http.MethodGet:
			reply(w, 404, `{"error": {"code": "resource_missing", "doc_url": "https://stripe.com/docs/error-codes/resource-missing",
				"message": "No such product: 'prod_1'", "param": "id", "type": "invalid_request_error"}}`)
		case n == 1:
			reply(w, 500, failure)
		case r.Header.Get("Idempotency-Key") == "stored":
			w.Header().Set("Idempotent-Replayed", "true")
			w.Header().Set("Original-Request", "req_0")
			reply(w, 500, failure)
		default:
			reply(w, 200, `{"id": "prod_1", "object": "product", "active": true}`)
		}
	})
	id, err := provider.client(t).CreateProduct(t.Context(), psp.ProductParams{Key: "stored", ID: "prod_1", Name: "Team"})
	if err != nil || id != "prod_1" {
		t.Errorf("%s, %v", id, err)
	}
}

// Further lines of an invoice have their own URL, and a line may have no price per unit.
func TestRealInvoiceOfManyLines(t *testing.T) {
	t.Parallel()
	line := func(n int) object { return published(t, "line_item").with(object{"id": fmt.Sprintf("il_%d", n)}) }
	var first, rest []any
	for n := range 10 {
		first = append(first, line(n))
	}
	for n := range 13 {
		rest = append(rest, line(n))
	}
	invoice := published(t, "invoice").with(object{"id": "in_1", "status": "open", "lines": listOf("/v1/invoices/in_1/lines", true, first...)})
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch after := r.URL.Query().Get("starting_after"); {
		case r.URL.Path == "/v1/invoices/in_1":
			reply(w, 200, invoice.String())
		case after == "":
			reply(w, 200, listOf(r.URL.Path, true, rest[:11]...).String())
		default:
			reply(w, 200, listOf(r.URL.Path, false, rest[11:]...).String())
		}
	})
	in, err := provider.client(t).GetInvoice(t.Context(), "in_1")
	if err != nil || len(in.Lines) != 13 {
		t.Fatalf("%d lines, %v", len(in.Lines), err)
	}
	for _, l := range in.Lines {
		if l.UnitAmount != "" || l.Amount != 1000 || l.ExactQuantity != "" {
			t.Errorf("%+v", l)
		}
	}
}

// The lines of a preview are truncated, too. The ID of the preview cannot be used to request more,
// so the pending items are listed, and the rest is the new period.
func TestRealPreviewOfManyLines(t *testing.T) {
	t.Parallel()
	const subscription = "subscription"
	waiting := func(n int) object {
		return published(t, "invoiceitem").with(object{"id": fmt.Sprintf("ii_%d", n), "amount": 10})
	}
	var pending, shown []any
	for n := range 12 {
		pending = append(pending, waiting(n))
	}
	previewed := func(id, item string, amount int) object {
		return published(t, "line_item").with(object{"id": id, "amount": amount, "parent": object{
			"type": "subscription_item_details", "subscription_item_details": object{
				"invoice_item": item, "proration": true, "subscription": subscription, "subscription_item": "si_1",
			},
		}})
	}
	shown = append(shown, previewed("il_tmp_credit", "ii_new", -300))
	for n := range 9 {
		shown = append(shown, previewed(fmt.Sprintf("il_tmp_%d", n), fmt.Sprintf("ii_%d", 11-n), 10))
	}
	preview := published(t, "invoice").with(object{
		"id": "upcoming_in_1", "subtotal": 12*10 - 300 + 9000, "lines": listOf("/v1/invoices/upcoming_in_1/lines", true, shown...),
	})
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch r.URL.Path {
		case "/v1/invoices/create_preview":
			reply(w, 200, preview.String())
		case "/v1/invoiceitems":
			reply(w, 200, listOf("/v1/invoiceitems", false, append(pending, waiting(99).with(object{"parent": nil}))...).String())
		default:
			reply(w, 400, `{"error": {"message": "Invoice upcoming_in_1 does not have a line item il_tmp_8", "type": "invalid_request_error"}}`)
		}
	})
	in, err := provider.client(t).PreviewChange(t.Context(), psp.Change{
		SubscriptionID: subscription, ItemID: "si_1", PriceID: "price_yearly", Quantity: 1, ProrationDate: time.Unix(1_700_000_000, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, l := range in.Lines {
		sum += l.Amount
	}
	if last := in.Lines[len(in.Lines)-1]; len(in.Lines) != 14 || sum != in.Subtotal || last.Amount != 9000 || last.PriceID != "price_yearly" {
		t.Errorf("%d lines of %d, the subtotal is %d, the last is %+v", len(in.Lines), sum, in.Subtotal, last)
	}
}

// A payment that requires the payer's action is declined with its own code.
func TestRealCardThatNeedsAuthentication(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 402, `{"error": {"code": "subscription_payment_intent_requires_action", "type": "card_error",
			"doc_url": "https://stripe.com/docs/error-codes/subscription-payment-intent-requires-action",
			"message": "Payment for this subscription requires additional user action before it can be completed successfully."}}`)
	})
	_, err := provider.client(t).ChangeSubscription(t.Context(), psp.Change{SubscriptionID: "sub_1", ItemID: "si_1", PriceID: "price_1", Quantity: 1}, nil, "stored")
	if !errors.Is(err, psp.ErrDeclined) {
		t.Errorf("%v", err)
	}
}
