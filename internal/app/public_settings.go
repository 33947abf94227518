package app

import (
	"context"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/tenant"
)

// PublicSettings are the settings that a frontend needs before a user logs in
// (rules: settings#public-settings).
type PublicSettings struct {
	AppName             string               `json:"app_name"`
	FrontendURL         string               `json:"frontend_url"`
	DefaultLocale       string               `json:"default_locale"`
	Locales             []string             `json:"locales"`
	DefaultCurrency     string               `json:"default_currency"`
	RegistrationEnabled bool                 `json:"registration_enabled"`
	LoginMethods        []string             `json:"login_methods" doc:"Methods by which users can log in: password, oauth, passkey, email_code."`
	OAuthProviders      []string             `json:"oauth_providers" doc:"Names of the identity providers for delegated login."`
	InvoiceMode         settings.InvoiceMode `json:"invoice_mode" enum:"psp_managed,platform_managed"`
	PushPublicKey       string               `json:"push_public_key" doc:"Public key for subscribing browsers to push notifications, in base64url."`
	LogoURL             *string              `json:"logo_url" doc:"URL of the logo. Null if not set."`
	Accent              *string              `json:"accent" doc:"Color of buttons and links as #rrggbb, dark enough for white text. Null if not set."`
	SupportEmail        *string              `json:"support_email" doc:"Email address for support. Null if not set."`
	TermsURL            *string              `json:"terms_url" doc:"URL of the terms of service. Null if not set."`
	PrivacyURL          *string              `json:"privacy_url" doc:"URL of the privacy policy. Null if not set."`
}

// settingsHTTP handles the public settings.
type settingsHTTP struct {
	fixed   PublicSettings // without the push key
	pushKey func(ctx context.Context) (string, error)
}

// Show handles GET /settings.
func (h settingsHTTP) Show(ctx context.Context, _ *struct{}) (*rest.Data[PublicSettings], error) {
	key, err := h.pushKey(ctx)
	if err != nil {
		return nil, err
	}
	settings := h.fixed
	settings.PushPublicKey = key
	return rest.OK(settings), nil
}

func (svc *service) publicSettings() settingsHTTP {
	s := svc.settings
	return settingsHTTP{pushKey: svc.pushes.PublicKey, fixed: PublicSettings{
		AppName: s.Brand.App(), FrontendURL: s.FrontendURL.String(), DefaultLocale: i18n.Default, Locales: s.OfferedLocales(),
		DefaultCurrency: tenant.DefaultCurrency, RegistrationEnabled: true, LoginMethods: s.EnabledLoginMethods(), OAuthProviders: svc.oauth.Providers(),
		InvoiceMode: s.InvoiceMode,
		LogoURL:     nilIfEmpty(s.Brand.Logo.Address(svc.publicURL)), Accent: nilIfEmpty(s.Brand.Accent), SupportEmail: nilIfEmpty(s.Brand.SupportEmail),
		TermsURL: nilIfEmpty(s.Brand.TermsURL), PrivacyURL: nilIfEmpty(s.Brand.PrivacyURL),
	}}
}

// nilIfEmpty returns nil for an empty setting.
func nilIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
