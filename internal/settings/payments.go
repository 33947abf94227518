package settings

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/money"
)

const (
	maxGraceDays       = 30
	minPaymentAttempts = 2
	maxPaymentAttempts = 9

	earliestReminder = -180
	latestReminder   = 365
)

// payments reads the settings for late payments.
func (p *parser) payments(f PaymentFlags, s *Settings) {
	days, ok := wholeNumber(f.PastDueGrace, 0, maxGraceDays)
	if !ok {
		p.fail("TENANTRY_PAST_DUE_GRACE_DAYS", "%q is not a number of days from 0 to %d", f.PastDueGrace, maxGraceDays)
	}
	s.PastDueGrace = time.Duration(days) * 24 * time.Hour
	if s.PaymentAttempts, ok = wholeNumber(f.PaymentAttempts, minPaymentAttempts, maxPaymentAttempts); !ok {
		p.fail("TENANTRY_PAYMENT_ATTEMPTS", "%q is not a number from %d to %d", f.PaymentAttempts, minPaymentAttempts, maxPaymentAttempts)
	}
	if s.BaseCurrency, ok = money.ParseCurrency(f.BaseCurrency); !ok && f.BaseCurrency != "" {
		p.fail("TENANTRY_BASE_CURRENCY", "%q is not a currency code such as EUR", f.BaseCurrency)
	}
	if s.InvoiceReminders, ok = invoiceReminders(f.InvoiceReminders); !ok {
		p.fail("TENANTRY_INVOICE_REMINDERS", "%q is neither off nor a list of different days from %d to %d", f.InvoiceReminders, earliestReminder, latestReminder)
	}
}

// invoiceReminders reads the days of reminders. It returns nil, which means the default, for an empty
// value.
func invoiceReminders(value string) (days []int, ok bool) {
	switch value {
	case "":
		return nil, true
	case "off":
		return []int{}, true
	}
	for text := range strings.SplitSeq(value, ",") {
		text = strings.TrimSpace(text)
		n, err := strconv.Atoi(text)
		if err != nil || strconv.Itoa(n) != text || n < earliestReminder || n > latestReminder || slices.Contains(days, n) {
			return nil, false
		}
		days = append(days, n)
	}
	return days, true
}

// wholeNumber reads a number within the limits, without a sign or leading zeros. An empty value is
// valid and 0.
func wholeNumber(value string, least, most int) (n int, ok bool) {
	if value == "" {
		return 0, true
	}
	n, err := strconv.Atoi(value)
	if err != nil || strconv.Itoa(n) != value || n < least || n > most {
		return 0, false
	}
	return n, true
}
