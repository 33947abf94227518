package settings_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
)

// The base currency is in upper or lower case, and stored in upper case.
func TestBaseCurrency(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"": "", "EUR": "EUR", "eur": "EUR", "Usd": "USD"} {
		got, err := settings.DevFlags{PaymentFlags: settings.PaymentFlags{BaseCurrency: value}}.Settings(env(nil))
		if err != nil || got.BaseCurrency != want {
			t.Errorf("%q: %q, %v", value, got.BaseCurrency, err)
		}
	}
	for _, value := range []string{"EU", "EURO", "E1R", "ſek", "€"} {
		_, err := settings.DevFlags{PaymentFlags: settings.PaymentFlags{BaseCurrency: value}}.Settings(env(nil))
		if err == nil || !strings.Contains(err.Error(), "TENANTRY_BASE_CURRENCY: ") {
			t.Errorf("%q is accepted: %v", value, err)
		}
	}
}
