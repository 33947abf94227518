package letters_test

import (
	"context"
	"flag"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
)

var update = flag.Bool("update", false, "update the golden files")

// now is the first day of a month, which has a special form in some languages.
var now = time.Date(2026, 5, 1, 8, 5, 59, 0, time.UTC)

// box stores the last message.
type box struct{ mail.Message }

func (b *box) Enqueue(_ context.Context, m mail.Message) error {
	b.Message = m
	return m.Validate()
}

func newLetters(t *testing.T, frontend string) (*letters.Letters, *box) {
	t.Helper()
	b := &box{}
	l, err := letters.New(letters.Config{FrontendURL: frontend, Outbox: b, Optional: letters.OptionalMails(), Clock: clock.NewFixed(now)})
	if err != nil {
		t.Fatal(err)
	}
	return l, b
}

const to = "ada+x@example.test"

func TestLetters(t *testing.T) {
	t.Parallel()
	for _, locale := range i18n.Locales() {
		l, _ := newLetters(t, "https://app.example.test/")
		for _, mail := range letters.Mails() {
			name := mail.Name
			b, err := l.Preview(t.Context(), name, locale)
			if err != nil {
				t.Fatal(err)
			}
			if b.To != to || strings.ContainsAny(b.Subject+b.Text, "{}") || strings.Contains(b.HTML, "{app}") {
				t.Errorf("%s in %s: to %q with a variable left: %s\n%s", name, locale, b.To, b.Subject, b.Text)
			}
			golden(t, name+"."+locale+".txt", b.Subject+"\n\n"+b.Text)
			golden(t, name+"."+locale+".html", b.HTML)
		}
	}
}

// Without password logins, mails do not mention resets and lead to the sign-in page.
func TestPasswordlessLetters(t *testing.T) {
	t.Parallel()
	for _, locale := range i18n.Locales() {
		l, err := letters.New(letters.Config{FrontendURL: "https://app.example.test", Passwordless: true, Clock: clock.NewFixed(now)})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{
			"new_owner", "email_change", "password_changed", "factor_added", "factor_removed", "recovery_codes_generated", "recovery_codes_low",
			"new_login", "sso_exempt_login",
		} {
			m, err := l.Preview(t.Context(), name, locale)
			if err != nil {
				t.Fatal(err)
			}
			if links := hrefs(m.HTML); !cmp.Equal(links, []string{"https://app.example.test/"}) {
				t.Errorf("%s in %s links to %q", name, locale, links)
			}
			golden(t, name+"."+locale+".passwordless.txt", m.Subject+"\n\n"+m.Text)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: -want +got\n%s", file, diff)
	}
}

// Every locale has all texts, with the same variables.
func TestLocalesAreComplete(t *testing.T) {
	t.Parallel()
	l, _ := newLetters(t, "")
	want := l.Variables(i18n.Default)
	if len(want) < 50 {
		t.Fatalf("only %d texts were found", len(want))
	}
	for _, locale := range i18n.Locales()[1:] {
		if diff := cmp.Diff(want, l.Variables(locale)); diff != "" {
			t.Errorf("%s and %s: -want +got\n%s", i18n.Default, locale, diff)
		}
	}
}

func TestAnUnknownLocaleIsTheDefault(t *testing.T) {
	t.Parallel()
	l, b := newLetters(t, "https://app.example.test")
	if err := l.PasswordReset(t.Context(), "tlh", to, "Ada", "t"); err != nil || b.Subject != "Reset your password" {
		t.Errorf("%q, %v", b.Subject, err)
	}
}

// In practice mode, each subject begins with the word for it in the mail's language.
func TestPracticeIsInTheSubject(t *testing.T) {
	t.Parallel()
	b := &box{}
	l, err := letters.New(letters.Config{FrontendURL: "https://app.example.test", Practice: true, Outbox: b, Clock: clock.NewFixed(now)})
	if err != nil {
		t.Fatal(err)
	}
	for locale, want := range map[string]string{
		"en": "[Practice] Reset your password", "es": "[Práctica] ", "it": "[Esercitazione] ", "fr": "[Entraînement] ",
	} {
		if err := l.PasswordReset(t.Context(), locale, to, "Ada", "t"); err != nil || !strings.HasPrefix(b.Subject, want) || len(b.Subject) < len("[Practice] Reset") {
			t.Errorf("%s: %q, %v", locale, b.Subject, err)
		}
		if strings.Contains(b.Text, strings.TrimSpace(want)) {
			t.Errorf("%s: the text repeats the word: %s", locale, b.Text)
		}
	}
}

func TestLinksAreEscaped(t *testing.T) {
	t.Parallel()
	l, b := newLetters(t, "https://app.example.test/base")
	for want, write := range map[string]func(ctx context.Context) error{
		"https://app.example.test/base/reset-password?token=a%26b%3D%2F%22&email=o%27brien%2B%26x%40example.test": func(ctx context.Context) error {
			return l.PasswordReset(ctx, "en", "o'brien+&x@example.test", "Ada", `a&b=/"`)
		},
		"https://app.example.test/base/invitations/a%2F..%2Fb%3Fc%22%3E": func(ctx context.Context) error {
			return l.Invitation(ctx, "en", to, letters.Invitation{Token: `a/../b?c">`})
		},
	} {
		if err := write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.Text, "\n"+want+"\n") {
			t.Errorf("want %s in\n%s", want, b.Text)
		}
		if links := hrefs(b.HTML); !cmp.Equal(links, []string{want}) {
			t.Errorf("links to %q, want %q", links, want)
		}
	}
}

// hrefs returns the links of an HTML mail.
func hrefs(mail string) (links []string) {
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(mail, -1) {
		links = append(links, html.UnescapeString(m[1]))
	}
	return links
}

// If the payment can be made through a link, the button says so, with the amount on one line.
func TestAFailedPaymentCanBePaid(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{
		"en": "Pay €1,234.50 now", "fr": "Payer 1\u202f234,50\u00a0€ maintenant", "es": "Pagar 1.234,50\u00a0€ ahora", "it": "Paga 1.234,50\u00a0€ ora",
	} {
		l, b := newLetters(t, "https://app.example.test")
		err := l.PaymentFailed(t.Context(), locale, to, letters.PaymentFailed{
			Tenant: "Acme", Plan: "Team", Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2, PaymentURL: "https://pay.example.test/in_1",
		})
		if err != nil || !strings.Contains(b.HTML, `<a href="https://pay.example.test/in_1">`+want+"</a>") || !strings.Contains(b.Text, want) {
			t.Errorf("%s: %v, no %q in %s", locale, err, want, b.HTML)
		}
	}
}

// Samples show long names without cutting them in the body, and leave codes and numbers alone.
func TestSamplesWithLongNames(t *testing.T) {
	t.Parallel()
	l, _ := newLetters(t, "https://app.example.test")
	for name, want := range map[string]string{"invitation": "-Datenverarbeitung 7” on", "email_code": "04813957", "invoice": "INV-"} {
		m, err := l.Sample(t.Context(), name, "en", "long")
		if err != nil || !strings.Contains(m.Text, want) || !strings.Contains(m.Text, "Gesellschaft") {
			t.Errorf("%s: %v, no %q in %s", name, err, want, m.Text)
		}
	}
	if m, err := l.Sample(t.Context(), "invitation", "en", "sparse"); err != nil || strings.Contains(m.Text, "Invited by") {
		t.Errorf("%v: %s", err, m.Text)
	}
}
