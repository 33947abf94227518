package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox"
	"github.com/tenantry/tenantry/sandbox/clock"
	"github.com/tenantry/tenantry/sandbox/stripe"
)

const flowKey = "sk_test_flows"

// alone serves only the payment provider, like tenantry sandbox stripe. It returns the provider's
// URL and the official client, which is configured with nothing but the URL.
func alone(t *testing.T) (string, *api.Client) {
	t.Helper()
	world, err := sandbox.Open(t.Context(), filepath.Join(t.TempDir(), "sandbox.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = world.Close() })
	var handler http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	provider, err := stripe.New(stripe.Config{DB: world.DB(), Clock: world.Clock(), PublicURL: web.URL, Alone: true, SecretKey: flowKey})
	if err != nil {
		t.Fatal(err)
	}
	handler = world.ProviderHandler(provider.Handler())
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() {
		if err := provider.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	t.Cleanup(func() { stop(); running.Wait() })
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	config := &api.BackendConfig{
		URL: &web.URL, HTTPClient: &http.Client{Transport: transport}, MaxNetworkRetries: api.Int64(0),
		EnableTelemetry: api.Bool(false), LeveledLogger: &api.LeveledLogger{Level: api.LevelNull},
	}
	return web.URL, api.NewClient(flowKey, api.WithBackends(api.NewBackendsWithConfig(config)))
}

// got returns the value of a call that must succeed.
func got[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// sell creates a product with a monthly price.
func sell(t *testing.T, c *api.Client, amount int64) *api.Price {
	t.Helper()
	product := got[*api.Product](t)(c.V1Products.Create(t.Context(), &api.ProductCreateParams{Name: api.String("Gold Special")}))
	return got[*api.Price](t)(c.V1Prices.Create(t.Context(), &api.PriceCreateParams{
		Product: &product.ID, UnitAmount: &amount, Currency: api.String(api.CurrencyUSD),
		Recurring: &api.PriceCreateRecurringParams{Interval: api.String(string(api.PriceRecurringIntervalMonth))},
	}))
}

// subscribe creates a customer with a card and a subscription.
func subscribe(t *testing.T, c *api.Client, price *api.Price, params *api.CustomerCreateParams) *api.Subscription {
	t.Helper()
	customer := got[*api.Customer](t)(c.V1Customers.Create(t.Context(), params))
	card := got[*api.PaymentMethod](t)(c.V1PaymentMethods.Attach(t.Context(), "pm_card_visa", &api.PaymentMethodAttachParams{Customer: &customer.ID}))
	got[*api.Customer](t)(c.V1Customers.Update(t.Context(), customer.ID, &api.CustomerUpdateParams{
		InvoiceSettings: &api.CustomerUpdateInvoiceSettingsParams{DefaultPaymentMethod: &card.ID},
	}))
	item := &api.SubscriptionCreateItemParams{Price: &price.ID}
	if price.Recurring.UsageType != api.PriceRecurringUsageTypeMetered {
		item.Quantity = api.Int64(1)
	}
	create := &api.SubscriptionCreateParams{Customer: &customer.ID, Items: []*api.SubscriptionCreateItemParams{item}}
	create.AddExpand("latest_invoice")
	return got[*api.Subscription](t)(c.V1Subscriptions.Create(t.Context(), create))
}

// TestAPublicClientSubscribes follows Stripe's documentation: it creates a customer and a paid
// subscription, renews the subscription and cancels it.
func TestAPublicClientSubscribes(t *testing.T) {
	t.Parallel()
	_, c := alone(t)
	begin := clock.System().Now().UTC().Truncate(time.Second)
	frozen := got[*api.TestHelpersTestClock](t)(c.V1TestHelpersTestClocks.Create(t.Context(), &api.TestHelpersTestClockCreateParams{FrozenTime: api.Int64(begin.Unix()), Name: api.String("Monthly")}))
	sub := subscribe(t, c, sell(t, c, 2000), &api.CustomerCreateParams{Email: api.String("jenny.rosen@example.com"), TestClock: &frozen.ID})
	if sub.Status != api.SubscriptionStatusActive || sub.LatestInvoice.Status != api.InvoiceStatusPaid || sub.LatestInvoice.AmountPaid != 2000 {
		t.Fatalf("subscribed: %s, invoice %s", sub.Status, sub.LatestInvoice.Status)
	}
	got[*api.TestHelpersTestClock](t)(c.V1TestHelpersTestClocks.Advance(t.Context(), frozen.ID, &api.TestHelpersTestClockAdvanceParams{FrozenTime: api.Int64(begin.AddDate(0, 1, 1).Unix())}))
	testkit.Eventually(t, "a ready test clock", func() bool {
		tc := got[*api.TestHelpersTestClock](t)(c.V1TestHelpersTestClocks.Retrieve(t.Context(), frozen.ID, nil))
		return tc.Status == api.TestHelpersTestClockStatusReady
	})
	var paid int64
	for in, err := range c.V1Invoices.List(t.Context(), &api.InvoiceListParams{Subscription: &sub.ID}).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		paid += in.AmountPaid
	}
	if paid != 4000 {
		t.Errorf("%d was paid in two months", paid)
	}
	ended := got[*api.Subscription](t)(c.V1Subscriptions.Cancel(t.Context(), sub.ID, nil))
	if ended.Status != api.SubscriptionStatusCanceled {
		t.Errorf("canceled: %s", ended.Status)
	}
}

// TestAPublicClientPaginates paginates a list in both directions.
func TestAPublicClientPaginates(t *testing.T) {
	t.Parallel()
	_, c := alone(t)
	var made []string
	for i := range 25 {
		made = append(made, got[*api.Customer](t)(c.V1Customers.Create(t.Context(), &api.CustomerCreateParams{Name: api.String(fmt.Sprint("Customer ", i))})).ID)
	}
	slices.Reverse(made) // lists start with the newest
	var all []string
	params := &api.CustomerListParams{}
	params.Limit = api.Int64(10)
	for cu, err := range c.V1Customers.List(t.Context(), params).All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, cu.ID)
	}
	if !slices.Equal(all, made) {
		t.Errorf("listed %d customers of 25, or in another order", len(all))
	}
}

// TestAPublicClientRetries sends a request twice with the same idempotency key.
func TestAPublicClientRetries(t *testing.T) {
	t.Parallel()
	_, c := alone(t)
	create := func(email string) (*api.Customer, error) {
		params := &api.CustomerCreateParams{Email: &email}
		params.SetIdempotencyKey("a-key")
		return c.V1Customers.Create(t.Context(), params)
	}
	first, again := got[*api.Customer](t)(create("a@example.com")), got[*api.Customer](t)(create("a@example.com"))
	if again.ID != first.ID || again.LastResponse.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("the second request created %s, the first request %s", again.ID, first.ID)
	}
	var failed *api.Error
	if _, err := create("b@example.com"); !errors.As(err, &failed) || failed.Type != api.ErrorTypeIdempotency {
		t.Errorf("another request with the key: %v", err)
	}
}

// TestAPublicClientReceivesEvents creates a webhook endpoint, receives events and verifies them with the
// official library.
func TestAPublicClientReceivesEvents(t *testing.T) {
	t.Parallel()
	_, c := alone(t)
	type received struct {
		header string
		body   []byte
	}
	events := make(chan received, 20)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events <- received{r.Header.Get("Stripe-Signature"), body}
	}))
	defer receiver.Close()
	endpoint := got[*api.WebhookEndpoint](t)(c.V1WebhookEndpoints.Create(t.Context(), &api.WebhookEndpointCreateParams{
		URL: &receiver.URL, EnabledEvents: []*string{api.String("invoice.paid")},
	}))
	sub := subscribe(t, c, sell(t, c, 1500), &api.CustomerCreateParams{})
	select {
	case r := <-events:
		e, err := api.ConstructEvent(r.body, r.header, endpoint.Secret)
		if err != nil || e.Type != api.EventTypeInvoicePaid || e.Data.Object["id"] != sub.LatestInvoice.ID {
			t.Errorf("got event %s with %v (%v)", e.Type, e.Data, err)
		}
		if _, err := api.ConstructEvent(r.body, r.header, "whsec_other"); err == nil {
			t.Error("another secret is accepted as well")
		}
	case <-time.After(time.Minute):
		t.Fatal("no event received")
	}
}

// TestAPublicClientMeters bills metered usage.
func TestAPublicClientMeters(t *testing.T) {
	t.Parallel()
	_, c := alone(t)
	ctx := t.Context()
	meter := got[*api.BillingMeter](t)(c.V1BillingMeters.Create(ctx, &api.BillingMeterCreateParams{
		DisplayName: api.String("Tokens"), EventName: api.String("tokens"),
		DefaultAggregation: &api.BillingMeterCreateDefaultAggregationParams{Formula: api.String("sum")},
	}))
	price := got[*api.Price](t)(c.V1Prices.Create(ctx, &api.PriceCreateParams{
		Currency: api.String("usd"), UnitAmount: api.Int64(4), ProductData: &api.PriceCreateProductDataParams{Name: api.String("Tokens")},
		Recurring: &api.PriceCreateRecurringParams{Interval: api.String("month"), UsageType: api.String("metered"), Meter: &meter.ID},
	}))
	sub := subscribe(t, c, price, &api.CustomerCreateParams{})
	for i := range 3 {
		got[*api.BillingMeterEvent](t)(c.V1BillingMeterEvents.Create(ctx, &api.BillingMeterEventCreateParams{
			EventName: api.String("tokens"), Identifier: api.String("use-" + strconv.Itoa(i)),
			Payload: map[string]string{"stripe_customer_id": sub.Customer.ID, "value": "25"},
		}))
	}
	preview := got[*api.Invoice](t)(c.V1Invoices.CreatePreview(ctx, &api.InvoiceCreatePreviewParams{Subscription: &sub.ID}))
	if preview.Total != 300 {
		t.Errorf("75 tokens cost %d", preview.Total)
	}
}

// TestAPublicClientGetsErrors uses unsupported features, which return an error.
func TestAPublicClientGetsErrors(t *testing.T) {
	t.Parallel()
	url, c := alone(t)
	ctx := t.Context()
	var failed *api.Error
	rate := &api.TaxRateCreateParams{DisplayName: api.String("VAT"), Percentage: api.Float64(20), Inclusive: api.Bool(true)}
	if _, err := c.V1TaxRates.Create(ctx, rate); !errors.As(err, &failed) || failed.HTTPStatusCode != http.StatusNotFound {
		t.Errorf("tax rates: %v", err)
	}
	search := &api.CustomerSearchParams{}
	search.Query = "name:'Ada'"
	for _, err := range c.V1Customers.Search(ctx, search).All(ctx) {
		if !errors.As(err, &failed) || failed.HTTPStatusCode != http.StatusNotFound {
			t.Errorf("search: %v", err)
		}
	}
	if _, err := c.V1Customers.Create(ctx, &api.CustomerCreateParams{Source: api.String("tok_visa")}); !errors.As(err, &failed) || failed.Code != api.ErrorCodeParameterUnknown || failed.Param != "source" {
		t.Errorf("a source: %v", err)
	}
	for path, version := range map[string]string{"/v1/customers": "2020-08-27", "/v1/account": ""} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth(flowKey, "")
		r.Header.Set("Stripe-Version", version)
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if warned := answer.Header.Get("Sandbox-Warning") != ""; answer.StatusCode != http.StatusOK || warned != (version != "") {
			t.Errorf("%s in version %q returns %d, warned %v", path, version, answer.StatusCode, warned)
		}
	}
}

// TestStandaloneProviderPages checks that other sites cannot access the pages but can access the
// API.
func TestStandaloneProviderPages(t *testing.T) {
	t.Parallel()
	url, c := alone(t)
	subscribe(t, c, sell(t, c, 1500), &api.CustomerCreateParams{Name: api.String("<script>alert(1)</script>")})
	ask := func(method, path, host string, header ...string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	for path, want := range map[string]int{"/": 302, "/sandbox": 302, "/sandbox/dashboard": 200, "/sandbox/dashboard/customers": 200, "/sandbox/clock": 200, "/sandbox/chaos": 200, "/nothing": 404} {
		if status, body := ask(http.MethodGet, path, ""); status != want || strings.Contains(body, "<script>") {
			t.Errorf("%s returns %d", path, status)
		}
	}
	if _, body := ask(http.MethodGet, "/sandbox/dashboard", ""); !strings.Contains(body, "stripe.NewClient(&#34;"+flowKey) || !strings.Contains(body, "port: ") {
		t.Errorf("the overview shows no clients: %s", body)
	}
	if status, _ := ask(http.MethodGet, "/sandbox/dashboard", "evil.example.test"); status != http.StatusMisdirectedRequest {
		t.Errorf("under another name: status %d", status)
	}
	if status, _ := ask(http.MethodPost, "/sandbox/dashboard/events/evt_x/resend", "", "Sec-Fetch-Site", "cross-site"); status != http.StatusForbidden {
		t.Errorf("from another site: status %d", status)
	}
	if status, _ := ask(http.MethodGet, "/v1/account", "stripe.internal.test"); status != http.StatusUnauthorized {
		t.Errorf("the API without a key returns %d", status)
	}
}
