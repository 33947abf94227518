package psp_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/calls"
)

func createProduct(ctx context.Context, c *psp.Client) error {
	_, err := c.CreateProduct(ctx, psp.ProductParams{Key: "stored-key", Name: "Team"})
	return err
}

func checkPSPError(t *testing.T, err error) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Provider || f.Code != fault.PSPError {
		t.Errorf("got %v, want a psp_error", err)
	}
	if !errors.Is(err, psp.ErrUnavailable) {
		t.Errorf("%v is not ErrUnavailable", err)
	}
}

func TestNewClientRejectsInvalidConfig(t *testing.T) {
	t.Parallel()
	tests := map[string]psp.Config{
		"no key":            {},
		"a key with a line": {SecretKey: "sk_1\n"},
		"a relative base":   {SecretKey: "sk_1", BaseURL: "/sandbox"},
		"another scheme":    {SecretKey: "sk_1", BaseURL: "ftp://stripe.test"},
		"a base with user":  {SecretKey: "sk_1", BaseURL: "http://user:sk_1@stripe.test"},
		"a base with query": {SecretKey: "sk_1", BaseURL: "http://stripe.test?a=b"},
	}
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := psp.NewClient(cfg)
			if err == nil {
				t.Fatal("accepted")
			}
			if strings.Contains(err.Error(), "sk_1") {
				t.Errorf("error contains the key: %v", err)
			}
		})
	}
	if _, err := psp.NewClient(psp.Config{SecretKey: "sk_1"}); err != nil {
		t.Errorf("Stripe's own address: %v", err)
	}
}

func TestAnswersBecomeErrors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		status     int
		body       string
		want       error // nil for other errors than the sentinel errors
		attempts   int
		mustNotSay string
	}{
		"missing object": {404, `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"No such price"}}`, psp.ErrNotFound, 1, ""},
		"missing object in a parameter": {
			400, `{"error":{"type":"invalid_request_error","code":"resource_missing","param":"customer"}}`, psp.ErrNotFound, 1, "",
		},
		"missing object of the second version": {404, `{"error":{"code":"not_found","message":"Not found"}}`, psp.ErrNotFound, 1, ""},
		"unsupported currency": {
			400, `{"error":{"type":"invalid_request_error","param":"currency","message":"Invalid currency: tnd. Stripe accounts in US do not support tnd."}}`, psp.ErrCurrency, 1, "",
		},
		"amount below the minimum": {400, `{"error":{"type":"invalid_request_error","code":"amount_too_small"}}`, psp.ErrTooSmall, 1, ""},
		"refused":                  {400, `{"error":{"type":"invalid_request_error","message":"bad"}}`, psp.ErrRefused, 1, ""},
		"wrong key":                {401, `{"error":{"type":"invalid_request_error","message":"Invalid key ` + testKey + `"}}`, nil, 1, testKey},
		"key without permission":   {403, `{"error":{"type":"invalid_request_error","message":"The key lacks a permission"}}`, nil, 1, ""},
		"key used before":          {400, `{"error":{"type":"idempotency_error","message":"other parameters"}}`, psp.ErrRefused, 10, ""},
		"no payment method":        {400, `{"error":{"type":"invalid_request_error","code":"resource_missing","message":"This customer has no attached payment source or default payment method."}}`, psp.ErrDeclined, 1, ""},
		"invoice without a card":   {400, "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"There is no `default_payment_method` set on this Customer or Invoice.\"}}", psp.ErrDeclined, 1, ""},
		"card declined":            {402, `{"error":{"type":"card_error","code":"card_declined","message":"4242"}}`, psp.ErrDeclined, 1, "4242"},
		"same key at once":         {409, `{"error":{"type":"idempotency_error","code":"idempotency_key_in_use"}}`, nil, 3, ""},
		"too many requests":        {429, `{"error":{"type":"invalid_request_error","code":"rate_limit"}}`, nil, 1, ""},
		"object is busy":           {429, `{"error":{"type":"invalid_request_error","code":"lock_timeout"}}`, nil, 3, ""},
		"server error":             {500, `{"error":{"type":"api_error","message":"oops"}}`, nil, 3, ""},
		"a proxy's page":           {502, `<html>secret page</html>`, nil, 3, "secret page"},
		"not found by a proxy, not by the provider": {404, `<html>nothing here</html>`, nil, 3, "nothing"},
		"success that is not JSON":                  {200, `<html>login</html>`, nil, 3, "login"},
		"redirect":                                  {302, ``, nil, 3, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
				w.Header().Set("Location", "/v1/elsewhere")
				reply(w, tt.status, tt.body)
			})
			err := createProduct(t.Context(), provider.client(t))
			if tt.status == http.StatusTooManyRequests {
				if busy, ok := errors.AsType[*fault.Error](err); !ok || !errors.Is(err, psp.ErrBusy) || busy.RetryAfter != 2*time.Second {
					t.Errorf("got %v, want a 429", err)
				}
			} else {
				checkPSPError(t, err)
			}
			for _, sentinel := range []error{psp.ErrNotFound, psp.ErrRefused, psp.ErrDeclined} {
				if got, want := errors.Is(err, sentinel), errors.Is(tt.want, sentinel); got != want {
					t.Errorf("is %q: %v, want %v: %v", sentinel, got, want, err)
				}
			}
			if tt.mustNotSay != "" && strings.Contains(err.Error(), tt.mustNotSay) {
				t.Errorf("error contains %q: %v", tt.mustNotSay, err)
			}
			if got := len(provider.requests()); got != tt.attempts {
				t.Errorf("%d attempts, want %d", got, tt.attempts)
			}
		})
	}
}

func TestRetryDelay(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": 2 * time.Second, "7": 7 * time.Second, "0": 2 * time.Second, "-1": 2 * time.Second, "soon": 2 * time.Second, "86400": time.Minute,
	} {
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			w.Header().Set("Retry-After", header)
			replyError(w, 429, "invalid_request_error", "rate_limit", "Too many requests")
		})
		client := provider.client(t)
		_, status, asked := psp.Call(t.Context(), client, "get account", func(ctx context.Context, api *calls.API) (*stripe.Account, error) {
			return api.V1Accounts.Retrieve(ctx, nil)
		})
		if status != http.StatusTooManyRequests {
			t.Errorf("the status is %d", status)
		}
		for _, err := range []error{createProduct(t.Context(), client), asked} {
			busy, ok := errors.AsType[*fault.Error](err)
			if !ok || busy.Kind != fault.TooMany || busy.RetryAfter != want {
				t.Errorf("%q: %+v", header, err)
			}
		}
	}
}

// Stripe's two messages for a portal without saved settings. They have no code.
func TestPortalThatIsNotSetUp(t *testing.T) {
	t.Parallel()
	for message, unset := range map[string]bool{
		"No configuration provided and your test mode default configuration has not been created. Provide a configuration or create your default by saving your customer portal settings in test mode at https://dashboard.stripe.com/test/settings/billing/portal.": true,
		"You can’t create a portal session in test mode until you save your customer portal settings in test mode at https://dashboard.stripe.com/test/settings/billing/portal.":                                                                                     true,
		"Invalid URL: an explicit scheme (such as https) must be provided.": false,
	} {
		provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			replyError(w, 400, "invalid_request_error", "", message)
		})
		_, err := provider.client(t).CreatePortal(t.Context(), psp.PortalParams{Key: "k", CustomerID: "cus_1", ReturnURL: "https://app.test"})
		if errors.Is(err, psp.ErrPortalUnset) != unset || !errors.Is(err, psp.ErrRefused) {
			t.Errorf("%q: %v", message, err)
		}
	}
}

func TestIdempotencyKeyStaysTheSameOverRetries(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		switch n {
		case 1: // the connection breaks, so the outcome is unknown
			panic(http.ErrAbortHandler)
		case 2:
			replyError(w, 503, "api_error", "", "later")
		default:
			reply(w, 200, `{"id": "prod_1"}`)
		}
	})
	id, err := provider.client(t).CreateProduct(t.Context(), psp.ProductParams{
		Key: "stored-key", Name: "Team", Metadata: map[string]string{"plan": "team"},
	})
	if err != nil || id != "prod_1" {
		t.Fatalf("got %q, %v", id, err)
	}
	requests := provider.requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests, want 3", len(requests))
	}
	for _, r := range requests {
		if r.key != "stored-key" {
			t.Errorf("idempotency key %q", r.key)
		}
		if got := r.form.Get("metadata[plan]"); got != "team" {
			t.Errorf("the repeated body lacks the metadata: %v", r.form)
		}
	}
}

func TestProviderDecidesAboutRetrying(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Stripe-Should-Retry", "false")
		replyError(w, 500, "api_error", "", "kept for this key")
	})
	checkPSPError(t, createProduct(t.Context(), provider.client(t)))
	if got := len(provider.requests()); got != 1 {
		t.Errorf("%d attempts, want 1", got)
	}
}

func TestRequestsWithoutKeyOrIDAreNotSent(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, `{}`) })
	client := provider.client(t)
	calls := map[string]func(ctx context.Context) error{
		"write without key": func(ctx context.Context) error {
			_, err := client.CreateProduct(ctx, psp.ProductParams{Name: "Team"})
			return err
		},
		"customer without key": func(ctx context.Context) error {
			_, err := client.CreateCustomer(ctx, psp.CustomerParams{Name: "Acme"})
			return err
		},
		"read without id": func(ctx context.Context) error { _, err := client.GetPrice(ctx, ""); return err },
		"schedule without id": func(ctx context.Context) error {
			_, err := client.SetCancelAtPeriodEnd(ctx, "", true, "k")
			return err
		},
		"cancel without id": func(ctx context.Context) error { _, err := client.CancelSubscription(ctx, "", "k"); return err },
	}
	for name, call := range calls {
		if err := call(t.Context()); !errors.Is(err, psp.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := len(provider.requests()); got != 0 {
		t.Errorf("%d requests were sent", got)
	}
}

func TestRequestHeaders(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 200, `{"id": "prod_1"}`) })
	client := provider.client(t, func(c *psp.Config) { c.BaseURL += "/sandbox/stripe/" })
	for range 2 { // telemetry would report the previous request
		if err := createProduct(t.Context(), client); err != nil {
			t.Fatal(err)
		}
	}
	r := provider.requests()[1]
	if r.path != "/sandbox/stripe/v1/products" {
		t.Errorf("path %q", r.path)
	}
	if got := r.header.Get("Authorization"); got != "Bearer "+testKey {
		t.Errorf("authorization %q", got)
	}
	if got := r.header.Get("Stripe-Version"); got != psp.APIVersion {
		t.Errorf("version %q", got)
	}
	for _, name := range []string{"X-Stripe-Client-Telemetry", "X-Stripe-Client-User-Agent"} {
		if got := r.header.Get(name); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := r.header.Get("User-Agent"); !strings.HasPrefix(got, "Tenantry ") {
		t.Errorf("user agent %q", got)
	}
}

func TestTimeoutIncludesTheBody(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
	client := provider.client(t, func(c *psp.Config) { c.Timeout = 50 * time.Millisecond })
	err := createProduct(t.Context(), client)
	checkPSPError(t, err)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if got := len(provider.requests()); got != 1 {
		t.Errorf("%d attempts, want 1", got)
	}
}

func TestCancellationEndsThePauseBeforeARetry(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		replyError(w, 500, "api_error", "", "oops")
		time.AfterFunc(50*time.Millisecond, cancel)
	})
	client := provider.client(t, func(c *psp.Config) { c.RetryPause, c.Timeout = time.Hour, time.Hour })
	done := make(chan error, 1)
	go func() { done <- createProduct(ctx, client) }()
	select {
	case err := <-done:
		checkPSPError(t, err)
		if !strings.Contains(err.Error(), "status 500") {
			t.Errorf("error lacks the status of the last attempt: %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("still waiting to retry")
	}
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	client, err := psp.NewClient(psp.Config{SecretKey: testKey, BaseURL: "http://" + address, RetryPause: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	checkPSPError(t, createProduct(t.Context(), client))
}

func TestLogHasNoSecretsAndIsLoudAboutDefects(t *testing.T) {
	t.Parallel()
	var out lockedBuffer
	provider := newFake(t, func(w http.ResponseWriter, r *http.Request, n int) {
		switch n {
		case 1:
			replyError(w, 400, "invalid_request_error", "", "You sent "+r.Header.Get("Authorization"))
		case 2:
			reply(w, 200, "echo: "+r.Header.Get("Authorization"))
		default:
			reply(w, 200, `{"id": "prod_1", "name": "Private name"}`)
		}
	})
	client := provider.client(t, func(c *psp.Config) {
		c.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	if err := createProduct(t.Context(), client); err == nil {
		t.Error("no error")
	}
	if err := createProduct(t.Context(), client); err != nil {
		t.Error(err)
	}
	log := out.String()
	for _, secret := range []string{testKey, "Private name"} {
		if strings.Contains(log, secret) {
			t.Errorf("log contains %q:\n%s", secret, log)
		}
	}
	for _, want := range []string{"level=ERROR", `operation="create product"`, "level=DEBUG", "path=/v1/products", "request=req_1"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
