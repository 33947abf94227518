package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/testkit/apptest"
)

// Admins with logs.view read the settings with their values and origins, described in the language
// of the request. Secrets are never returned.
func TestSettingsOfTheService(t *testing.T) {
	t.Parallel()
	environ := map[string]string{"TENANTRY_APP_NAME": "Acme", "TENANTRY_SMTP_URL": "smtp://:hunter2@mail"}
	flags := settings.ServeFlags{
		BrandFlags: settings.BrandFlags{AppName: "Acme"}, StoreFlags: settings.StoreFlags{LogLevel: "debug", DatabaseURLFile: "/run/hunter2"},
	}
	read := flags.Sources(func(name string) string { return environ[name] })
	apptest.Each(t, func(t *testing.T, s *apptest.Server) {
		request := s.NewRequest(http.MethodGet, "/api/v1/admin/settings", s.Admin(), nil)
		request.Header.Set("Accept-Language", "it")
		answer := s.Do(request).Want(200)
		got := map[string]any{}
		for _, one := range answer.At("data").([]any) {
			row := one.(map[string]any)
			if variable, _ := row["variable"].(string); row["source"] != "default" || variable == "TENANTRY_ADDR" {
				got[variable] = row
			}
		}
		is := func(variable string, flag any, group, about string, fallback, value any, isSecret bool, source string) apptest.Object {
			return map[string]any{
				"variable": variable, "flag": flag, "group": group, "about": about, "default": fallback, "value": value, "is_secret": isSecret, "source": source,
			}
		}
		want := map[string]any{
			"TENANTRY_ADDR":         is("TENANTRY_ADDR", "--addr", "http", "Indirizzo di ascolto.", "127.0.0.1:8080", nil, false, "default"),
			"TENANTRY_APP_NAME":     is("TENANTRY_APP_NAME", "--app-name", "brand", "Nome del prodotto nelle e-mail, nelle pagine e nei documenti.", "Tenantry", "Acme", false, "environment"),
			"TENANTRY_LOG_LEVEL":    is("TENANTRY_LOG_LEVEL", "--log-level", "store", "Livello minimo del log: debug, info, warn o error.", "info", "debug", false, "flag"),
			"TENANTRY_DATABASE_URL": is("TENANTRY_DATABASE_URL", "--database-url", "store", "URL del database: postgres://user:password@host/name o sqlite:///absolute/path.", "SQLite nella cartella dei dati", nil, true, "file"),
			"TENANTRY_SMTP_URL":     is("TENANTRY_SMTP_URL", nil, "external", "URL del server SMTP, o file che lo contiene: smtp://user:password@host o smtps://….", nil, nil, true, "environment"),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(answer.Text, "hunter2") {
			t.Error("a secret is in the answer")
		}
	}, func(s *settings.Settings) { s.Sources = read })
}
