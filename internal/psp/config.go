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

// Config configures the connection to the provider. Only SecretKey is required. Other zero values
// mean the default.
type Config struct {
	// SecretKey authenticates the service. It is never logged.
	SecretKey string
	// BaseURL is the part of the URL before /v1. It is empty for Stripe's own address, or an
	// absolute http or https URL, which can have a path (http://127.0.0.1:8080/sandbox/stripe).
	BaseURL string
	// Transport sends the requests, for example to trace them. Nil uses a default transport with
	// ConnectTimeout. A given transport has its own limits.
	Transport http.RoundTripper
	// Log receives the errors between the service and the provider and, at debug level, each
	// request. Nil discards them.
	Log *slog.Logger
	// Observe is called when a call to the provider begins. The call uses the returned context. The
	// returned function is called with the outcome: "answered", "outage" or "abandoned". Nil
	// observes nothing.
	Observe func(ctx context.Context, operation string) (context.Context, func(outcome string))
	// Decimals returns the decimals of a currency in this service. Nil uses the provider's
	// decimals.
	Decimals charge.Decimals
	// Timeout limits a whole call, including its retries.
	Timeout time.Duration
	// ConnectTimeout limits connecting and, separately, the TLS handshake.
	ConnectTimeout time.Duration
	// Retries is the maximum number of retries of a call. Negative means none.
	Retries int
	// RetryPause is the pause before the first retry. It doubles with each retry and is randomized
	// by half, so that instances do not retry in step.
	RetryPause time.Duration
	// BreakerLimit is the number of consecutive outages that opens the circuit breaker.
	BreakerLimit int
	// BreakerPause is how long the circuit breaker stays open before a trial call.
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

// checkKey returns an error if the text cannot be a key. The error must not contain the text.
func checkKey(key string) error {
	if key == "" {
		return errors.New("psp: the provider's secret key is empty")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("psp: the provider's secret key contains spaces or other invalid characters")
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
		return nil, errors.New("psp: the provider's base URL must not have a user, query or fragment")
	}
	base.Path = strings.TrimRight(base.Path, "/")
	return base, nil
}
