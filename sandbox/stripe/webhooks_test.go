package stripe_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	api "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/sandbox/stripe"
	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// receiver receives webhooks like a service and verifies them with the official library.
type receiver struct {
	t      *testing.T
	url    string
	answer func(api.Event) int

	mu    sync.Mutex
	taken []api.Event
	tries map[string]int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	if _, err := published(); err != nil { // takes longer than the webhook timeout
		t.Fatal(err)
	}
	r := &receiver{t: t, tries: map[string]int{}, answer: func(api.Event) int { return http.StatusOK }}
	web := httptest.NewServer(r)
	t.Cleanup(web.Close)
	r.url = web.URL
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the connection was aborted
	}
	e, err := webhook.ConstructEvent(body, req.Header.Get("Stripe-Signature"), webhookSecret)
	if err != nil {
		r.t.Errorf("the library refuses the webhook: %v", err)
	}
	if err := checkObject("event", body); err != nil {
		r.t.Errorf("event against the schema: %v", err)
	}
	var about struct{ Object string }
	if err := json.Unmarshal(e.Data.Raw, &about); err != nil {
		r.t.Error(err)
	}
	if about.Object != "customer" || e.Type != "customer.deleted" {
		if err := checkObject(about.Object, e.Data.Raw); err != nil {
			r.t.Errorf("%s against the schema: %v\n%s", e.Type, err, e.Data.Raw)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries[e.ID]++
	status := r.answer(e)
	if status/100 == 2 {
		r.taken = append(r.taken, e)
	}
	w.WriteHeader(status)
}

func (r *receiver) types() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	types := make([]string, len(r.taken))
	for i, e := range r.taken {
		types[i] = string(e.Type)
	}
	return types
}

func (r *receiver) config(c *stripe.Config) { c.WebhookURL, c.WebhookSecret = r.url, webhookSecret }

func TestCheckoutWebhooks(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newWorld(t, r.config)
	w.run()
	session, sub := w.bought(w.sold(1000, "eur", "month"), 2)
	want := w.eventTypes()
	testkit.Eventually(t, "the delivery", func() bool { return len(r.types()) == len(want) })
	got := r.types()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("delivered %v, want %v", got, want)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.taken {
		var about struct{ ID, Status string }
		if err := json.Unmarshal(e.Data.Raw, &about); err != nil {
			t.Fatal(err)
		}
		if e.Type == "checkout.session.completed" && (about.ID != session.ID || about.Status != "complete") {
			t.Errorf("completed: %+v", about)
		}
		if e.Type == "customer.subscription.created" && (about.ID != sub.ID || about.Status != "active") {
			t.Errorf("created: %+v", about)
		}
		if e.Type == "invoice.created" && about.Status != "draft" || e.Type == "invoice.finalized" && about.Status != "open" {
			t.Errorf("%s shows a later state: %+v", e.Type, about)
		}
	}
	e := must[*api.Event](t)(w.V1Events.Retrieve(t.Context(), r.taken[0].ID, nil))
	if kernel.APIVersion != api.APIVersion || e.APIVersion != api.APIVersion {
		t.Errorf("events are of version %s, the client of %s", e.APIVersion, api.APIVersion)
	}
	testkit.Eventually(t, "the delivery", func() bool {
		e, err := w.V1Events.Retrieve(t.Context(), r.taken[0].ID, nil)
		return err == nil && e.PendingWebhooks == 0
	})
}

func TestEventsOfOneObjectArriveInOrder(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newWorld(t, r.config)
	cu := w.customer("ada@example.test")
	for _, name := range []string{"one", "two", "three", "four", "five"} {
		must[*api.Customer](t)(w.V1Customers.Update(t.Context(), cu.ID, &api.CustomerUpdateParams{Name: &name}))
	}
	w.run()
	testkit.Eventually(t, "the delivery", func() bool { return len(r.types()) == 6 })
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, want := range []string{"Ada Lovelace", "one", "two", "three", "four", "five"} {
		if got := r.taken[i].GetObjectValue("name"); got != want {
			t.Errorf("webhook %d is about %q, want %q", i, got, want)
		}
	}
	if got := r.taken[1].GetPreviousValue("name"); got != "Ada Lovelace" {
		t.Errorf("previous name is %q", got)
	}
}

func TestAWebhookThatIsTakenIsNotSentAgain(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	w := newWorld(t, r.config)
	w.run()
	const events = 40
	for range events {
		w.customer("ada@example.test")
	}
	testkit.Eventually(t, "the delivery", func() bool { return len(r.types()) >= events })
	testkit.Eventually(t, "the delivery", func() bool {
		var left int
		err := w.db.QueryRowContext(t.Context(), `SELECT count(*) FROM stripe_deliveries`).Scan(&left)
		return err == nil && left == 0
	})
	if n := len(r.types()); n != events {
		t.Errorf("%d events were sent %d times", events, n)
	}
}

func TestWebhooksAreRetried(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.answer = func(e api.Event) int {
		switch r.tries[e.ID] {
		case 1:
			return http.StatusInternalServerError
		case 2:
			return http.StatusFound // redirects are not followed
		}
		return http.StatusNoContent
	}
	w := newWorld(t, r.config)
	w.run()
	cu := w.customer("ada@example.test")
	testkit.Eventually(t, "the delivery", func() bool { return len(r.types()) == 1 })
	if got := r.taken[0].GetObjectValue("id"); got != cu.ID || r.tries[r.taken[0].ID] != 3 {
		t.Errorf("webhook about %s taken at attempt %d", got, r.tries[r.taken[0].ID])
	}
}

func TestUndeliveredWebhooksSurviveARestart(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	down := true
	r.answer = func(api.Event) int {
		if down {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	}
	w := newWorld(t, r.config)
	stop := w.run()
	w.customer("ada@example.test")
	testkit.Eventually(t, "the delivery", func() bool { r.mu.Lock(); defer r.mu.Unlock(); return len(r.tries) == 1 })
	stop()
	w.customer("bob@example.test") // while the server does not run
	w.restart()
	r.mu.Lock()
	down = false
	r.mu.Unlock()
	w.run()
	testkit.Eventually(t, "the delivery", func() bool { return len(r.types()) == 2 })
}

func TestRunStopsWhileAReceiverHangs(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 1)
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body) // so that the server detects the client's disconnection
		reached <- struct{}{}
		<-req.Context().Done()
	}))
	t.Cleanup(hang.Close)
	w := newWorld(t, func(c *stripe.Config) {
		c.WebhookURL, c.WebhookSecret, c.HTTPClient = hang.URL, webhookSecret, &http.Client{}
	})
	stop := w.run()
	w.customer("ada@example.test")
	<-reached
	stop()
	var left int
	if err := w.db.QueryRowContext(context.Background(), `SELECT count(*) FROM stripe_deliveries WHERE attempts = 0`).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d deliveries are left as they were (%v), want 1", left, err)
	}
}

func TestNothingIsQueuedWithoutAReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run()
	w.customer("ada@example.test")
	for e, err := range w.V1Events.List(t.Context(), nil).All(t.Context()) {
		if err != nil || e.PendingWebhooks != 0 {
			t.Errorf("%s waits for %d webhooks (%v)", e.Type, e.PendingWebhooks, err)
		}
	}
}

// TestAccountCheckObjects reads, with the official client, the objects that an account check reads.
func TestAccountCheckObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	account := must[*api.Account](t)(w.V1Accounts.Retrieve(ctx, nil))
	if !account.ChargesEnabled || account.Country != "US" {
		t.Errorf("account: %+v", account)
	}
	if b := must[*api.Balance](t)(w.V1Balance.Retrieve(ctx, nil)); len(b.Available) != 1 || b.Available[0].Currency != "usd" {
		t.Errorf("balance: %+v", b)
	}
	made := must[*api.WebhookEndpoint](t)(w.V1WebhookEndpoints.Create(ctx, &api.WebhookEndpointCreateParams{
		URL: api.String("https://app.example.test/hooks"), EnabledEvents: []*string{api.String("invoice.paid")},
	}))
	changed := must[*api.WebhookEndpoint](t)(w.V1WebhookEndpoints.Update(ctx, made.ID, &api.WebhookEndpointUpdateParams{Disabled: api.Bool(true)}))
	if made.Secret == "" || changed.Secret != "" || changed.Status != "disabled" {
		t.Errorf("endpoint %+v, then %+v", made, changed)
	}
	for we, err := range w.V1WebhookEndpoints.List(ctx, nil).All(ctx) {
		if err != nil || we.ID != made.ID {
			t.Errorf("listed: %+v, %v", we, err)
		}
	}
	if gone := must[*api.WebhookEndpoint](t)(w.V1WebhookEndpoints.Delete(ctx, made.ID, nil)); !gone.Deleted {
		t.Errorf("deleted: %+v", gone)
	}
	for cfg, err := range w.V1BillingPortalConfigurations.List(ctx, &api.BillingPortalConfigurationListParams{IsDefault: api.Bool(true)}).All(ctx) {
		if err != nil || cfg.Features.SubscriptionUpdate.Enabled || cfg.Features.SubscriptionCancel.Mode != "at_period_end" {
			t.Errorf("configuration: %+v, %v", cfg, err)
		}
	}
}
