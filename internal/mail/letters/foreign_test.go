package letters_test

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/money"
)

// hostile are names that try to manipulate a mail.
var hostile = []string{
	"<script>alert(1)</script><img src=x>", `"><a href='javascript:alert(1)'>`, "</title></style><b>", "&lt;b&gt;",
	"Ada\r\nBcc: eve@evil.example", "Ada\n\nClick https://evil.example/login", "Ada\u2028\u2029\u0085x", "http://evil.example", "www.evil.example",
	"evil.example", "eve@evil.example", "mailto:eve@evil.example", "evil。example", "javascript:alert(1)", "{app} {name} {{.Link}}", "%s%d %!",
	"\u202egnp.live\u202c", "Ada\x00\x1b[31m", "Ada\xff\xfe", strings.Repeat("long ", 60), strings.Repeat("https://evil.example/", 20),
}

func TestUserInputIsEscaped(t *testing.T) {
	t.Parallel()
	l, b := newLetters(t, "https://app.example.test")
	for _, name := range hostile {
		for letter, write := range map[string]func(ctx context.Context, locale string) error{
			"invitation": func(ctx context.Context, locale string) error {
				return l.Invitation(ctx, locale, to, letters.Invitation{Token: "t", Tenant: name, Inviter: name, Role: name, ExpiresAt: now})
			},
			"reset":   func(ctx context.Context, locale string) error { return l.PasswordReset(ctx, locale, to, name, "t") },
			"changed": func(ctx context.Context, locale string) error { return l.PasswordChanged(ctx, locale, to, name) },
			"alert": func(ctx context.Context, locale string) error {
				return l.QuotaAlert(ctx, locale, to, letters.QuotaAlert{Tenant: name, Meter: name, Unit: name, Percent: 80, PeriodEnd: now})
			},
			"trial": func(ctx context.Context, locale string) error {
				return l.TrialEnds(ctx, locale, to, letters.TrialEnds{Tenant: name, Plan: name, EndsAt: now})
			},
			"webhook": func(ctx context.Context, locale string) error {
				return l.WebhookDisabled(ctx, locale, to, letters.WebhookDisabled{Tenant: name, URL: name, Since: now})
			},
			"welcome": func(ctx context.Context, locale string) error { return l.Welcome(ctx, locale, to, name) },
			"receipt": func(ctx context.Context, locale string) error {
				return l.Receipt(ctx, locale, to, letters.Receipt{Tenant: name, Number: "INV-1", What: name, Amount: money.Money{AmountCents: 1, Currency: "eur"}, MinorUnits: 2, PaidAt: now})
			},
			"payment": func(ctx context.Context, locale string) error {
				return l.PaymentFailed(ctx, locale, to, letters.PaymentFailed{
					Tenant: name, Plan: name, Amount: money.Money{AmountCents: 1, Currency: "eur"}, MinorUnits: 2,
				})
			},
		} {
			for _, locale := range i18n.Locales() {
				if err := write(t.Context(), locale); err != nil {
					t.Fatalf("%s to %q: %v", letter, name, err)
				}
				checkSubject(t, letter, b.Subject)
				checkText(t, letter, b.Text)
				checkHTML(t, letter, b.HTML)
			}
		}
	}
}

func checkSubject(t *testing.T, letter, subject string) {
	t.Helper()
	if strings.ContainsAny(subject, "\r\n\x00\x1b\u0085\u2028\u2029\u202e") || utf8.RuneCountInString(subject) > 110 || !utf8.ValidString(subject) {
		t.Errorf("subject of %s: %q", letter, subject)
	}
}

var (
	// looksLikeAddress matches text that mail programs turn into links.
	looksLikeAddress = regexp.MustCompile(`(?i)[\p{L}\d][.。][\p{L}]|[a-z]:[\p{L}/]|\S@[^\s\p{Zs}]`)
	ownAddress       = regexp.MustCompile(`https://app\.example\.test/[^\s"<]*`)
	tag              = regexp.MustCompile(`<[^>]*>`)
)

func checkText(t *testing.T, letter, text string) {
	t.Helper()
	if found := looksLikeAddress.FindString(ownAddress.ReplaceAllString(text, "")); found != "" {
		t.Errorf("%s has %q, which becomes a link:\n%s", letter, found, text)
	}
	if lines := strings.Count(text, "\n"); lines > 24 || strings.ContainsAny(text, "\r\x00\x1b\u202e") || !utf8.ValidString(text) {
		t.Errorf("%s has %d lines, or control characters:\n%q", letter, lines, text)
	}
}

func checkHTML(t *testing.T, letter, mail string) {
	t.Helper()
	for _, link := range hrefs(mail) {
		if !strings.HasPrefix(link, "https://app.example.test/") {
			t.Errorf("%s links to %q", letter, link)
		}
	}
	for _, found := range tag.FindAllString(mail, -1) {
		if name := strings.Trim(strings.Fields(found)[0], "</>"); !strings.Contains(
			" !DOCTYPE html head meta title style body div h1 p table tr th td a br ", " "+name+" ") {
			t.Errorf("%s has the tag %s", letter, found)
		}
	}
	_, body, _ := strings.Cut(mail, `<div class="card">`)
	if found := looksLikeAddress.FindString(ownAddress.ReplaceAllString(body, "")); found != "" {
		t.Errorf("%s has %q, which becomes a link:\n%s", letter, found, body)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ada Love":                 "Ada Love",
		"  Ada \t\r\n Love\u2028":  "Ada Love",
		"A\x00d\x1ba\xff":          "Ada",
		"\u202eadA\u2066":          "adA",
		"0123456789":               "0123456789",
		"0123456789a":              "012345678…",
		"01234567 9a":              "01234567…",
		"01234567e\u0301\u0301":    "01234567…",
		"0123456👩\u200d👩\u200d👧 x": "0123456👩…",
	} {
		if got := letters.Clean(text, 10); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestUnlinked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Ada Lovelace":      "Ada Lovelace",
		"St. John, Inc.":    "St. John, Inc.",
		"Acme A/S":          "Acme A/S",
		"http://a.example/": "http:\u200a//a.\u200aexample/",
		"eve@a.example":     "eve@\u200aa.\u200aexample",
		"a。b．c｡d":           "a。\u200ab．\u200ac｡\u200ad",
	} {
		if got := letters.Unlinked(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Subjects never contain text that other users chose, because recipients use the subject to decide
// whether to trust a mail.
func TestSubjectsContainNoUserInput(t *testing.T) {
	t.Parallel()
	l, b := newLetters(t, "https://app.example.test")
	const chosen = "Zebra"
	for letter, write := range map[string]func(ctx context.Context, locale string) error{
		"invitation": func(ctx context.Context, locale string) error {
			return l.Invitation(ctx, locale, to, letters.Invitation{Token: "t", Tenant: chosen, Inviter: chosen, Role: chosen, ExpiresAt: now})
		},
		"reset":   func(ctx context.Context, locale string) error { return l.PasswordReset(ctx, locale, to, chosen, "t") },
		"changed": func(ctx context.Context, locale string) error { return l.PasswordChanged(ctx, locale, to, chosen) },
		"alert": func(ctx context.Context, locale string) error {
			return l.QuotaAlert(ctx, locale, to, letters.QuotaAlert{Tenant: chosen, Meter: "Calls", Percent: 80, PeriodEnd: now})
		},
		"trial": func(ctx context.Context, locale string) error {
			return l.TrialEnds(ctx, locale, to, letters.TrialEnds{Tenant: chosen, Plan: "Team", EndsAt: now})
		},
		"payment": func(ctx context.Context, locale string) error {
			return l.PaymentFailed(ctx, locale, to, letters.PaymentFailed{Tenant: chosen, Plan: "Team", Amount: money.Money{AmountCents: 1, Currency: "EUR"}})
		},
	} {
		for _, locale := range i18n.Locales() {
			if err := write(t.Context(), locale); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.Subject, chosen) || strings.ContainsAny(b.Subject, "{}") || !strings.Contains(b.Text, chosen) {
				t.Errorf("%s in %s: %s\n%s", letter, locale, b.Subject, b.Text)
			}
		}
	}
}
