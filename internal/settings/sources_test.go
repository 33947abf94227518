package settings_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
)

// all returns the settings of dev and serve.
func all() []settings.Source {
	getenv := func(string) string { return "" }
	return append(settings.ServeFlags{}.Sources(getenv), settings.DevFlags{}.Sources(getenv)...)
}

// find returns the setting with a variable or a flag.
func find(t *testing.T, in []settings.Source, key string) settings.Source {
	t.Helper()
	at := slices.IndexFunc(in, func(s settings.Source) bool { return s.Key() == key })
	if at < 0 {
		t.Fatalf("%s is not a setting", key)
	}
	return in[at]
}

// The origin is the variable, the flag, the file of a secret, or the default. Values of secrets are
// never returned.
func TestOrigins(t *testing.T) {
	t.Parallel()
	flags := settings.ServeFlags{
		BrandFlags:    settings.BrandFlags{AppName: "Acme", Accent: "#0b5d5e"},
		HTTPFlags:     settings.HTTPFlags{RedisURL: "redis://:hunter2@cache"},
		StoreFlags:    settings.StoreFlags{DatabaseURLFile: "/run/hunter2"},
		ExternalFlags: settings.ExternalFlags{SMTPURLFile: "/run/hunter2", StripeURL: "http://127.0.0.1:9090"},
	}
	environ := map[string]string{"TENANTRY_APP_NAME": "Acme", "TENANTRY_STRIPE_SECRET_KEY": "sk_hunter2", "TENANTRY_ACCENT": "#000000"}
	read := flags.Sources(func(name string) string { return environ[name] })
	got := map[string]settings.Origin{}
	for _, s := range read {
		if s.Origin != settings.FromDefault {
			got[s.Key()] = s.Origin
		}
	}
	want := map[string]settings.Origin{
		"TENANTRY_APP_NAME": settings.FromEnvironment, "TENANTRY_ACCENT": settings.FromFlag, "TENANTRY_REDIS_URL": settings.FromFlag, "TENANTRY_DATABASE_URL": settings.FromFile,
		"TENANTRY_SMTP_URL": settings.FromFile, "TENANTRY_STRIPE_SECRET_KEY": settings.FromEnvironment, "--stripe-url": settings.FromFlag,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text, err := json.Marshal(read); err != nil || strings.Contains(string(text), "hunter2") {
		t.Errorf("%v: %s", err, text)
	}
	if s := find(t, read, "TENANTRY_APP_NAME"); s.Value != "Acme" || s.Flag != "--app-name" || s.Group != "brand" || s.IsSecret {
		t.Errorf("%+v", s)
	}
	if s := find(t, read, "TENANTRY_STRIPE_WEBHOOK_SECRET"); s.Flag != "" || !s.IsSecret || s.Origin != settings.FromDefault {
		t.Errorf("%+v", s)
	}
}

// The description of a setting does not include its default, which Text returns separately.
func TestText(t *testing.T) {
	t.Parallel()
	read := all()
	for key, want := range map[string][2]string{
		"TENANTRY_ADDR":            {"Address to listen on.", "127.0.0.1:8080"},
		"TENANTRY_BASE_CURRENCY":   {"Currency of revenue figures, such as EUR. Other currencies are converted with your exchange rates. Must be an active currency.", "none"},
		"TENANTRY_INVOICE_NOTE_ES": {"Footer of Spanish invoices.", ""},
	} {
		if about, fallback := find(t, read, key).Text("en"); about != want[0] || fallback != want[1] {
			t.Errorf("%s: %q, %q", key, about, fallback)
		}
	}
	if about, fallback := find(t, read, "TENANTRY_BASE_CURRENCY").Text("it"); !strings.HasPrefix(about, "Valuta ") || fallback != "nessuna" {
		t.Errorf("%q, %q", about, fallback)
	}
}

// Each language translates the description of each setting and each default that is a phrase, and
// contains no other text.
func TestTranslations(t *testing.T) {
	t.Parallel()
	for _, locale := range []string{"fr", "es", "it"} {
		content, err := os.ReadFile("translations/" + locale + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var texts map[string]string
		if err := json.Unmarshal(content, &texts); err != nil {
			t.Fatal(err)
		}
		known := map[string]bool{}
		for _, s := range all() {
			key := s.Key()
			known[key], known[key+" default"] = true, true
			if texts[key] == "" {
				t.Errorf("%s: %s is missing", locale, key)
			}
			if _, fallback := s.Text("en"); strings.Contains(fallback, " ") && texts[key+" default"] == "" {
				t.Errorf("%s: the default of %s, %q, is missing", locale, key, fallback)
			}
		}
		for key := range texts {
			if !known[key] {
				t.Errorf("%s: %s is not a setting", locale, key)
			}
		}
	}
}
