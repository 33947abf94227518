// Package psp talks to the payment provider. It contains the API client. Its subpackages receive
// notifications, download documents and check the account. Only these packages use Stripe's
// library. Their functions take and return their own plain types, so that domains do not depend on
// a wire format.
//
// Callers must follow these rules (rules: psp#writes). Every write carries an idempotency key that
// was stored beforehand, so that a retry sends the same write. A write that fails with an error
// other than ErrRefused, ErrDeclined or ErrNotFound has an unknown outcome, which is settled by a
// retry or by reading back. No call is made inside a database transaction.
package psp

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/breaker"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp/calls"
	"github.com/tenantry/tenantry/internal/psp/charge"
)

// APIVersion is the version of the provider's API that this package uses. The library pins it. A
// test checks that both are equal, so that a library update cannot change the wire format
// unnoticed.
const APIVersion = "2026-05-27.dahlia"

// Client calls the provider. It is safe for concurrent use. Every error of its methods can be
// returned to an HTTP caller as it is (see ErrUnavailable).
type Client struct {
	api      *calls.API
	log      *slog.Logger
	secret   string
	timeout  time.Duration
	observe  func(ctx context.Context, operation string) (context.Context, func(outcome string))
	decimals charge.Decimals
	retries  int
	pause    time.Duration // before the first retry
	breaker  *breaker.Breaker
}

// NewClient creates a client. It makes no request. It returns an error if the key or the base URL
// is invalid.
func NewClient(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := checkKey(cfg.SecretKey); err != nil {
		return nil, err
	}
	base, err := parseBase(cfg.BaseURL, stripe.APIURL)
	if err != nil {
		return nil, err
	}
	backends := stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		HTTPClient: &http.Client{
			Transport: newTransport(base, cfg),
			// The API never redirects. Following a redirect would send the key along.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		URL: stripe.String(base.Scheme + "://" + base.Host),
		// The library logs whole responses and parts of secrets, its telemetry reports call
		// durations to the provider, and its retries ignore a canceled context. All three are off.
		// attempt does the retries.
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull},
		EnableTelemetry:   stripe.Bool(false),
		MaxNetworkRetries: stripe.Int64(0),
	})
	c := &Client{
		api:      calls.New(cfg.SecretKey, backends),
		log:      cfg.Log,
		secret:   cfg.SecretKey,
		timeout:  cfg.Timeout,
		observe:  cfg.Observe,
		decimals: cfg.Decimals,
		retries:  cfg.Retries,
		pause:    cfg.RetryPause,
	}
	c.breaker = breaker.New(breaker.Config{
		Failures: cfg.BreakerLimit, Pause: cfg.BreakerPause, Jitter: 0.1,
		OnOpen: func() {
			c.log.Warn("circuit breaker open: payment provider unavailable", "for", cfg.BreakerPause.String())
		},
		OnClose: func() { c.log.Info("circuit breaker closed: payment provider available") },
	})
	return c, nil
}

// call makes one call to the provider, within the time limit. It retries as long as that can help,
// and fails fast while the circuit breaker is open. f can run several times and must send the same
// request each time. op names the operation.
func call[T any](ctx context.Context, c *Client, op string, f func(ctx context.Context) (T, error)) (T, error) {
	v, err := attempt(ctx, c, op, f)
	if err != nil {
		return v, c.failure(ctx, op, err)
	}
	return v, nil
}

// attempt is call without the conversion of the error.
func attempt[T any](ctx context.Context, c *Client, op string, f func(ctx context.Context) (T, error)) (T, error) {
	var v, zero T
	err := c.attempt(ctx, op, func(ctx context.Context) (err error) {
		v, err = f(ctx)
		return err
	})
	if err != nil {
		return zero, err
	}
	return v, nil
}

func (c *Client) attempt(ctx context.Context, op string, f func(ctx context.Context) error) error {
	ctx, done := c.observe(ctx, op)
	if !c.breaker.Allow() {
		done(outage.String())
		return breaker.ErrOpen
	}
	// Release the permit even if f panics.
	verdict := outage
	defer func() {
		c.record(verdict)
		done(verdict.String())
	}()

	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	machine := clock.System() // like the breaker's
	began := machine.Now()
	var last error
	ran := false
	err := c.retry(limited, func() error {
		ran = true
		before := last
		last = f(limited)
		if before == nil || !isReplayed(last) {
			verdict = classifyCall(ctx, last, machine.Now().Sub(began)) // a replayed answer contains no new information
		}
		return last
	})
	if ran {
		return last // more specific than the timeout
	}
	verdict = classifyCall(ctx, err, machine.Now().Sub(began))
	return err
}

// retry runs f until it succeeds, its error is permanent, or the retries are used up. It returns the
// last error of f, or the error of ctx if ctx ends first. Pauses double, up to 16 times the first
// one, and vary by half.
func (c *Client) retry(ctx context.Context, f func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		err := f()
		if i >= c.retries || !isRetryable(err) {
			return err
		}
		pause := c.pause << min(i, 4)
		pause = pause/2 + time.Duration(rand.Float64()*float64(pause)) //nolint:gosec // It only spreads load.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// read is call for a single object. An empty ID would request the whole list.
func read[T any](ctx context.Context, c *Client, op, id string, f func(ctx context.Context) (T, error)) (T, error) {
	if id == "" {
		var zero T
		return zero, c.failure(ctx, op, errNoID)
	}
	return call(ctx, c, op, f)
}

// Call is call for subpackages, which use the library's API directly. status is the HTTP status of
// the provider's error response, or 0 if there is none.
func Call[T any](
	ctx context.Context, c *Client, op string, f func(ctx context.Context, api *calls.API) (T, error),
) (v T, status int, err error) {
	v, err = attempt(ctx, c, op, func(ctx context.Context) (T, error) { return f(ctx, c.api) })
	if err == nil {
		return v, 0, nil
	}
	if refusal, ok := errors.AsType[*stripe.Error](err); ok {
		status = refusal.HTTPStatusCode
	}
	return v, status, wrapUnavailable(op, err, c.cause(err))
}

func (c *Client) record(v verdict) {
	switch v {
	case answered:
		c.breaker.Succeed()
	case outage:
		c.breaker.Fail()
	case unknown:
		c.breaker.Abandon()
	}
}

var (
	errNoKey = errors.New("write request without an idempotency key")
	errNoID  = errors.New("request for an object without its ID")
)
