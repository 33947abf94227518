package settings_test

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/settings"
)

func logoFile(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 4, 2))); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "logo.png")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBrandIsParsed(t *testing.T) {
	t.Parallel()
	got, err := settings.DevFlags{BrandFlags: settings.BrandFlags{
		AppName: " Acme ", Logo: "https://cdn.example.com/logo.png?v=2", Accent: "#123456", SupportEmail: "Help@acme.example",
		TermsURL: "https://acme.example/legal?lang=en#terms", PrivacyURL: "http://acme.example/privacy",
	}}.Settings(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := brand.Brand{
		Name: "Acme", Logo: brand.Logo{URL: "https://cdn.example.com/logo.png?v=2"}, Accent: "#123456", SupportEmail: "Help@acme.example",
		TermsURL: "https://acme.example/legal?lang=en#terms", PrivacyURL: "http://acme.example/privacy",
	}
	if diff := cmp.Diff(want, got.Brand); diff != "" {
		t.Error(diff)
	}
	if seller := got.Invoices.Seller; seller.Name != "Acme" || seller.Logo != nil {
		t.Errorf("default seller = %q with a logo of %d bytes", seller.Name, len(seller.Logo))
	}
}

// The logo also appears on invoices, unless they have their own logo or cannot show it.
func TestBrandOnInvoices(t *testing.T) {
	t.Parallel()
	drawing := filepath.Join(t.TempDir(), "logo.svg")
	if err := os.WriteFile(drawing, []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		logo, own string
		has       bool
	}{"none": {"", "", false}, "a picture": {logoFile(t), "", true}, "a drawing": {drawing, "", false}, "both": {drawing, logoFile(t), true}} {
		got, err := settings.DevFlags{
			BrandFlags:   settings.BrandFlags{AppName: "Acme", Logo: c.logo},
			InvoiceFlags: settings.InvoiceFlags{SellerName: "Acme Sales Ltd", InvoiceLogo: c.own},
		}.Settings(env(nil))
		if err != nil || got.Invoices.Seller.Name != "Acme Sales Ltd" || (got.Invoices.Seller.Logo != nil) != c.has {
			t.Errorf("%s: %+v, %v", name, got.Invoices.Seller, err)
		}
	}
}

func TestWrongBrandIsNamed(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "logo.png")
	if err := os.WriteFile(text, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, reason string
		flags        settings.BrandFlags
	}{
		{"TENANTRY_APP_NAME", "has 61 characters; the maximum is 60", settings.BrandFlags{AppName: strings.Repeat("a", 61)}},
		{"TENANTRY_APP_NAME", "must not contain control or format characters", settings.BrandFlags{AppName: "Ac\nme"}},
		{"TENANTRY_LOGO", text + ": must be PNG, JPEG, WebP or SVG", settings.BrandFlags{Logo: text}},
		{"TENANTRY_LOGO", `"http://a.example/l.png" is neither an https URL nor a file`, settings.BrandFlags{Logo: "http://a.example/l.png"}},
		{"TENANTRY_LOGO", "not an absolute http or https URL", settings.BrandFlags{Logo: "ftp://a.example/l.png"}},
		{"TENANTRY_LOGO", "must not have a user or a password", settings.BrandFlags{Logo: "https://u:p@a.example/l.png"}},
		{"TENANTRY_LOGO", "/nowhere/l.png: no such file or directory", settings.BrandFlags{Logo: "/nowhere/l.png"}},
		{"TENANTRY_ACCENT", `"blue" must be a color in the form #rrggbb`, settings.BrandFlags{Accent: "blue"}},
		{"TENANTRY_ACCENT", "too light for white text: the contrast of #ffcc00 is 1.51, at least 4.5 is required; choose a darker color", settings.BrandFlags{Accent: "#ffcc00"}},
		{"TENANTRY_SUPPORT_EMAIL", `"help" is not an email address`, settings.BrandFlags{SupportEmail: "help"}},
		{"TENANTRY_SUPPORT_EMAIL", `"Help <help@acme.example>" is not an email address`, settings.BrandFlags{SupportEmail: "Help <help@acme.example>"}},
		{"TENANTRY_TERMS_URL", "not an absolute http or https URL", settings.BrandFlags{TermsURL: "/terms"}},
		{"TENANTRY_TERMS_URL", "not an absolute http or https URL", settings.BrandFlags{TermsURL: "https://a.example/" + strings.Repeat("a", 2000)}},
		{"TENANTRY_PRIVACY_URL", "not an absolute http or https URL", settings.BrandFlags{PrivacyURL: "javascript:alert(1)"}},
		{"TENANTRY_TEMPLATES", "open /nowhere: no such file or directory", settings.BrandFlags{Templates: "/nowhere"}},
	} {
		want := map[string]string{c.name: c.reason}
		_, err := settings.DevFlags{BrandFlags: c.flags}.Settings(env(nil))
		if diff := cmp.Diff(want, reasons(err)); diff != "" {
			t.Errorf("dev: %s", diff)
		}
		if _, err = (settings.MailFlags{BrandFlags: c.flags}).Settings(); cmp.Diff(want, reasons(err)) != "" {
			t.Errorf("mail: %v", err)
		}
		if _, err = (settings.ServeFlags{BrandFlags: c.flags}).Settings(env(nil)); reasons(err)[c.name] != c.reason {
			t.Errorf("serve: %v", err)
		}
	}
}

func TestMailSettings(t *testing.T) {
	t.Parallel()
	got, err := settings.MailFlags{}.Settings()
	if err != nil || got.PublicURL.String() != "http://127.0.0.1:8080" || got.FrontendURL.String() != "http://127.0.0.1:8080" {
		t.Errorf("%v %v %v", got.PublicURL, got.FrontendURL, err)
	}
	got, err = settings.MailFlags{PublicURL: "https://api.example.com/", FrontendURL: "https://example.com"}.Settings()
	if err != nil || got.PublicURL.String() != "https://api.example.com" || got.FrontendURL.String() != "https://example.com" {
		t.Errorf("%v %v %v", got.PublicURL, got.FrontendURL, err)
	}
}

// Optional mails are listed by name, and an unknown name prevents the start.
func TestOptionalMailsAreParsed(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		"": letters.OptionalMails(), // the sandbox sends all of them
		"card_expires,renewal_reminder last_attempt": {"card_expires", "renewal_reminder", "last_attempt"},
		"none":             nil,
		"welcome":          {"welcome"},
		"receipt, welcome": {"receipt", "welcome"},
	} {
		got, err := settings.DevFlags{BrandFlags: settings.BrandFlags{OptionalMails: value}}.Settings(env(nil))
		if diff := cmp.Diff(want, got.OptionalMails); err != nil || diff != "" {
			t.Errorf("%q: %v %s", value, err, diff)
		}
	}
	if got, _ := (settings.ServeFlags{}).Settings(env(nil)); !slices.Equal(got.OptionalMails, letters.DefaultOptionalMails()) {
		t.Errorf("serve sends %v without a setting", got.OptionalMails)
	}
	_, err := settings.DevFlags{BrandFlags: settings.BrandFlags{OptionalMails: "welcome,invitation"}}.Settings(env(nil))
	if err == nil || !strings.Contains(err.Error(), `TENANTRY_OPTIONAL_MAILS: "invitation" is not an optional email; optional emails: welcome, receipt, new_login, subscription_started, plan_changed, subscription_canceled, subscription_ended, card_expires, renewal_reminder, last_attempt`) {
		t.Error(err)
	}
}

// The invoice data names the seller, and the title of documents has the product's accent color.
func TestEInvoiceIsParsed(t *testing.T) {
	t.Parallel()
	got, err := settings.DevFlags{
		BrandFlags:   settings.BrandFlags{Accent: "#123456"},
		InvoiceFlags: settings.InvoiceFlags{EInvoice: "factur-x", SellerCountry: " DE ", SellerVATNumber: "DE123456789"},
	}.Settings(env(nil))
	if err != nil {
		t.Fatal(err)
	}
	if seller := got.Invoices.Seller; !got.Invoices.Hybrid || seller.Country != "DE" || seller.VATNumber != "DE123456789" || seller.Accent != "#123456" {
		t.Errorf("%+v", got.Invoices)
	}
	for _, off := range []string{"", "off"} {
		got, err := settings.DevFlags{InvoiceFlags: settings.InvoiceFlags{EInvoice: off}}.Settings(env(nil))
		if err != nil || got.Invoices.Hybrid {
			t.Errorf("%q: %v, %v", off, got.Invoices.Hybrid, err)
		}
	}
}

// The supported languages include English and keep the order of i18n.Locales.
func TestLocalesAreParsed(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{"": {"en", "fr", "es", "it"}, "en": {"en"}, "it, en": {"en", "it"}} {
		got, err := settings.DevFlags{BrandFlags: settings.BrandFlags{Locales: value}}.Settings(env(nil))
		if diff := cmp.Diff(want, got.OfferedLocales()); err != nil || diff != "" {
			t.Errorf("%q: %v %s", value, err, diff)
		}
	}
	for value, want := range map[string]string{"fr": "must contain en", "en,de": `unknown locale "de"; supported locales: en, fr, es, it`} {
		_, err := settings.DevFlags{BrandFlags: settings.BrandFlags{Locales: value}}.Settings(env(nil))
		if err == nil || !strings.Contains(err.Error(), "TENANTRY_LOCALES: "+want) {
			t.Errorf("%q: %v", value, err)
		}
	}
}
