package psp

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/stripe/stripe-go/v85"
)

// write is call for a write: it requires an idempotency key. Doing it twice must do no
// harm; another write is made with writeOnce.
func write[T any](
	ctx context.Context, c *Client, op, key string, f func(ctx context.Context) (T, error),
) (T, error) {
	return writeOnce(ctx, c, op, key, f, func(context.Context) (T, error) {
		var zero T
		return zero, ErrNotDone
	})
}

// writeOnce is write for what would do harm if it were done twice. done looks whether it
// was done: it returns what f would have, or ErrNotDone.
//
// For a day the provider repeats its first answer to a key, also when that was a failure
// (rules: psp#writes). Such an answer says nothing of what is possible now, and a failure
// of the provider's own not even whether anything was done. So then the write is looked
// for, and made under a key of its own if it was not done.
func writeOnce[T any](
	ctx context.Context, c *Client, op, key string,
	f func(ctx context.Context) (T, error), done func(ctx context.Context) (T, error),
) (T, error) {
	var zero T
	if key == "" {
		return zero, c.failure(ctx, op, errNoKey)
	}
	v, err := attempt(ctx, c, op, f)
	if isReplayed(err) {
		found, readErr := done(ctx)
		if !errors.Is(readErr, ErrNotDone) {
			return found, readErr
		}
		v, err = attempt(context.WithValue(ctx, otherKey{}, key+"-"+rand.Text()), c, op, f)
	}
	if err != nil {
		return zero, c.failure(ctx, op, err)
	}
	return v, nil
}

// Write is writeOnce for a package below this one, which says in the library's terms what
// it writes. done returns ErrNotDone where it was not done.
func Write[T any](
	ctx context.Context, c *Client, op, key string,
	f func(ctx context.Context, api *stripe.Client) (T, error), done func(ctx context.Context) (T, error),
) (T, error) {
	return writeOnce(ctx, c, op, key, func(ctx context.Context) (T, error) { return f(ctx, c.api) }, done)
}

// ErrNotDone says that a write was looked for and has no effect so far.
var ErrNotDone = errors.New("the write has not been done")

// wrapNotDone returns ErrNotDone for an object that does not exist.
func wrapNotDone(err error) error {
	if errors.Is(err, ErrNotFound) {
		return ErrNotDone
	}
	return err
}

// otherKey is where a context has the idempotency key that is sent in place of the
// write's own.
type otherKey struct{}

// isReplayed reports whether an error is the provider's repetition of its first answer to
// an idempotency key.
func isReplayed(err error) bool {
	var e *stripe.Error
	return errors.As(err, &e) && e.LastResponse != nil && e.LastResponse.Header.Get("Idempotent-Replayed") == "true"
}

// rekey sends the key that the context of a request has.
func rekey(r *http.Request) {
	if key, ok := r.Context().Value(otherKey{}).(string); ok {
		r.Header.Set("Idempotency-Key", key)
	}
}
