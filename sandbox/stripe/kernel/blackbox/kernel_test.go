package blackbox_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/testkit/stripetest"
)

const day = stripetest.Day

// TestIdempotencyKeys sends several requests with the same key, in order.
func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	first := w.API("POST", "/v1/customers", "name=Ada", "Idempotency-Key", "k")
	for _, c := range []struct {
		name         string
		later        time.Duration
		method, path string
		body, key    string
		status       int
		replayed     bool
		wrong        string // the type of the error
	}{
		{"same key, same body", 0, "POST", "/v1/customers", "name=Ada", "k", 200, true, ""},
		{"same key, other body", 0, "POST", "/v1/customers", "name=Bob", "k", 400, false, "idempotency_error"},
		{"same key, fewer parameters", 0, "POST", "/v1/customers", "", "k", 400, false, "idempotency_error"},
		{"same key, other endpoint", 0, "POST", "/v1/products", "name=Ada", "k", 400, false, "idempotency_error"},
		{"keys are case-sensitive", 0, "POST", "/v1/customers", "name=Ada", "K", 200, false, ""},
		{"a GET ignores the key", 0, "GET", "/v1/customers", "", "k", 200, false, ""},
		{"the longest key", 0, "POST", "/v1/customers", "name=Ada", strings.Repeat("k", 255), 200, false, ""},
		{"a key that is too long", 0, "POST", "/v1/customers", "name=Ada", strings.Repeat("k", 256), 400, false, "invalid_request_error"},
		{"almost a day later", day - time.Second, "POST", "/v1/customers", "name=Ada", "k", 200, true, ""},
		{"a day later the key is free", 2 * time.Second, "POST", "/v1/customers", "name=Ada", "k", 200, false, ""},
		{"and is taken again", 0, "POST", "/v1/customers", "name=Ada", "k", 200, true, ""},
	} {
		w.Real.Set(w.Real.Now().Add(c.later))
		got := w.API(c.method, c.path, c.body, "Idempotency-Key", c.key)
		replayed := got.Header().Get("Idempotent-Replayed") == "true"
		if got.Code != c.status || replayed != c.replayed || !strings.Contains(got.Body.String(), c.wrong) {
			t.Errorf("%s: answered %d, replayed %v: %s", c.name, got.Code, replayed, got.Body)
		}
		if got.Header().Get("Idempotency-Key") != c.key || got.Header().Get("Request-Id") == first.Header().Get("Request-Id") {
			t.Errorf("%s: headers %v", c.name, got.Header())
		}
		if c.name == "same key, same body" && got.Body.String() != first.Body.String() {
			t.Errorf("replayed %s, first %s", got.Body, first.Body)
		}
	}
	// The sandbox's clock does not affect idempotency keys.
	w.Advance(48 * time.Hour)
	if got := w.API("POST", "/v1/customers", "name=Ada", "Idempotency-Key", "k"); got.Header().Get("Idempotent-Replayed") == "" {
		t.Error("moving the sandbox's clock frees a key")
	}
}

// TestADeclinedPaymentIsReplayed repeats a request that failed but changed the state.
func TestADeclinedPaymentIsReplayed(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	sub := w.Subscribe(w.Price(1000, "eur", "month"), "pm_card_chargeCustomerFail")
	pay := "/v1/invoices/" + sub.At("latest_invoice") + "/pay"
	first := w.API("POST", pay, "", "Idempotency-Key", "k")
	var again string
	events := w.Events(func() { again = w.API("POST", pay, "", "Idempotency-Key", "k").Body.String() })
	if first.Code != http.StatusPaymentRequired || again != first.Body.String() || len(events) > 0 {
		t.Errorf("answered %d %s, then %s; again happened %v", first.Code, first.Body, again, events)
	}
}

func TestRequestsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	many := make([]string, 51)
	for i := range many {
		many[i] = "metadata[k" + strings.Repeat("x", i/10) + string(rune('a'+i%10)) + "]=v"
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "broken query", Method: "GET", Path: "/v1/customers?a=%zz"},
		stripetest.Refusal{Name: "body too large", Method: "POST", Path: "/v1/customers", Body: "name=" + strings.Repeat("x", 1<<20)},
		stripetest.Refusal{Name: "object, then value", Method: "POST", Path: "/v1/customers", Body: "address[city]=x&address[city][a]=y"},
		stripetest.Refusal{Name: "value at two levels", Method: "POST", Path: "/v1/customers", Body: "metadata[a][b]=x&metadata[a]=y"},
		stripetest.Refusal{Name: "metadata value too long", Method: "POST", Path: "/v1/customers", Body: "metadata[a]=" + strings.Repeat("v", 501), Param: "metadata[a]"},
		stripetest.Refusal{Name: "too many keys of metadata", Method: "POST", Path: "/v1/customers", Body: strings.Join(many, "&"), Param: "metadata"},
		stripetest.Refusal{Name: "two unknown parameters", Method: "POST", Path: "/v1/customers", Body: "colour=red&size=1", Code: "parameter_unknown", Param: "colour"},
		stripetest.Refusal{Name: "array with a name", Method: "GET", Path: "/v1/events?types[a]=b", Param: "types[a]"},
		stripetest.Refusal{Name: "empty element", Method: "GET", Path: "/v1/events?types[]=", Code: "parameter_invalid_empty", Param: "types[0]"},
		stripetest.Refusal{Name: "unknown event", Method: "GET", Path: "/v1/events/evt_x", Status: 404, Code: "resource_missing", Param: "id"},
		stripetest.Refusal{Name: "moment is not a number", Method: "GET", Path: "/v1/events?created[gt]=today", Code: "parameter_invalid_integer", Param: "created[gt]"},
		stripetest.Refusal{Name: "account with a parameter", Method: "GET", Path: "/v1/account?a=b", Code: "parameter_unknown", Param: "a"},
	)
}

func TestEventsAreFiltered(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	customer := w.Customer()
	w.Advance(time.Hour)
	w.Post("/v1/customers/"+customer, "name=Grace&metadata[a]=b")
	w.Post("/v1/customers/"+customer, "name=Grace") // no change, no event
	w.Post("/v1/products", "name=Starter")
	for _, c := range []struct{ query, want string }{
		{"", "product.created customer.updated customer.created"},
		{"?type=customer.updated", "customer.updated"},
		{"?types[]=customer.created&types[]=product.created", "product.created customer.created"},
		{"?types[]=invoice.paid", ""},
		{"?created[gt]=1772359200", "product.created customer.updated"},
		{"?limit=1", "product.created"},
	} {
		var got []string
		for _, e := range w.Get("/v1/events" + c.query).List("data") {
			got = append(got, e.At("type"))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.query, diff)
		}
	}
	changed := w.Get("/v1/events?type=customer.updated").List("data")[0]
	changed.CheckValues(t, "the event of a change",
		"data.object.name", "Grace", "data.previous_attributes.name", "Ada Lovelace", "data.previous_attributes.metadata", `{"a":null}`,
		"data.previous_attributes.email", "null", "pending_webhooks", "0", "api_version", "2026-05-27.dahlia", "created", "1772362800")
	w.Get("/v1/events/"+changed.At("id")).CheckValues(t, "retrieved", "type", "customer.updated", "object", "event")
}

// TestNestedListsArePaginated paginates the summaries of a meter, which are computed and not stored.
func TestNestedListsArePaginated(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	meter := w.Post("/v1/billing/meters", "display_name=Calls&event_name=calls&default_aggregation[formula]=sum").At("id")
	list := "/v1/billing/meters/" + meter + "/event_summaries?customer=" + w.Customer() + "&start_time=1772323200&end_time=1772344800&value_grouping_window=hour"
	ids := w.IDs(list) // six hours, newest first
	for _, c := range []struct {
		name, query string
		want        []string
		more        string
	}{
		{"all", "", ids, "false"},
		{"first page", "&limit=4", ids[:4], "true"},
		{"exactly all", "&limit=6", ids, "false"},
		{"next page", "&limit=4&starting_after=" + ids[3], ids[4:], "false"},
		{"in the middle", "&limit=2&starting_after=" + ids[0], ids[1:3], "true"},
		{"past the end", "&starting_after=" + ids[5], nil, "false"},
		{"before the last", "&limit=2&ending_before=" + ids[5], ids[3:5], "true"},
		{"before the third", "&limit=2&ending_before=" + ids[2], ids[:2], "false"},
		{"before the first", "&ending_before=" + ids[0], nil, "false"},
	} {
		page := w.Get(list + c.query)
		var got []string
		for _, o := range page.List("data") {
			got = append(got, o.At("id"))
		}
		if !slices.Equal(got, c.want) || page.At("has_more") != c.more || page.At("object") != "list" || page.At("data") == "null" {
			t.Errorf("%s: got %v, more %s, want %v, more %s", c.name, got, page.At("has_more"), c.want, c.more)
		}
	}
	w.CheckRefused(
		stripetest.Refusal{Name: "unknown starting_after", Method: "GET", Path: list + "&starting_after=x", Code: "resource_missing", Param: "starting_after"},
		stripetest.Refusal{Name: "unknown ending_before", Method: "GET", Path: list + "&ending_before=x", Code: "resource_missing", Param: "ending_before"},
		stripetest.Refusal{Name: "both", Method: "GET", Path: list + "&ending_before=a&starting_after=b", Param: "ending_before"},
		stripetest.Refusal{Name: "limit", Method: "GET", Path: list + "&limit=0", Code: "parameter_invalid_integer", Param: "limit"},
	)
}

func TestExpandedObjects(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	price := w.Price(1000, "eur", "month")
	product := w.Get("/v1/prices/" + price).At("product")
	w.Post("/v1/products/"+product, "default_price="+price)
	sub := w.Subscribe(price, "pm_card_visa")
	for _, c := range []struct{ path, at, want string }{
		{"/v1/products/" + product + "?expand[]=default_price", "default_price.unit_amount", "1000"},
		{"/v1/prices/" + price + "?expand[]=product", "product.name", "Starter"},
		{"/v1/subscriptions/" + sub.At("id") + "?expand[]=latest_invoice.payments", "latest_invoice.payments.data.0.status", "paid"},
		{"/v1/subscriptions/" + sub.At("id") + "?expand[]=customer&expand[]=latest_invoice", "customer.name", "Ada Lovelace"},
		{"/v1/subscriptions/" + sub.At("id") + "?expand[]=default_payment_method", "default_payment_method", "null"},
		{"/v1/subscriptions?expand[]=data.latest_invoice", "data.0.latest_invoice.amount_paid", "1000"},
		{"/v1/prices?product=prod_x&expand[]=data.product", "data", "[]"},
	} {
		w.Get(c.path).CheckValues(t, c.path, c.at, c.want)
	}
	invoice := "/v1/invoices/" + sub.At("latest_invoice")
	for _, path := range []string{"status", "lines.data.invoice", "lines.data.pricing.price_details", "amount_due.x", "payments.colour", "id.x"} {
		w.CheckRefused(stripetest.Refusal{Name: path, Method: "GET", Path: invoice + "?expand[]=" + path, Param: "expand"})
	}
	w.CheckRefused(stripetest.Refusal{Name: "too deep", Method: "GET", Path: invoice + "?expand[]=a.b.c.d.e", Param: "expand"})
}

// TestAFailureIsAnAPIError closes the database. Clients receive an api_error without the cause.
func TestAFailureIsAnAPIError(t *testing.T) {
	t.Parallel()
	w := stripetest.New(t)
	session := w.Checkout(w.Price(1000, "eur", "month")).At("id")
	portal := w.Post("/v1/billing_portal/sessions", "customer="+w.Customer()).At("id")
	if err := w.DB.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path string }{{"GET", "/v1/customers"}, {"GET", "/v1/customers/cus_x"}, {"POST", "/v1/customers"}, {"DELETE", "/v1/customers/cus_x"}} {
		got := w.API(c.method, c.path, "", "Idempotency-Key", "k")
		var body struct {
			Error struct{ Type, Message string }
		}
		if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil || got.Code != 500 || body.Error.Type != "api_error" || strings.Contains(body.Error.Message, "sql") {
			t.Errorf("%s %s: answered %d %s", c.method, c.path, got.Code, got.Body)
		}
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/sandbox/checkout/" + session, ""},
		{"POST", "/sandbox/checkout/" + session, "card_number=4242424242424242"},
		{"GET", "/sandbox/portal/" + portal, ""},
		{"POST", "/sandbox/portal/" + portal + "/cancel", "subscription=sub_x"},
		{"POST", "/sandbox/chaos", "seed=1"},
		{"GET", "/sandbox/stripe/dunning", ""},
		{"GET", "/sandbox/stripe/replay", ""},
		{"GET", "/sandbox/stripe/invoices/in_x/pdf", ""},
	} {
		if got := w.Send(c.method, c.path, c.body); got.Code != 500 || strings.Contains(got.Body.String(), "sql") {
			t.Errorf("%s %s: answered %d %s", c.method, c.path, got.Code, got.Body)
		}
	}
	for _, path := range []string{"/sandbox/stripe/dunning", "/sandbox/stripe/chaos"} {
		if got := w.Send("PUT", path, "{}", "Content-Type", "application/json"); got.Code != 500 {
			t.Errorf("PUT %s: answered %d %s", path, got.Code, got.Body)
		}
	}
}
