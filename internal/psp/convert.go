package psp

import (
	"time"

	"github.com/stripe/stripe-go/v85"
)

// idempotencyParams returns the parameters that make a write idempotent.
func idempotencyParams(key string) stripe.Params {
	return stripe.Params{IdempotencyKey: stripe.String(key)}
}

// stringOrNil returns nil for an empty parameter, which omits it. An empty string would erase the
// value at the provider.
func stringOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timeFromUnix converts the provider's Unix seconds. It returns the zero time for 0.
func timeFromUnix(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func timeFromUnixOrNil(seconds int64) *time.Time {
	if seconds == 0 {
		return nil
	}
	t := timeFromUnix(seconds)
	return &t
}
