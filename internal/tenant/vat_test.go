package tenant

import (
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/vat"
)

// Directive 2006/112/EC, articles 44 and 196: between two member states the customer owes the tax.
// A registry that is unavailable changes nothing for 30 days.
func TestReverseCharge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	ago := func(days int) *time.Time { at := now.Add(-time.Duration(days) * 24 * time.Hour); return &at }
	for name, c := range map[string]struct {
		seller, country string
		check           VATCheck
		want            bool
	}{
		"valid":                      {"DE", "FR", VATCheck{Status: vat.StatusValid, ValidAt: ago(100)}, true},
		"Greece":                     {"GR", "FR", VATCheck{Status: vat.StatusValid}, true},
		"to Greece":                  {"FR", "GR", VATCheck{Status: vat.StatusValid}, true},
		"one member":                 {"FR", "FR", VATCheck{Status: vat.StatusValid}, false},
		"seller outside the union":   {"GB", "FR", VATCheck{Status: vat.StatusValid}, false},
		"no seller":                  {"", "FR", VATCheck{Status: vat.StatusValid}, false},
		"customer outside":           {"DE", "CH", VATCheck{Status: vat.StatusValid}, false},
		"customer without country":   {"DE", "", VATCheck{Status: vat.StatusValid}, false},
		"pending":                    {"DE", "FR", VATCheck{Status: vat.StatusPending}, false},
		"invalid":                    {"DE", "FR", VATCheck{Status: vat.StatusInvalid}, false},
		"none":                       {"DE", "FR", VATCheck{Status: vat.StatusNone}, false},
		"unknown":                    {"DE", "FR", VATCheck{Status: vat.StatusUnknown}, false},
		"unknown, valid before":      {"DE", "FR", VATCheck{Status: vat.StatusUnknown, ValidAt: ago(30)}, true},
		"unknown, valid long before": {"DE", "FR", VATCheck{Status: vat.StatusUnknown, ValidAt: ago(31)}, false},
	} {
		tenant := Tenant{Billing: BillingDetails{Country: &c.country}, VAT: c.check}
		if got := tenant.ReverseCharge(c.seller, now); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
