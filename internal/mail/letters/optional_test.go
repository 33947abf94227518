package letters_test

import (
	"strings"
	"testing"

	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
)

// Only the enabled optional mails are sent.
func TestOptional(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		named            []string
		welcome, receipt bool
	}{{nil, false, false}, {[]string{"welcome"}, true, false}, {[]string{"receipt"}, false, true}, {letters.OptionalMails(), true, true}} {
		b := &box{}
		l, err := letters.New(letters.Config{FrontendURL: "https://app.example.test", Outbox: b, Optional: c.named})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Welcome(t.Context(), "it", to, "Ada"); err != nil || (b.To == to) != c.welcome {
			t.Errorf("%v: welcome %v: %v", c.named, b.To, err)
		}
		b.To = ""
		err = l.Receipt(t.Context(), "en", to, letters.Receipt{Tenant: "Acme", Number: "INV-1", Amount: money.Money{AmountCents: 1900, Currency: "EUR"}, MinorUnits: 2, PaidAt: now})
		if err != nil || (b.To == to) != c.receipt || l.SendsReceipts() != c.receipt {
			t.Errorf("%v: receipt %v: %v", c.named, b.To, err)
		}
		if c.receipt && (b.Subject != "Receipt for invoice INV-1" || !strings.Contains(b.Text, "€19.00") || strings.Contains(b.Text, "For:")) {
			t.Errorf("%s\n%s", b.Subject, b.Text)
		}
	}
	b := &box{}
	l, err := letters.New(letters.Config{FrontendURL: "https://app.example.test", Outbox: b, Optional: letters.OptionalMails(), Locales: []string{"en", "fr"}})
	if err != nil {
		t.Fatal(err)
	}
	for locale, subject := range map[string]string{"en": "Welcome to Tenantry", "fr": "Bienvenue sur Tenantry", "it": "Welcome to Tenantry"} {
		if err := l.Welcome(t.Context(), locale, to, "Ada"); err != nil || b.Subject != subject {
			t.Errorf("where English and French are offered, %s: %q: %v", locale, b.Subject, err)
		}
	}
	for name, fine := range map[string]bool{"welcome": true, "receipt": true, "invitation": false, "": false} {
		if err := letters.CheckOptional(name); (err == nil) != fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}
