package psp

import (
	"time"

	"github.com/stripe/stripe-go/v85"
)

// keyed is the part of a write's parameters that makes it idempotent.
func keyed(key string) stripe.Params {
	return stripe.Params{IdempotencyKey: stripe.String(key)}
}

// optional leaves a parameter out when it is empty: sent empty it would erase.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// at reads the provider's seconds; 0 stands for none.
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
