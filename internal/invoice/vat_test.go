package invoice_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/invoice"
	"github.com/tenantry/tenantry/internal/money"
)

func TestInUnion(t *testing.T) {
	t.Parallel()
	for country, want := range map[string]bool{
		"DE": true,
		"FR": true,
		"EL": true, // how the VAT numbers of Greece begin
		"GR": true,
		"SK": true,
		"GB": false,
		"CH": false,
		"US": false,
		"":   false,
		" ":  false,
		"D":  false,
		"de": false,
	} {
		if got := invoice.InUnion(country); got != want {
			t.Errorf("%q: %v", country, got)
		}
	}
}

func TestHome(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"DE123456789":    "DE",
		" fr12345678901": "FR",
		"B12345678":      "B1",
		"1":              "1",
		"":               "",
	} {
		if got := invoice.Home(number); got != want {
			t.Errorf("%q: %q, want %q", number, got, want)
		}
	}
}

func TestReverseCharge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		seller, payer string
		tax, total    int64
		want          bool
	}{
		"two members":             {"DE123456789", "FR12345678901", 0, 900, true},
		"lower case":              {"de123456789", "fr12345678901", 0, 900, true},
		"a credit":                {"DE123456789", "FR12345678901", 0, -900, true},
		"with tax":                {"DE123456789", "FR12345678901", 100, 900, false},
		"nothing is owed":         {"DE123456789", "FR12345678901", 0, 0, false},
		"one country":             {"DE123456789", "DE987654321", 0, 900, false},
		"payer out of the union":  {"DE123456789", "GB123456789", 0, 900, false},
		"seller out of the union": {"CHE123456789", "FR12345678901", 0, 900, false},
		"payer without a number":  {"DE123456789", "", 0, 900, false},
		"seller without one":      {"", "FR12345678901", 0, 900, false},
		"numbers without country": {"B12345678", "12345678Z", 0, 900, false},
	} {
		s := invoice.Statement{Seller: invoice.Seller{VATNumber: c.seller}, VATNumber: c.payer}
		s.Invoice.Tax, s.Invoice.Total = money.Money{AmountCents: c.tax, Currency: "EUR"}, money.Money{AmountCents: c.total, Currency: "EUR"}
		if got := s.ReverseCharge(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
