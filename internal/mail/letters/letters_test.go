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

var update = flag.Bool("update", false, "write the golden files anew")

// now is the first of a month, which some languages write in their own way.
var now = time.Date(2026, 5, 1, 8, 5, 59, 0, time.UTC)

// box keeps the last message.
type box struct{ mail.Message }

func (b *box) Enqueue(_ context.Context, m mail.Message) error {
	b.Message = m
	return m.Validate()
}

func newLetters(t *testing.T, frontend string) (*letters.Letters, *box) {
	t.Helper()
	b := &box{}
	l, err := letters.New(letters.Config{FrontendURL: frontend, AppName: "Tenantry", Outbox: b, Clock: clock.NewFixed(now)})
	if err != nil {
		t.Fatal(err)
	}
	return l, b
}

const to = "ada+x@example.test"

// samples has every letter with typical values.
func samples(l *letters.Letters) map[string]func(ctx context.Context, locale string) error {
	alert := letters.QuotaAlert{
		Tenant: "Acme", Meter: "Storage", Unit: "GB", Current: money.Total{Units: 80, Millionths: 500_000}, Limit: 100, Percent: 80, PeriodEnd: now.AddDate(0, 1, 12),
	}
	reached := alert
	reached.Percent, reached.Current, reached.Unit, reached.PeriodEnd = 100, money.Total{Units: 1_234_567, Millionths: 1}, "", time.Time{}
	return map[string]func(context.Context, string) error{
		"invitation": func(ctx context.Context, locale string) error {
			return l.Invitation(ctx, locale, to, letters.Invitation{
				Token: "t0ken", Tenant: "Acme & Sons", Inviter: "Grace Hopper", Role: "admin", ExpiresAt: now.AddDate(0, 0, 7),
			})
		},
		"password_reset": func(ctx context.Context, locale string) error {
			return l.PasswordReset(ctx, locale, to, "Ada Lovelace", "t0ken")
		},
		"password_changed": func(ctx context.Context, locale string) error {
			return l.PasswordChanged(ctx, locale, to, "Ada Lovelace")
		},
		"verify_email": func(ctx context.Context, locale string) error {
			return l.VerifyEmail(ctx, locale, to, "Ada Lovelace", "t0ken")
		},
		"email_change": func(ctx context.Context, locale string) error {
			return l.EmailChange(ctx, locale, to, "Ada Lovelace")
		},
		"quota_near":    func(ctx context.Context, locale string) error { return l.QuotaAlert(ctx, locale, to, alert) },
		"quota_reached": func(ctx context.Context, locale string) error { return l.QuotaAlert(ctx, locale, to, reached) },
		"trial_ends": func(ctx context.Context, locale string) error {
			return l.TrialEnds(ctx, locale, to, letters.TrialEnds{
				Tenant: "Acme", Plan: "Team", EndsAt: now.AddDate(0, 0, 3), Price: money.Money{AmountCents: 4_900, Currency: "EUR"}, MinorUnits: 2,
			})
		},
		"webhook_disabled": func(ctx context.Context, locale string) error {
			return l.WebhookDisabled(ctx, locale, to, letters.WebhookDisabled{Tenant: "Acme", URL: "https://example.com/hooks", Since: now.AddDate(0, 0, -5)})
		},
		"payment_failed": func(ctx context.Context, locale string) error {
			return l.PaymentFailed(ctx, locale, to, letters.PaymentFailed{
				Tenant: "Acme", Plan: "Team", Amount: money.Money{AmountCents: 123_450, Currency: "EUR"}, MinorUnits: 2,
			})
		},
	}
}

func TestLetters(t *testing.T) {
	t.Parallel()
	for _, locale := range i18n.Locales() {
		l, b := newLetters(t, "https://app.example.test/")
		for name, write := range samples(l) {
			if err := write(t.Context(), locale); err != nil {
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

// Every locale has every text, with the same variables in it.
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

// hrefs are the addresses that an HTML mail links to.
func hrefs(mail string) (links []string) {
	for _, m := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(mail, -1) {
		links = append(links, html.UnescapeString(m[1]))
	}
	return links
}
