package psp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/psp/charge"
	"github.com/tenantry/tenantry/internal/safehttp"
)

// The defaults of Config.
const (
	DefaultTimeout        = 20 * time.Second
	DefaultConnectTimeout = 5 * time.Second
	DefaultRetries        = 2
	DefaultRetryPause     = 300 * time.Millisecond
	DefaultBreakerLimit   = 5
	DefaultBreakerPause   = 10 * time.Second
)

// Config says how to reach the provider. Only SecretKey is required; every other
// zero value stands for its default.
type Config struct {
	// SecretKey authenticates the service. It is never logged.
	SecretKey string
	// BaseURL is what comes before /v1: empty for Stripe's own address, else an
	// absolute http(s) URL, which may have a path (http://127.0.0.1:8080/sandbox/stripe).
	BaseURL string
	// Transport carries the requests, for instance to trace them. Nil stands for
	// one with ConnectTimeout; a given one brings its own limits.
	Transport http.RoundTripper
	// Log receives what goes wrong between the service and the provider, and at
	// level debug each request. Nil discards.
	Log *slog.Logger
	// Observe is called when a call to the provider begins, which then has the context that
	// it returns. The function that it returns is called with the outcome: "answered",
	// "outage" or "abandoned". Nil observes nothing.
	Observe func(ctx context.Context, operation string) (context.Context, func(outcome string))
	// Decimals says how amounts are counted here. Nil counts them as the provider does.
	Decimals charge.Decimals
	// Timeout bounds a whole call, its retries included.
	Timeout time.Duration
	// ConnectTimeout bounds connecting and, again, the TLS handshake.
	ConnectTimeout time.Duration
	// Retries is how often a call that may succeed on another try is repeated;
	// negative for never.
	Retries int
	// RetryPause is the pause before the first retry. It doubles with each and
	// varies by half, so that several instances don't come back in step.
	RetryPause time.Duration
	// BreakerLimit is how many calls in a row have to find the provider out of order
	// before further ones fail at once.
	BreakerLimit int
	// BreakerPause is how long calls then fail at once, before one tries again.
	BreakerPause time.Duration
}

func (c Config) withDefaults() Config {
	orDefault(&c.Timeout, DefaultTimeout)
	orDefault(&c.ConnectTimeout, DefaultConnectTimeout)
	orDefault(&c.Retries, DefaultRetries)
	orDefault(&c.RetryPause, DefaultRetryPause)
	orDefault(&c.BreakerLimit, DefaultBreakerLimit)
	orDefault(&c.BreakerPause, DefaultBreakerPause)
	c.Retries = max(c.Retries, 0)
	if c.Observe == nil {
		c.Observe = func(ctx context.Context, _ string) (context.Context, func(string)) { return ctx, func(string) {} }
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

func orDefault[T comparable](field *T, fallback T) {
	var zero T
	if *field == zero {
		*field = fallback
	}
}

// checkKey returns an error for a text that cannot be a key. The error must not
// repeat the text.
func checkKey(key string) error {
	if key == "" {
		return errors.New("psp: the provider's secret key is empty")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("psp: the provider's secret key contains spaces or other characters that a key cannot have")
	}
	return nil
}

func parseBase(raw, fallback string) (*url.URL, error) {
	if raw == "" {
		raw = fallback
	}
	base, err := url.Parse(raw)
	if err != nil || base.Hostname() == "" || (base.Scheme != "http" && base.Scheme != "https") || !safehttp.HasValidPort(base) {
		return nil, errors.New("psp: the provider's base URL must be an absolute http or https URL")
	}
	if base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("psp: the provider's base URL must have neither user, query nor fragment")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	return base, nil
}
