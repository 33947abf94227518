package psp_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/testkit"
)

// moody returns a provider that fails while down is set.
func moody(t *testing.T, changes ...func(*psp.Config)) (provider *fake, client *psp.Client, down *atomic.Bool) {
	t.Helper()
	down = &atomic.Bool{}
	down.Store(true)
	provider = newFake(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		switch {
		case r.FormValue("name") == "slow":
			<-r.Context().Done()
		case down.Load():
			replyError(w, 500, "api_error", "", "oops")
		default:
			reply(w, 200, `{"id": "prod_1"}`)
		}
	})
	short := func(c *psp.Config) {
		c.Retries, c.BreakerLimit, c.BreakerPause = -1, 3, 100*time.Millisecond
	}
	return provider, provider.client(t, append([]func(*psp.Config){short}, changes...)...), down
}

func TestBreakerOpensAndCloses(t *testing.T) {
	t.Parallel()
	provider, client, down := moody(t)
	for range 10 {
		checkPSPError(t, createProduct(t.Context(), client))
	}
	if got := len(provider.requests()); got != 3 {
		t.Fatalf("%d requests reached the provider, want 3", got)
	}

	// A failed trial call opens the breaker again.
	testkit.Eventually(t, "a trial call", func() bool {
		checkPSPError(t, createProduct(t.Context(), client))
		return len(provider.requests()) > 3
	})
	checkPSPError(t, createProduct(t.Context(), client))
	if got := len(provider.requests()); got != 4 {
		t.Fatalf("%d requests after a failed trial, want 4", got)
	}

	down.Store(false)
	testkit.Eventually(t, "a trial call that succeeds", func() bool { return createProduct(t.Context(), client) == nil })
	for range 4 {
		if err := createProduct(t.Context(), client); err != nil {
			t.Fatalf("still open: %v", err)
		}
	}
	if got := len(provider.requests()); got != 9 {
		t.Errorf("%d requests after a good trial, want 9", got)
	}
}

func TestBreakerIgnoresRefusals(t *testing.T) {
	t.Parallel()
	provider := newFake(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		replyError(w, 400, "invalid_request_error", "", "bad")
	})
	client := provider.client(t, func(c *psp.Config) { c.BreakerLimit, c.BreakerPause = 3, time.Hour })
	for range 10 {
		checkPSPError(t, createProduct(t.Context(), client))
	}
	if got := len(provider.requests()); got != 10 {
		t.Errorf("%d requests, want 10: refusals show that the provider works", got)
	}
}

// Callers that hang up neither open the breaker nor hide an outage of the provider, and a caller
// that hangs up during the trial call does not leave the breaker stuck.
func TestBreakerAndCallersThatGiveUp(t *testing.T) {
	t.Parallel()
	provider, client, down := moody(t)
	hangUp := func() { // after the request has arrived
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		sent := len(provider.requests())
		go func() {
			testkit.Eventually(t, "a request or its end", func() bool { return ctx.Err() != nil || len(provider.requests()) > sent })
			cancel()
		}()
		_, err := client.CreateProduct(ctx, psp.ProductParams{Key: "k", Name: "slow"})
		checkPSPError(t, err)
	}
	for range 4 {
		hangUp()
	}
	if got := len(provider.requests()); got != 4 {
		t.Fatalf("%d requests, want 4: giving up tripped the breaker", got)
	}
	for range 3 {
		checkPSPError(t, createProduct(t.Context(), client))
		hangUp()
	}
	sent := len(provider.requests())
	checkPSPError(t, createProduct(t.Context(), client))
	if got := len(provider.requests()); got != sent {
		t.Fatalf("giving up hid three failures in a row")
	}

	down.Store(false)
	testkit.Eventually(t, "a trial call that is given up", func() bool {
		sent := len(provider.requests())
		hangUp()
		return len(provider.requests()) > sent
	})
	testkit.Eventually(t, "a closed breaker", func() bool { return createProduct(t.Context(), client) == nil })
}

// A deadline of the caller that cuts a call short does not open the breaker. A call that had enough
// time counts as an outage.
func TestBreakerAndDeadlinesOfCallers(t *testing.T) {
	t.Parallel()
	provider, client, _ := moody(t, func(c *psp.Config) { c.BreakerPause = time.Hour })
	callFor := func(limit time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		_, err := client.CreateProduct(ctx, psp.ProductParams{Key: "k", Name: "slow"})
		checkPSPError(t, err)
	}
	together := func(limit time.Duration) {
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() { callFor(limit) })
		}
		calls.Wait()
	}
	together(50 * time.Millisecond)
	together(1500 * time.Millisecond)
	if got := len(provider.requests()); got != 6 {
		t.Errorf("%d requests, want 6: short deadlines opened the breaker", got)
	}
	callFor(300 * time.Millisecond)
	if got := len(provider.requests()); got != 6 {
		t.Errorf("%d requests, want 6: a provider that does not respond did not open the breaker", got)
	}
}
