package psp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp"
)

func second(n int64) time.Time { return time.Unix(n, 0).UTC() }

func TestSubscriptionIsReadFromItsItem(t *testing.T) {
	t.Parallel()
	end := second(1702592100)
	base := psp.Subscription{
		ID: "sub_1", CustomerID: "cus_1", Status: "active", Currency: "EUR", ItemID: "si_1", PriceID: "price_1",
		UnitAmount: 1200, Quantity: 3, IntervalUnit: "month", IntervalCount: 1,
		PeriodStart: second(1700000100), PeriodEnd: end, BillingAnchor: second(1700000100),
		Metadata: map[string]string{"tenant_id": "t1"}, LatestInvoiceID: "in_1", CreatedAt: second(1700000000),
	}
	tests := map[string]struct {
		from, to string
		want     func(*psp.Subscription)
	}{
		"as it is":          {"", "", func(*psp.Subscription) {}},
		"with a trial":      {`"trial_end": null`, `"trial_end": 1702592100`, func(s *psp.Subscription) { s.TrialEnd = &end }},
		"ends with period":  {`"cancel_at_period_end": false`, `"cancel_at_period_end": true`, func(s *psp.Subscription) { s.CancelAtPeriodEnd, s.CancelAt = true, &s.PeriodEnd }},
		"ends at that time": {`"cancel_at": null`, `"cancel_at": 1702592100`, func(s *psp.Subscription) { d := second(1702592100); s.CancelAt = &d }},
		"ends another time": {`"cancel_at": null`, `"cancel_at": 1702592101`, func(s *psp.Subscription) { d := second(1702592101); s.CancelAt = &d }},
		"canceled":          {`"canceled_at": null`, `"canceled_at": 1702592100`, func(s *psp.Subscription) { s.CanceledAt = &end }},
		"expanded customer": {`"cus_1"`, `{"id": "cus_1", "object": "customer"}`, func(*psp.Subscription) {}},
		"no invoice yet":    {`"in_1"`, `null`, func(s *psp.Subscription) { s.LatestInvoiceID = "" }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				reply(w, 200, strings.Replace(subscriptionJSON, tt.from, tt.to, 1))
			})
			got, err := provider.client(t).GetSubscription(t.Context(), "sub_1")
			if err != nil {
				t.Fatal(err)
			}
			want := base
			tt.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSubscriptionWithoutItemsIsUnreadable(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, `{"id": "sub_1"}`) })
	_, err := provider.client(t).GetSubscription(t.Context(), "sub_1")
	checkPSPError(t, err)
}

func TestCancelingTwiceIsCanceled(t *testing.T) {
	t.Parallel()
	for status, wantErr := range map[string]error{"canceled": nil, "active": psp.ErrNotFound} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if r.Method == http.MethodDelete {
					replyError(w, 404, "invalid_request_error", "resource_missing", "No such subscription")
					return
				}
				reply(w, 200, strings.Replace(subscriptionJSON, `"active"`, fmt.Sprintf("%q", status), 1))
			})
			_, err := provider.client(t).CancelSubscription(t.Context(), "sub_1", "k")
			if !errors.Is(err, wantErr) {
				t.Errorf("got %v, want %v", err, wantErr)
			}
			if got := provider.requests()[0]; got.key != "k" {
				t.Errorf("idempotency key %q", got.key)
			}
		})
	}
}

// If it is unknown whether the subscription has ended, the caller retries.
func TestCancelingThatCannotBeReadBackFailsForNow(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodDelete {
			replyError(w, 404, "invalid_request_error", "resource_missing", "No such subscription")
			return
		}
		replyError(w, 500, "api_error", "", "out of order")
	})
	_, err := provider.client(t).CancelSubscription(t.Context(), "sub_1", "k")
	checkPSPError(t, err)
	if errors.Is(err, psp.ErrNotFound) {
		t.Errorf("reported as missing: %v", err)
	}
}

func TestPriceWithoutOneWholeAmountIsNotFree(t *testing.T) {
	t.Parallel()
	amount := func(n int64) *int64 { return &n }
	tests := map[string]struct {
		unitAmount string
		want       *int64
	}{
		"whole":     {"1200", amount(1200)},
		"free":      {"0", amount(0)},
		"fractions": {"null", nil},
		"packages":  {`500, "transform_quantity": {"divide_by": 10, "round": "up"}`, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				reply(w, 200, `{"id": "price_1", "product": "prod_1", "currency": "usd", "active": true, "unit_amount": `+
					tt.unitAmount+`, "recurring": {"interval": "year", "interval_count": 1, "usage_type": "metered"}}`)
			})
			got, err := provider.client(t).GetPrice(t.Context(), "price_1")
			if err != nil {
				t.Fatal(err)
			}
			want := psp.Price{
				ID: "price_1", ProductID: "prod_1", Currency: "USD", UnitAmount: tt.want,
				IntervalUnit: "year", IntervalCount: 1, Metered: true, Active: true,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFindPrice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		list string
		want error
	}{
		"there":    {`{"data": [{"id": "price_1"}]}`, nil},
		"unknown":  {`{"data": []}`, psp.ErrNotFound},
		"no price": {`{"data": [{"id": "price_2"}]}`, psp.ErrNotFound}, // deleted between the two requests
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				switch r.URL.Path {
				case "/v1/prices":
					reply(w, 200, tt.list)
				case "/v1/prices/price_1":
					reply(w, 200, `{"id": "price_1", "unit_amount": 500, "active": true}`)
				default:
					replyError(w, 404, "invalid_request_error", "resource_missing", "No such price")
				}
			})
			got, err := provider.client(t).FindPrice(t.Context(), "key-1")
			if !errors.Is(err, tt.want) || err == nil && (got.ID != "price_1" || *got.UnitAmount != 500) {
				t.Errorf("got %+v, %v", got, err)
			}
			if asked := provider.requests()[0].form.Get("lookup_keys[0]"); asked != "key-1" {
				t.Errorf("requested %q", asked)
			}
		})
	}
}

func TestCustomerKeyFollowsTheDetails(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, `{"id": "cus_1"}`) })
	client := provider.client(t)
	first := psp.CustomerParams{Key: "tenant-1", Name: "Acme", City: "Paris"}
	moved := first
	moved.City = "Rome"
	for _, p := range []psp.CustomerParams{first, first, moved} {
		if _, err := client.CreateCustomer(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	keys := provider.requests()
	if keys[0].key != keys[1].key || keys[0].key == keys[2].key || !strings.HasPrefix(keys[0].key, "tenant-1-") {
		t.Errorf("keys %q, %q, %q", keys[0].key, keys[1].key, keys[2].key)
	}
	if _, sent := keys[0].form["email"]; sent {
		t.Error("an empty email was sent, which would erase it")
	}
}

func TestCheckoutRequest(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		reply(w, 200, `{"id": "cs_1", "url": "https://pay.test/cs_1", "status": "open", "payment_status": "unpaid", "expires_at": 1700000000}`)
	})
	client := provider.client(t)
	got, err := client.CreateCheckout(t.Context(), psp.CheckoutParams{
		Key: "k", CustomerID: "cus_1", PriceID: "price_1", Quantity: 5, MeteredPriceIDs: []string{"price_2"}, TrialDays: 7, Free: true,
		SuccessURL: "https://a.test/ok", CancelURL: "https://a.test/no", Metadata: map[string]string{"tenant_id": "t1"}, Locale: "it",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := psp.Checkout{
		ID: "cs_1", URL: "https://pay.test/cs_1", Status: psp.CheckoutOpen, PaymentStatus: psp.PaymentUnpaid,
		ExpiresAt: second(1700000000),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	form := map[string]string{}
	for name, values := range provider.requests()[0].form {
		form[name] = strings.Join(values, "|")
	}
	wantForm := map[string]string{
		"mode": "subscription", "customer": "cus_1", "line_items[0][price]": "price_1", "line_items[0][quantity]": "5",
		"line_items[1][price]":                 "price_2",
		"subscription_data[trial_period_days]": "7", "payment_method_collection": "if_required",
		"success_url": "https://a.test/ok", "cancel_url": "https://a.test/no", "locale": "it",
		"metadata[tenant_id]": "t1", "subscription_data[metadata][tenant_id]": "t1",
	}
	if diff := cmp.Diff(wantForm, form); diff != "" {
		t.Error(diff)
	}
}

func TestEventsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	event := func(id, object string) string {
		return fmt.Sprintf(`{"id": %q, "object": "event", "type": "invoice.paid", "data": {"object": %s}}`, id, object)
	}
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch r.FormValue("starting_after") {
		case "":
			reply(w, 200, `{"object": "list", "has_more": true, "data": [`+event("evt_3", `{"id": "in_3"}`)+","+event("evt_2", `{}`)+`]}`)
		case "evt_2":
			reply(w, 200, `{"object": "list", "has_more": false, "data": [`+event("evt_1", `{"id": "in_1"}`)+`]}`)
		}
	})
	var got []psp.Event
	for e, err := range provider.client(t).Events(t.Context(), second(1700000000), time.Time{}, []string{"invoice.paid"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	want := []psp.Event{
		{ID: "evt_3", Type: "invoice.paid", ObjectID: "in_3"},
		{ID: "evt_2", Type: "invoice.paid"},
		{ID: "evt_1", Type: "invoice.paid", ObjectID: "in_1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := provider.requests()[0].form.Get("created[gte]"); got != "1700000000" {
		t.Errorf("since %q", got)
	}
}
