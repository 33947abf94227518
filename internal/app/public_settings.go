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
	OAuthProviders      []string             `json:"oauth_providers" doc:"Names of the identity providers that delegated login offers."`
	InvoiceMode         settings.InvoiceMode `json:"invoice_mode" enum:"psp_managed,platform_managed"`
	PushPublicKey       string               `json:"push_public_key" doc:"The key with which browsers subscribe to push notifications, in base64url."`
	LogoURL             *string              `json:"logo_url" doc:"Where the logo is; null for none."`
	Accent              *string              `json:"accent" doc:"Color of buttons and links as #rrggbb, on which white text can be read; null where the operator has chosen none."`
	SupportEmail        *string              `json:"support_email" doc:"Address for questions; null for none."`
	TermsURL            *string              `json:"terms_url" doc:"Page with the terms of service; null for none."`
	PrivacyURL          *string              `json:"privacy_url" doc:"Page with the privacy policy; null for none."`
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
		DefaultCurrency: tenant.DefaultCurrency, RegistrationEnabled: true, OAuthProviders: svc.oauth.Providers(),
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
