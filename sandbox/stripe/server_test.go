package stripe_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/stripe"

	_ "modernc.org/sqlite" // the driver
)

const (
	secretKey     = "sk_test_sandbox_4eC39HqLyjWDarjtT1zdp7dc"
	webhookSecret = "whsec_sandbox"
)

// start is the initial time of the tests: the end of a month with 31 days.
var start = time.Date(2026, time.January, 31, 10, 0, 0, 0, time.UTC)

// world is a sandbox that is served over HTTP, with the official client.
type world struct {
	*api.Client
	t       *testing.T
	clock   *testkit.Clock
	db      *sql.DB
	url     string
	handler http.Handler
	server  *stripe.Server
	config  stripe.Config
}

// newWorld starts a sandbox with a new database.
func newWorld(t *testing.T, change ...func(*stripe.Config)) *world {
	t.Helper()
	w := &world{t: t, clock: testkit.NewClock(start), db: openDB(t, filepath.Join(t.TempDir(), "sandbox.db"))}
	web := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { w.handler.ServeHTTP(rw, r) }))
	t.Cleanup(web.Close)
	w.url = web.URL
	w.config = stripe.Config{
		DB: w.db, Clock: w.clock, PublicURL: web.URL, SecretKey: secretKey,
		Log: slog.New(slog.NewTextHandler(testLog{t}, nil)),
	}
	for _, f := range change {
		f(&w.config)
	}
	w.restart()
	w.Client = newClient(t, web.URL, secretKey)
	return w
}

// advance moves the clock by d.
func (w *world) advance(d time.Duration) { w.clock.Set(w.clock.Now().Add(d)) }

// restart replaces the server with a new one on the same database.
func (w *world) restart() {
	w.t.Helper()
	server, err := stripe.New(w.config)
	if err != nil {
		w.t.Fatalf("New: %v", err)
	}
	w.server, w.handler = server, server.Handler()
}

// run runs the server until the test ends or stop is called.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	server := w.server
	go func() { done <- server.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-done:
			if err != nil {
				w.t.Errorf("Run: %v", err)
			}
		case <-time.After(time.Minute):
			w.t.Error("Run does not stop")
		}
	}
	w.t.Cleanup(stop)
	return stop
}

func openDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)&_pragma=busy_timeout(5000)&_dqs=0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// newClient returns the official client and validates each response against Stripe's published
// schema. The client requires paths that start with /v1, so the transport adds the path of the
// sandbox.
func newClient(t *testing.T, base, key string) *api.Client {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config := &api.BackendConfig{
		URL: &base, HTTPClient: &http.Client{Transport: checked{t, transport}},
		MaxNetworkRetries: api.Int64(0), EnableTelemetry: api.Bool(false),
		LeveledLogger: &api.LeveledLogger{Level: api.LevelNull},
	}
	return api.NewClient(key, api.WithBackends(api.NewBackendsWithConfig(config)))
}

// testLog writes the server's log to the test log.
type testLog struct{ t *testing.T }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// must returns the value of a call that must succeed.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatalf("unexpected refusal: %v", err)
		}
		return v
	}
}

// refused checks the error of a refused call.
func refused(t *testing.T, err error, status int, code, param string) (message string) {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want one of Stripe's", err)
	}
	if e.HTTPStatusCode != status || string(e.Code) != code || e.Param != param {
		t.Errorf("got %d %q on %q (%s), want %d %q on %q", e.HTTPStatusCode, e.Code, e.Param, e.Msg, status, code, param)
	}
	return e.Msg
}

// sold creates a product with a recurring price.
func (w *world) sold(amount int64, code, interval string) *api.Price {
	w.t.Helper()
	return must[*api.Price](w.t)(w.V1Prices.Create(w.t.Context(), &api.PriceCreateParams{
		Currency: &code, UnitAmount: &amount,
		ProductData: &api.PriceCreateProductDataParams{Name: api.String("Starter")},
		Recurring:   &api.PriceCreateRecurringParams{Interval: &interval},
	}))
}

func (w *world) customer(email string) *api.Customer {
	w.t.Helper()
	return must[*api.Customer](w.t)(w.V1Customers.Create(w.t.Context(), &api.CustomerCreateParams{
		Email: &email, Name: api.String("Ada Lovelace"),
	}))
}

// checkoutParams returns the parameters of a session for one price and a new customer.
func (w *world) checkoutParams(p *api.Price, quantity int64) *api.CheckoutSessionCreateParams {
	w.t.Helper()
	return &api.CheckoutSessionCreateParams{
		Mode: api.String("subscription"), Customer: &w.customer("ada@example.test").ID,
		LineItems:  []*api.CheckoutSessionCreateLineItemParams{{Price: &p.ID, Quantity: &quantity}},
		SuccessURL: api.String("https://app.example.test/done?session={CHECKOUT_SESSION_ID}"),
		CancelURL:  api.String("https://app.example.test/plans"),
	}
}

func (w *world) checkout(p *api.Price, quantity int64) *api.CheckoutSession {
	w.t.Helper()
	return must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Create(w.t.Context(), w.checkoutParams(p, quantity)))
}

// page is a response of a hosted page.
type page struct {
	status   int
	location string
	body     string
	header   http.Header
}

// pay submits the hosted page of a session.
func (w *world) pay(sessionID, cardNumber string) page {
	w.t.Helper()
	return w.visit(http.MethodPost, sessionID, url.Values{"card_number": {cardNumber}})
}

// visit requests the hosted page of a session without following redirects.
func (w *world) visit(method, sessionID string, form url.Values) page {
	w.t.Helper()
	return w.open(method, "/sandbox/checkout/"+sessionID, form)
}

// open requests a page, or submits its form, without following redirects.
func (w *world) open(method, path string, form url.Values) page {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return page{status: res.StatusCode, location: res.Header.Get("Location"), body: string(body), header: res.Header}
}

// bought returns a subscription that was paid on the hosted page, and its session.
func (w *world) bought(p *api.Price, quantity int64) (*api.CheckoutSession, *api.Subscription) {
	w.t.Helper()
	session := w.checkout(p, quantity)
	if got := w.pay(session.ID, "4242 4242 4242 4242"); got.status != http.StatusSeeOther {
		w.t.Fatalf("paying answered %d: %s", got.status, got.body)
	}
	session = must[*api.CheckoutSession](w.t)(w.V1CheckoutSessions.Retrieve(w.t.Context(), session.ID, nil))
	return session, must[*api.Subscription](w.t)(w.V1Subscriptions.Retrieve(w.t.Context(), session.Subscription.ID, nil))
}

// eventTypes returns the types of all events, oldest first.
func (w *world) eventTypes() []string {
	w.t.Helper()
	var types []string
	for e, err := range w.V1Events.List(w.t.Context(), &api.EventListParams{}).All(w.t.Context()) {
		if err != nil {
			w.t.Fatal(err)
		}
		types = append([]string{string(e.Type)}, types...)
	}
	return types
}

// call sends a plain HTTP request, for requests that the client would not send.
func (w *world) call(method, path, body string, header map[string]string) (*http.Response, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, w.url+"/sandbox/stripe"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secretKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return res, string(answer)
}
