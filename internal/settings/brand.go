package settings

import (
	"cmp"
	"errors"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/brand"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/safehttp"
)

// BrandFlags are the flags for the appearance of the service.
type BrandFlags struct {
	AppName       string `env:"TENANTRY_APP_NAME" placeholder:"NAME" help:"Product name in emails, pages and documents. Default: Tenantry."`
	Logo          string `env:"TENANTRY_LOGO" placeholder:"FILE|URL" help:"Logo in emails and pages: an https URL, or a PNG, JPEG, WebP or SVG file of at most 1 MiB, which is served at /brand/logo. Invoices show PNG and JPEG files only. Email clients do not show SVG, and some do not show WebP. Default: none."`
	Accent        string `env:"TENANTRY_ACCENT" placeholder:"#RRGGBB" help:"Color of buttons and links in emails and pages. Must be dark enough for white text. Default: the teal of the console."`
	SupportEmail  string `env:"TENANTRY_SUPPORT_EMAIL" placeholder:"ADDRESS" help:"Email address for support, in the footer of emails. Default: none."`
	TermsURL      string `env:"TENANTRY_TERMS_URL" placeholder:"URL" help:"URL of the terms of service, in the footer of emails. Default: none."`
	PrivacyURL    string `env:"TENANTRY_PRIVACY_URL" placeholder:"URL" help:"URL of the privacy policy, in the footer of emails. Default: none."`
	Locales       string `env:"TENANTRY_LOCALES" placeholder:"LOCALE,…" help:"Languages for customers: en, fr, es, it. Must include en, the fallback for catalog texts. Default: all."`
	OptionalMails string `env:"TENANTRY_OPTIONAL_MAILS" placeholder:"MAIL,…" help:"Optional emails to send: welcome (to new users), receipt (for paid invoices), card_expires, renewal_reminder (for cycles of six months or more), last_attempt (before the last attempt to collect an invoice), new_login (after a login from a new browser or network), subscription_started, plan_changed, subscription_canceled, subscription_ended (after failed payments), or none. Default: new_login and the last four for serve, all for dev."`
	Templates     string `env:"TENANTRY_TEMPLATES" placeholder:"DIR" help:"Folder with custom email templates: {locale}/{mail}.html, .txt and .subject. See tenantry mail list. Default: built-in templates."`
}

// brand reads the brand and the mail templates.
func (p *parser) brand(f BrandFlags, s *Settings) {
	b := brand.Brand{
		Name: strings.TrimSpace(f.AppName), Logo: p.logo("TENANTRY_LOGO", f.Logo), Accent: f.Accent,
		SupportEmail: strings.TrimSpace(f.SupportEmail),
		TermsURL:     p.link("TENANTRY_TERMS_URL", f.TermsURL), PrivacyURL: p.link("TENANTRY_PRIVACY_URL", f.PrivacyURL),
	}
	if err := brand.CheckName(b.Name); err != nil {
		p.fail("TENANTRY_APP_NAME", "%v", err)
	}
	if b.Accent != "" {
		if err := brand.CheckAccent(b.Accent); err != nil {
			p.fail("TENANTRY_ACCENT", "%v", err)
		}
	}
	if b.SupportEmail != "" {
		if _, err := mail.NormalizeAddress(b.SupportEmail); err != nil {
			p.fail("TENANTRY_SUPPORT_EMAIL", "%q is not an email address", b.SupportEmail)
		}
	}
	s.Brand = b
	s.Locales = p.locales("TENANTRY_LOCALES", f.Locales)
	optional := list(cmp.Or(f.OptionalMails, strings.Join(letters.DefaultOptionalMails(), ",")))
	if f.OptionalMails == "none" {
		optional = nil
	}
	for _, name := range optional {
		if err := letters.CheckOptional(name); err != nil {
			p.fail("TENANTRY_OPTIONAL_MAILS", "%v", err)
		}
		s.OptionalMails = append(s.OptionalMails, name)
	}
	if f.Templates == "" {
		return
	}
	templates, wrong := letters.ReadTemplates(f.Templates, b)
	for _, err := range wrong {
		p.fail("TENANTRY_TEMPLATES", "%v", err)
	}
	s.Templates = templates
}

// logo reads a file or accepts an https URL.
func (p *parser) logo(name, value string) brand.Logo {
	if value == "" {
		return brand.Logo{}
	}
	if strings.Contains(value, "://") {
		address := p.link(name, value)
		if address != "" && !strings.HasPrefix(address, "https://") {
			p.fail(name, "%q is neither an https URL nor a file", value)
		}
		return brand.Logo{URL: address}
	}
	logo, err := brand.ReadLogo(value)
	if reading, ok := errors.AsType[*fs.PathError](err); ok {
		err = reading.Err // the PathError repeats the path
	}
	if err != nil {
		p.fail(name, "%s: %v", value, err)
	}
	return logo
}

// maxLink is the maximum length of a URL, longer than any real link.
const maxLink = 2000

// link reads the URL of a page, which can have a query and a fragment.
func (p *parser) link(name, value string) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "", len(value) > maxLink:
		p.fail(name, "not an absolute http or https URL")
	case !safehttp.HasValidPort(u):
		p.fail(name, "the port must be from 1 to 65535")
	case u.User != nil:
		p.fail(name, "must not have a user or a password")
	default:
		return u.String()
	}
	return ""
}

// locales reads the supported languages and returns them in the order of i18n.Locales. It returns
// nil for all languages.
func (p *parser) locales(name, value string) []string {
	given := list(value)
	if len(given) == 0 {
		return nil
	}
	for _, locale := range given {
		if !slices.Contains(i18n.Locales(), locale) {
			p.fail(name, "unknown locale %q; supported locales: %s", locale, strings.Join(i18n.Locales(), ", "))
		}
	}
	if !slices.Contains(given, i18n.Default) {
		p.fail(name, "must contain %s, the fallback for catalog texts", i18n.Default)
	}
	return slices.DeleteFunc(i18n.Locales(), func(locale string) bool { return !slices.Contains(given, locale) })
}
