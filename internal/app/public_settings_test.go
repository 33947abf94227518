package app

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
)

func TestPublicSettings(t *testing.T) {
	t.Parallel()
	h := settingsHTTP{
		fixed: PublicSettings{
			AppName: "Tenantry", FrontendURL: "https://app.example.com", DefaultLocale: "en", Locales: []string{"en", "fr"},
			DefaultCurrency: "EUR", RegistrationEnabled: true, LoginMethods: []string{"password", "email_code"}, OAuthProviders: []string{"google"}, InvoiceMode: settings.InvoicesByPSP,
		},
		pushKey: func(context.Context) (string, error) { return "BKey", nil },
	}
	out, err := h.Show(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"data":{"app_name":"Tenantry","frontend_url":"https://app.example.com","default_locale":"en","locales":["en","fr"],` +
		`"default_currency":"EUR","registration_enabled":true,"login_methods":["password","email_code"],"oauth_providers":["google"],"invoice_mode":"psp_managed","push_public_key":"BKey",` +
		`"logo_url":null,"accent":null,"support_email":null,"terms_url":null,"privacy_url":null}}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	broken := errors.New("the database is down")
	h.pushKey = func(context.Context) (string, error) { return "", broken }
	if _, err := h.Show(t.Context(), nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
