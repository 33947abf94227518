package psp_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
)

const testKey = "sk_test_verysecretkey"

// seen is a request that the fake provider received.
type seen struct {
	method, path, key string
	header            http.Header
	form              url.Values
}

// fake is a provider whose responses a test defines.
type fake struct {
	server *httptest.Server

	mu   sync.Mutex
	seen []seen
}

func newFake(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, n int)) *fake {
	t.Helper()
	f := &fake{}
	f.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		f.mu.Lock()
		f.seen = append(f.seen, seen{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header, r.Form})
		n := len(f.seen)
		f.mu.Unlock()
		answer(w, r, n)
	}))
	t.Cleanup(f.server.Close)
	return f
}

func (f *fake) requests() []seen {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]seen(nil), f.seen...)
}

// client returns a client that retries quickly and whose circuit breaker opens late, unless a
// change overrides this.
func (f *fake) client(t *testing.T, changes ...func(*psp.Config)) *psp.Client {
	t.Helper()
	cfg := psp.Config{
		SecretKey: testKey, BaseURL: f.server.URL, Log: slog.New(slog.DiscardHandler),
		RetryPause: time.Millisecond, BreakerLimit: 1000,
	}
	for _, change := range changes {
		change(&cfg)
	}
	client, err := psp.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func reply(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_1")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func replyError(w http.ResponseWriter, status int, kind, code, message string) {
	reply(w, status, fmt.Sprintf(`{"error": {"type": %q, "code": %q, "message": %q}}`, kind, code, message))
}

const subscriptionJSON = `{
	"id": "sub_1", "object": "subscription", "status": "active", "currency": "eur", "customer": "cus_1",
	"created": 1700000000, "billing_cycle_anchor": 1700000100, "cancel_at_period_end": false,
	"cancel_at": null, "canceled_at": null, "trial_end": null, "latest_invoice": "in_1",
	"metadata": {"tenant_id": "t1"},
	"items": {"object": "list", "data": [{
		"id": "si_1", "quantity": 3, "current_period_start": 1700000100, "current_period_end": 1702592100,
		"price": {"id": "price_1", "unit_amount": 1200, "recurring": {"interval": "month", "interval_count": 1}}
	}]}
}`
