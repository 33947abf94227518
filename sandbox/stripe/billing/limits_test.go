package billing_test

import (
	"testing"

	"github.com/tenantry/tenantry/sandbox/stripe/billing"
)

// The limits are from Stripe's list of currencies.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		currency       string
		least, highest int64
		step           int64
	}{
		{"aed", 200, 99_999_999, 1},
		{"aud", 50, 99_999_999, 1},
		{"bgn", 100, 99_999_999, 1},
		{"brl", 50, 99_999_999, 1},
		{"cad", 50, 99_999_999, 1},
		{"chf", 50, 99_999_999, 1},
		{"czk", 1500, 99_999_999, 1},
		{"dkk", 250, 99_999_999, 1},
		{"eur", 50, 99_999_999, 1},
		{"gbp", 30, 99_999_999, 1},
		{"hkd", 400, 99_999_999, 1},
		{"huf", 17500, 99_999_999, 1},
		{"idr", 0, 999_999_999_999, 1},
		{"inr", 50, 99_999_999, 1},
		{"isk", 0, 99_999_999, 100},
		{"jpy", 50, 99_999_999, 1},
		{"kwd", 0, 99_999_999, 10},
		{"mxn", 1000, 99_999_999, 1},
		{"myr", 200, 99_999_999, 1},
		{"nok", 300, 99_999_999, 1},
		{"nzd", 50, 99_999_999, 1},
		{"omr", 0, 99_999_999, 10},
		{"pln", 200, 99_999_999, 1},
		{"ron", 200, 99_999_999, 1},
		{"sek", 300, 99_999_999, 1},
		{"sgd", 50, 99_999_999, 1},
		{"thb", 1000, 99_999_999, 1},
		{"ugx", 0, 99_999_999, 100},
		{"usd", 50, 99_999_999, 1},
	} {
		if got := billing.MinAmount(c.currency); got != c.least {
			t.Errorf("%s: at least %d, want %d", c.currency, got, c.least)
		}
		if got := billing.MaxAmount(c.currency); got != c.highest {
			t.Errorf("%s: at most %d, want %d", c.currency, got, c.highest)
		}
		if got := billing.Step(c.currency); got != c.step {
			t.Errorf("%s: in steps of %d, want %d", c.currency, got, c.step)
		}
	}
}
