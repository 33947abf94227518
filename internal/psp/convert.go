package psp

import (
	"time"

	"github.com/stripe/stripe-go/v85"
)

// keyed returns the parameters that make a write idempotent.
func keyed(key string) stripe.Params {
	return stripe.Params{IdempotencyKey: stripe.String(key)}
}

// optional returns nil for an empty parameter, which leaves it out. Sent empty it
// would erase the value at the provider.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// at returns the time of the provider's Unix seconds, nil for 0.
func at(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

func atOrNil(seconds int64) *time.Time {
	if seconds == 0 {
		return nil
	}
	t := at(seconds)
	return &t
}
