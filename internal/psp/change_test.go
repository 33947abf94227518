package psp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/psp"
)

func flat(form url.Values) map[string]string {
	out := map[string]string{}
	for name, values := range form {
		out[name] = strings.Join(values, "|")
	}
	return out
}

// sent is a write with the request that it sends.
type sent struct {
	write func(ctx context.Context, c *psp.Client) error
	path  string
	key   string
	form  map[string]string
}

// wantSent checks that each write sends the expected parameters.
func wantSent(t *testing.T, tests map[string]sent) {
	t.Helper()
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if strings.HasPrefix(r.URL.Path, "/v1/subscriptions") {
					reply(w, 200, subscriptionJSON)
					return
				}
				reply(w, 200, `{"id": "x_1", "lines": {"object": "list", "data": []}}`)
			})
			if err := tt.write(t.Context(), provider.client(t)); err != nil {
				t.Fatal(err)
			}
			got := provider.requests()[0]
			if got.method != http.MethodPost || got.path != tt.path {
				t.Errorf("%s %s, want POST %s", got.method, got.path, tt.path)
			}
			if tt.key != "" && !strings.HasPrefix(got.key, tt.key) {
				t.Errorf("idempotency key %q, want %q", got.key, tt.key)
			}
			if diff := cmp.Diff(tt.form, flat(got.form)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWritesToASubscriptionSend(t *testing.T) {
	t.Parallel()
	change := psp.Change{
		SubscriptionID: "sub_1", ItemID: "si_1", PriceID: "price_2", Quantity: 4, ProrationDate: second(1700000000),
	}
	wantSent(t, map[string]sent{
		"PreviewChange": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.PreviewChange(ctx, change)
			return err
		}, "/v1/invoices/create_preview", "", map[string]string{
			"subscription": "sub_1", "subscription_details[items][0][id]": "si_1",
			"subscription_details[items][0][price]": "price_2", "subscription_details[items][0][quantity]": "4",
			"subscription_details[proration_behavior]": "always_invoice", "subscription_details[proration_date]": "1700000000",
		}},
		"ChangeSubscription": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.ChangeSubscription(ctx, change, map[string]string{"plan_id": "p2"}, "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{
			"items[0][id]": "si_1", "items[0][price]": "price_2", "items[0][quantity]": "4",
			"proration_behavior": "always_invoice", "proration_date": "1700000000",
			"payment_behavior": "error_if_incomplete", "metadata[plan_id]": "p2",
		}},
		"AwaitChange": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.AwaitChange(ctx, change, "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{
			"items[0][id]": "si_1", "items[0][price]": "price_2", "items[0][quantity]": "4",
			"proration_behavior": "always_invoice", "proration_date": "1700000000", "payment_behavior": "pending_if_incomplete",
		}},
		"ChangeSubscription, credit charged again": {func(ctx context.Context, c *psp.Client) error {
			ch := change
			ch.UnpaidCredit, ch.Currency, ch.ProductID, ch.PeriodEnd = 500, "EUR", "prod_1", second(1700500000)
			_, err := c.ChangeSubscription(ctx, ch, nil, "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{
			"items[0][id]": "si_1", "items[0][price]": "price_2", "items[0][quantity]": "4",
			"proration_behavior": "always_invoice", "proration_date": "1700000000", "payment_behavior": "error_if_incomplete",
			"add_invoice_items[0][quantity]": "1", "add_invoice_items[0][discountable]": "false",
			"add_invoice_items[0][price_data][currency]": "eur", "add_invoice_items[0][price_data][product]": "prod_1",
			"add_invoice_items[0][price_data][unit_amount]": "500", "add_invoice_items[0][metadata][unpaid_credit_of]": "si_1",
			"add_invoice_items[0][period][start][type]": "timestamp", "add_invoice_items[0][period][start][timestamp]": "1700000000",
			"add_invoice_items[0][period][end][type]": "timestamp", "add_invoice_items[0][period][end][timestamp]": "1700500000",
		}},
		"SetQuantity": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.SetQuantity(ctx, psp.Change{SubscriptionID: "sub_1", ItemID: "si_1", Quantity: 7}, false, "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{
			"items[0][id]": "si_1", "items[0][quantity]": "7", "proration_behavior": "create_prorations",
		}},
		"SetQuantity, invoiced monthly": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.SetQuantity(ctx, psp.Change{SubscriptionID: "sub_1", ItemID: "si_1", Quantity: 7}, true, "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{
			"items[0][id]": "si_1", "items[0][quantity]": "7", "proration_behavior": "create_prorations",
			"pending_invoice_item_interval[interval]": "month",
		}},
		"ChangeMetered": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.ChangeMetered(ctx, "sub_1", []psp.MeteredChange{{PriceID: "price_2"}, {ItemID: "si_2", PriceID: "price_3"}, {ItemID: "si_3"}}, "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{
			"items[0][price]": "price_2", "items[1][id]": "si_2", "items[1][price]": "price_3",
			"items[2][id]": "si_3", "items[2][deleted]": "true", "proration_behavior": "none",
		}},
		"SetCancelAtPeriodEnd, taken back": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.SetCancelAtPeriodEnd(ctx, "sub_1", false, "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{"cancel_at_period_end": "false"}},
		"ClearCancelAt": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.ClearCancelAt(ctx, "sub_1", "k")
			return err
		}, "/v1/subscriptions/sub_1", "k", map[string]string{"cancel_at": ""}},
	})
}

func TestWritesToACustomerSend(t *testing.T) {
	t.Parallel()
	wantSent(t, map[string]sent{
		"UpdateCustomer, whole": {func(ctx context.Context, c *psp.Client) error {
			return c.UpdateCustomer(ctx, "cus_1", psp.CustomerParams{
				Key: "k", Name: "Acme", Email: "a@acme.test", Address: "1 Road", City: "Paris", PostalCode: "75001",
				Country: "FR", VATNumber: "FR1", Locale: "fr",
			})
		}, "/v1/customers/cus_1", "k-", map[string]string{
			"name": "Acme", "email": "a@acme.test", "address[line1]": "1 Road", "address[city]": "Paris",
			"address[postal_code]": "75001", "address[country]": "FR", "preferred_locales[0]": "fr",
			"invoice_settings[custom_fields][0][name]": "VAT number", "invoice_settings[custom_fields][0][value]": "FR1",
		}},
		"UpdateCustomer, erasing": {func(ctx context.Context, c *psp.Client) error {
			return c.UpdateCustomer(ctx, "cus_1", psp.CustomerParams{Key: "k"})
		}, "/v1/customers/cus_1", "k-", map[string]string{
			"name": "", "email": "", "address[line1]": "", "address[city]": "", "address[postal_code]": "", "address[country]": "",
			"invoice_settings[custom_fields]": "",
		}},
		"CreatePortal": {func(ctx context.Context, c *psp.Client) error {
			_, err := c.CreatePortal(ctx, psp.PortalParams{Key: "k", CustomerID: "cus_1", ReturnURL: "https://app.test/billing"})
			return err
		}, "/v1/billing_portal/sessions", "k", map[string]string{"customer": "cus_1", "return_url": "https://app.test/billing"}},
		"ReportUsage": {func(ctx context.Context, c *psp.Client) error {
			return c.ReportUsage(ctx, psp.UsageReport{
				EventName: "api-calls", CustomerID: "cus_1", Quantity: 2_500_000, Identifier: "e1", At: second(1700000000),
			})
		}, "/v1/billing/meter_events", "e1-", map[string]string{
			"event_name": "api-calls", "identifier": "e1", "timestamp": "1700000000",
			"payload[stripe_customer_id]": "cus_1", "payload[value]": "2.5",
		}},
	})
}

func TestUsageReportedBeforeIsFine(t *testing.T) {
	t.Parallel()
	for answer, told := range map[string]bool{
		// Without a code, as the API responds.
		`{"error": {"message": "An event already exists with identifier e1.", "type": "invalid_request_error"}}`: true,
		// With a code, as asynchronous meter errors have it.
		`{"error": {"message": "Known.", "type": "invalid_request_error", "code": "duplicate_meter_event"}}`: true,
		// Another object exists.
		`{"error": {"message": "A meter already exists.", "type": "invalid_request_error"}}`:                 false,
		`{"error": {"message": "An event already exists with identifier e1.", "type": "idempotency_error"}}`: false,
	} {
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Stripe-Should-Retry", "false")
			reply(w, http.StatusBadRequest, answer)
		})
		err := provider.client(t).ReportUsage(t.Context(), psp.UsageReport{EventName: "a", CustomerID: "cus_1", Identifier: "e1"})
		if (err == nil) != told || err != nil && !errors.Is(err, psp.ErrRefused) {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestWritesWithoutAnIDOrKeyAreRefusedHere(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, subscriptionJSON) })
	c := provider.client(t)
	for name, write := range map[string]func() error{
		"customer without an id": func() error { return c.UpdateCustomer(t.Context(), "", psp.CustomerParams{Key: "k"}) },
		"customer without a key": func() error { return c.UpdateCustomer(t.Context(), "cus_1", psp.CustomerParams{}) },
		"quantity without an id": func() error {
			_, err := c.SetQuantity(t.Context(), psp.Change{SubscriptionID: "", ItemID: "si_1", Quantity: 1}, false, "k")
			return err
		},
		"quantity without a key": func() error {
			_, err := c.SetQuantity(t.Context(), psp.Change{SubscriptionID: "sub_1", ItemID: "si_1", Quantity: 1}, false, "")
			return err
		},
		"portal without a key": func() error { _, err := c.CreatePortal(t.Context(), psp.PortalParams{}); return err },
		"usage without a key":  func() error { return c.ReportUsage(t.Context(), psp.UsageReport{}) },
	} {
		if err := write(); !errors.Is(err, psp.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(provider.requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// A subscription is read from the item that bills its plan, regardless of its other items.
func TestPlanItemAmongMeteredOnes(t *testing.T) {
	t.Parallel()
	item := func(id, usage string) string {
		return `{"id": "` + id + `", "quantity": 3, "current_period_end": 1702592100,
			"price": {"id": "price_` + id + `", "recurring": {"interval": "month", "interval_count": 1, "usage_type": "` + usage + `"}}}`
	}
	licensed, first, second := item("plan", "licensed"), item("m1", "metered"), item("m2", "metered")
	tests := map[string]struct {
		shown        []string
		more         []string
		wantItem     string
		wantQuantity int64
		wantMetered  string
	}{
		"first":          {[]string{licensed, first}, nil, "plan", 3, "[{m1 price_m1}]"},
		"last":           {[]string{first, second, licensed}, nil, "plan", 3, "[{m1 price_m1} {m2 price_m2}]"},
		"on a later one": {[]string{first}, []string{first, second, licensed}, "plan", 3, "[{m1 price_m1} {m2 price_m2}]"},
		"behind a plan":  {[]string{licensed}, []string{licensed, first, second}, "plan", 3, "[{m1 price_m1} {m2 price_m2}]"},
		"none but usage": {[]string{first, second}, nil, "m1", 1, "[{m1 price_m1} {m2 price_m2}]"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				shown, more := tt.shown, `"has_more": true`
				if r.URL.Path == "/v1/subscription_items" {
					shown, more = tt.more, `"has_more": false`
				}
				if tt.more == nil {
					more = `"has_more": false`
				}
				list := `{"object": "list", ` + more + `, "data": [` + strings.Join(shown, ",") + `]}`
				if r.URL.Path == "/v1/subscription_items" {
					reply(w, 200, list)
					return
				}
				reply(w, 200, `{"id": "sub_1", "status": "active", "items": `+list+`}`)
			})
			got, err := provider.client(t).GetSubscription(t.Context(), "sub_1")
			if err != nil {
				t.Fatal(err)
			}
			if got.ItemID != tt.wantItem || got.PriceID != "price_"+tt.wantItem || got.Quantity != tt.wantQuantity {
				t.Errorf("item %s, price %s, quantity %d", got.ItemID, got.PriceID, got.Quantity)
			}
			var metered []string
			for _, item := range got.Metered {
				metered = append(metered, "{"+item.ID+" "+item.PriceID+"}")
			}
			if metered := fmt.Sprint(metered); metered != tt.wantMetered {
				t.Errorf("metered are %s", metered)
			}
		})
	}
}

func TestSubscriptionsAreListedPageByPage(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.FormValue("starting_after") == "" {
			reply(w, 200, `{"object": "list", "has_more": true, "data": [`+subscriptionJSON+`]}`)
			return
		}
		reply(w, 200, `{"object": "list", "has_more": false, "data": [`+strings.Replace(subscriptionJSON, "sub_1", "sub_2", 1)+`]}`)
	})
	client := provider.client(t)
	var ids []string
	for s, err := range client.Subscriptions(t.Context(), "cus_1", "") {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, s.ID)
	}
	if diff := cmp.Diff([]string{"sub_1", "sub_2"}, ids); diff != "" {
		t.Error(diff)
	}
	form := provider.requests()[1].form
	if form.Get("customer") != "cus_1" || form.Get("status") != "all" || form.Get("starting_after") != "sub_1" {
		t.Errorf("requested %v", form)
	}
}
