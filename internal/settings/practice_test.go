package settings_test

import (
	"testing"

	"github.com/tenantry/tenantry/internal/settings"
)

// serve uses a sandbox instead of Stripe only on the same machine, and only with a test key.
func TestServePractices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, key, wrong string }{
		{"http://127.0.0.1:12111", "sk_test_sandbox", ""},
		{"http://localhost:12111", "sk_test_1", ""},
		{"http://[::1]:12111", "sk_test_1", ""},
		{"http://10.0.0.1:12111", "sk_test_1", "--stripe-url"},
		{"https://localhost.example.com", "sk_test_1", "--stripe-url"},
		{"127.0.0.1:12111", "sk_test_1", "--stripe-url"},
		{"http://127.0.0.1:12111", "sk_live_1", "TENANTRY_STRIPE_SECRET_KEY"},
		{"", "sk_test_sandbox", "TENANTRY_STRIPE_SECRET_KEY"},
	} {
		flags := settings.ServeFlags{StoreFlags: settings.StoreFlags{Data: t.TempDir()}, ExternalFlags: settings.ExternalFlags{MailFrom: "a@b.test", StripeURL: c.url}}
		s, err := flags.Settings(env(map[string]string{
			"TENANTRY_STRIPE_SECRET_KEY": c.key, "TENANTRY_STRIPE_WEBHOOK_SECRET": "whsec_1", "TENANTRY_SMTP_URL": "smtp://mail",
		}))
		switch wrong := reasons(err); {
		case c.wrong != "" && (len(wrong) != 1 || wrong[c.wrong] == ""):
			t.Errorf("%s with %s: %v, want an error of %s", c.url, c.key, wrong, c.wrong)
		case c.wrong == "" && (err != nil || s.StripeURL.String() != c.url):
			t.Errorf("%s with %s: %v", c.url, c.key, err)
		}
	}
}
