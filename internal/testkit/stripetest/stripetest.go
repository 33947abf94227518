// Package stripetest calls the sandbox's payment provider over HTTP without a network, for the
// tests of the packages below stripe. Package stripe tests the provider with the official client.
package stripetest

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/stripe"

	_ "modernc.org/sqlite" // driver
)

const secretKey = "sk_test_stripetest"

// Site is the public URL of the provider.
const Site = "http://sandbox.example.test"

// Day is 24 hours.
const Day = 24 * time.Hour

// Start is the initial time of each World: the first day of a month with 31 days.
var Start = time.Date(2026, time.March, 1, 10, 0, 0, 0, time.UTC)

// World is a provider on a fresh database.
type World struct {
	// Clock is the provider's clock, which Advance moves.
	Clock *testkit.Clock
	// Real is the clock for idempotency keys and webhooks.
	Real *testkit.Clock
	// DB is the provider's database.
	DB *sql.DB
	// Server is the provider.
	Server *stripe.Server
	t      *testing.T
}

// New returns a provider with changed settings.
func New(t *testing.T, change ...func(*stripe.Config)) *World {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "stripe.db")+
		"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	w := &World{Clock: testkit.NewClock(Start), Real: testkit.NewClock(Start), DB: db, t: t}
	cfg := stripe.Config{
		DB: db, Clock: w.Clock, SignatureClock: w.Real, PublicURL: Site, SecretKey: secretKey,
		Log: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&cfg)
	}
	if w.Server, err = stripe.New(cfg); err != nil {
		t.Fatal(err)
	}
	return w
}

// Advance advances the clock.
func (w *World) Advance(d time.Duration) { w.Clock.Set(w.Clock.Now().Add(d)) }

// Send sends a request and returns the response. It sends body as a form. header has alternating
// names and values.
func (w *World) Send(method, path, body string, header ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, Site+path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	w.Server.Handler().ServeHTTP(answer, r)
	return answer
}

// API sends a request to an API endpoint. path starts with /v1.
func (w *World) API(method, path, body string, header ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	return w.Send(method, "/sandbox/stripe"+path, body, append([]string{"Authorization", "Bearer " + secretKey}, header...)...)
}

// Form submits the form of a page. fields has alternating names and values.
func (w *World) Form(path string, fields ...string) *httptest.ResponseRecorder {
	w.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return w.Send(http.MethodPost, path, form.Encode())
}

// Do sends a request that must succeed and returns the object in the response.
func (w *World) Do(method, path, body string, header ...string) Object {
	w.t.Helper()
	answer := w.API(method, path, body, header...)
	if answer.Code != http.StatusOK {
		w.t.Fatalf("%s %s %s answers %d: %s", method, path, body, answer.Code, answer.Body)
	}
	return w.decode(answer)
}

// Get is Do for a GET.
func (w *World) Get(path string) Object { w.t.Helper(); return w.Do(http.MethodGet, path, "") }

// Post is Do for a POST.
func (w *World) Post(path, body string) Object {
	w.t.Helper()
	return w.Do(http.MethodPost, path, body)
}

// Delete is Do for a DELETE.
func (w *World) Delete(path string) Object { w.t.Helper(); return w.Do(http.MethodDelete, path, "") }

// IDs returns the ids of a list in order.
func (w *World) IDs(path string) []string {
	w.t.Helper()
	var ids []string
	for _, o := range w.Get(path).List("data") {
		ids = append(ids, o.At("id"))
	}
	return ids
}

func (w *World) decode(answer *httptest.ResponseRecorder) Object {
	w.t.Helper()
	var o Object
	decoder := json.NewDecoder(bytes.NewReader(answer.Body.Bytes()))
	decoder.UseNumber()
	if err := decoder.Decode(&o); err != nil {
		w.t.Fatalf("%v: %s", err, answer.Body)
	}
	return o
}

// Refusal is a request that the provider rejects. The default status is 400 and the default type
// invalid_request_error.
type Refusal struct {
	Name, Method, Path, Body string
	Status                   int
	Type, Code, Param        string
}

// CheckRefused checks that the provider rejects each request as the case describes, and that no
// request changes stored data.
func (w *World) CheckRefused(cases ...Refusal) {
	w.t.Helper()
	for _, c := range cases {
		before := w.state()
		answer := w.API(c.Method, c.Path, c.Body)
		if c.Status == 0 {
			c.Status = http.StatusBadRequest
		}
		if c.Type == "" {
			c.Type = "invalid_request_error"
		}
		got := Object{"error": map[string]any{}}
		if answer.Code != http.StatusOK {
			got = w.decode(answer)
		}
		if answer.Code != c.Status || got.text("error.type") != c.Type || got.text("error.code") != c.Code || got.text("error.param") != c.Param {
			w.t.Errorf("%s: got %d %s, want %d %s %q on %q", c.Name, answer.Code, answer.Body, c.Status, c.Type, c.Code, c.Param)
		}
		if after := w.state(); after != before {
			w.t.Errorf("%s: the refused request changed something: %s became %s", c.Name, before, after)
		}
	}
}

// state returns a description of all stored data.
func (w *World) state() string {
	w.t.Helper()
	var s string
	if err := w.DB.QueryRowContext(w.t.Context(), `
		SELECT count(*) || ' objects of ' || total(length(doc)) || ' bytes and '
		       || (SELECT count(*) FROM stripe_meter_events) || ' meter events' FROM stripe_objects`).Scan(&s); err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Events returns the types of the events during f, in order.
func (w *World) Events(f func()) []string {
	w.t.Helper()
	before := len(w.events())
	f()
	return w.events()[before:]
}

func (w *World) events() []string {
	w.t.Helper()
	w.Get("/v1/account") // runs due timers
	rows, err := w.DB.QueryContext(w.t.Context(), `SELECT doc ->> '$.type' FROM stripe_objects WHERE kind = 'event' ORDER BY seq`)
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	var types []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			w.t.Fatal(err)
		}
		types = append(types, name)
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
	return types
}

// Object is a JSON object in a response.
type Object map[string]any

// At returns the value at a path such as items.data.0.price.id as text. A null or missing value is
// "null"; an object is its JSON.
func (o Object) At(path string) string {
	switch v := o.value(path).(type) {
	case nil:
		return "null"
	case string:
		return v
	case bool, json.Number:
		return fmt.Sprint(v)
	default:
		text, _ := json.Marshal(v) // the value comes from JSON, so this cannot fail
		return string(text)
	}
}

// Int returns the integer at a path, or 0 if the path does not exist.
func (o Object) Int(path string) int64 {
	n, _ := strconv.ParseInt(o.At(path), 10, 64)
	return n
}

// List returns the objects of the list at a path.
func (o Object) List(path string) []Object {
	elements, _ := o.value(path).([]any)
	var all []Object
	for _, element := range elements {
		if m, ok := element.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// CheckValues checks values of the object. want has alternating paths and values.
func (o Object) CheckValues(t *testing.T, name string, want ...string) {
	t.Helper()
	for i := 0; i+1 < len(want); i += 2 {
		if got := o.At(want[i]); got != want[i+1] {
			t.Errorf("%s: %s is %s, want %s", name, want[i], got, want[i+1])
		}
	}
}

// text returns the text at a path, or "" if the path does not exist.
func (o Object) text(path string) string {
	s, _ := o.value(path).(string)
	return s
}

func (o Object) value(path string) any {
	var v any = map[string]any(o)
	for name := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// Customer creates a customer and returns its id.
func (w *World) Customer() string {
	w.t.Helper()
	return w.Post("/v1/customers", "name=Ada+Lovelace&email=ada%40example.test").At("id")
}

// Card attaches a test card such as pm_card_visa to a customer and makes it the default card.
func (w *World) Card(customer, name string) string {
	w.t.Helper()
	id := w.Post("/v1/payment_methods/"+name+"/attach", "customer="+customer).At("id")
	w.Post("/v1/customers/"+customer, "invoice_settings[default_payment_method]="+id)
	return id
}

// Price creates a product with a recurring price and returns the price's id.
func (w *World) Price(amount int64, currency, interval string) string {
	w.t.Helper()
	return w.Post("/v1/prices", fmt.Sprintf("unit_amount=%d&currency=%s&recurring[interval]=%s&product_data[name]=Starter", amount, currency, interval)).At("id")
}

// Subscribe starts a subscription with one price for a new customer with a card. more has further
// parameters.
func (w *World) Subscribe(price, card string, more ...string) Object {
	w.t.Helper()
	customer := w.Customer()
	if card != "" {
		w.Card(customer, card)
	}
	params := slices.Concat([]string{"customer=" + customer, "items[0][price]=" + price, "items[0][quantity]=1"}, more)
	return w.Post("/v1/subscriptions", strings.Join(params, "&"))
}

// Checkout opens a checkout session with one price for a new customer. more has further parameters.
func (w *World) Checkout(price string, more ...string) Object {
	w.t.Helper()
	params := slices.Concat([]string{
		"mode=subscription", "success_url=https%3A%2F%2Fapp.example.test%2Fdone", "customer=" + w.Customer(),
		"line_items[0][price]=" + price, "line_items[0][quantity]=1",
	}, more)
	return w.Post("/v1/checkout/sessions", strings.Join(params, "&"))
}
