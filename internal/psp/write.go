package psp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"

	"github.com/stripe/stripe-go/v85"

	"github.com/tenantry/tenantry/internal/psp/calls"
)

// write is call for a write that is harmless to repeat. It requires an idempotency key. Use
// writeOnce for other writes.
func write[T any](
	ctx context.Context, c *Client, op, key string, f func(ctx context.Context) (T, error),
) (T, error) {
	return writeOnce(ctx, c, op, key, f, func(context.Context) (T, error) {
		var zero T
		return zero, ErrNotDone
	})
}

// maxKeys is the maximum number of idempotency keys that a repeated write is sent under.
const maxKeys = 10

// writeOnce is write for a write that must not be made twice. done looks the write up: it returns
// the result that f would have returned, or ErrNotDone.
//
// For a day, the provider replays its first answer to a key, even if that was a failure (rules:
// psp#writes). A replayed answer does not reflect the current state, and a replayed server error
// does not even say whether the write took effect. In that case writeOnce looks the write up, and
// makes it under the next key if it was not done.
//
// Invariant: callers that repeat the same write concurrently share the next keys, so the provider
// makes the write once, even if all of them read that it was not done. Only after maxKeys failures
// within a day does each caller use a separate key.
func writeOnce[T any](
	ctx context.Context, c *Client, op, key string,
	f func(ctx context.Context) (T, error), done func(ctx context.Context) (T, error),
) (T, error) {
	var zero T
	if key == "" {
		return zero, c.failure(ctx, op, errNoKey)
	}
	// wasStored reports whether the first answer of an attempt was a replay. Otherwise the attempt failed
	// now, and only its retries were replayed.
	try := func(ctx context.Context) (v T, wasStored bool, err error) {
		tries := 0
		v, err = attempt(ctx, c, op, func(ctx context.Context) (T, error) {
			v, err := f(ctx)
			if tries++; tries == 1 {
				wasStored = isReplayed(err)
			}
			return v, err
		})
		return v, wasStored, err
	}
	v, wasStored, err := try(ctx)
	for n := 2; isReplayed(err) && n <= maxKeys && (n == 2 || wasStored); n++ {
		found, readErr := done(ctx)
		if !errors.Is(readErr, ErrNotDone) {
			return found, readErr
		}
		next := fmt.Sprintf("%s-%d", key, n)
		if n == maxKeys {
			next = key + "-" + rand.Text() // never replayed
		}
		v, wasStored, err = try(context.WithValue(ctx, otherKey{}, next))
	}
	if err != nil {
		return zero, c.failure(ctx, op, err)
	}
	return v, nil
}

// Write is writeOnce for subpackages, which use the library's API directly. done returns ErrNotDone
// if the write was not done.
func Write[T any](
	ctx context.Context, c *Client, op, key string,
	f func(ctx context.Context, api *calls.API) (T, error), done func(ctx context.Context) (T, error),
) (T, error) {
	return writeOnce(ctx, c, op, key, func(ctx context.Context) (T, error) { return f(ctx, c.api) }, done)
}

// ErrNotDone means that a lookup found no effect of the write so far.
var ErrNotDone = errors.New("the request was not sent")

// wrapNotDone returns ErrNotDone for ErrNotFound, and other errors unchanged.
func wrapNotDone(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrNotDone
	}
	return err
}

// otherKey is the context key of the idempotency key that is sent instead of the write's own.
type otherKey struct{}

// isReplayed reports whether an error is a replay of the provider's first answer to an idempotency
// key, or says that the key was already used with other parameters. Neither says whether the write
// took effect (https://docs.stripe.com/api/idempotent_requests).
func isReplayed(err error) bool {
	var e *stripe.Error
	if !errors.As(err, &e) {
		return false
	}
	isOther := e.Type == stripe.ErrorTypeIdempotency && e.HTTPStatusCode == http.StatusBadRequest
	return isOther || e.LastResponse != nil && e.LastResponse.Header.Get("Idempotent-Replayed") == "true"
}

// rekey replaces the idempotency key of a request with the key in its context, if any.
func rekey(r *http.Request) {
	if key, ok := r.Context().Value(otherKey{}).(string); ok {
		r.Header.Set("Idempotency-Key", key)
	}
}
