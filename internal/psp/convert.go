package psp

import (
	"time"

	"github.com/stripe/stripe-go/v85"
)

// idempotencyParams returns the parameters that make a write idempotent.
func idempotencyParams(key string) stripe.Params {
	return stripe.Params{IdempotencyKey: stripe.String(key)}
}

// stringOrNil returns nil for an empty parameter, which leaves it out. Sent empty it
// would erase the value at the provider.
func stringOrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// timeFromUnix returns the time of the provider's Unix seconds, nil for 0.
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
