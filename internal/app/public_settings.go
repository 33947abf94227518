package app

import (
	"context"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/tenant"
)

// PublicSettings is what a frontend needs to know before a user logs in (rules:
// settings#public-settings).
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
}

// settingsHTTP handles the public settings.
type settingsHTTP struct {
	fixed   PublicSettings // all but the push key
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
		AppName: settings.AppName, FrontendURL: s.FrontendURL.String(), DefaultLocale: i18n.Default, Locales: i18n.Locales(),
		DefaultCurrency: tenant.DefaultCurrency, RegistrationEnabled: true, OAuthProviders: svc.oauth.Providers(),
		InvoiceMode: s.InvoiceMode,
	}}
}
