package money_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/money"
)

// A currency code has three ASCII letters in either case.
func TestParseCurrency(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"EUR": "EUR", "eur": "EUR", "uSd": "USD"} {
		if got, ok := money.ParseCurrency(text); got != want || !ok {
			t.Errorf("%q: %q, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "eu", "euro", "e1r", "e r", "ſek", "eu€", "[AB", "@ab"} {
		if got, ok := money.ParseCurrency(text); ok {
			t.Errorf("%q: %q", text, got)
		}
	}
}
