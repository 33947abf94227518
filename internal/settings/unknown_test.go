package settings_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/settings"
)

func TestUnknownVariables(t *testing.T) {
	t.Parallel()
	known := []string{"TENANTRY_ADDR", "TENANTRY_DATABASE_URL", "TENANTRY_SMTP_URL_FILE", "TENANTRY_LOG_LEVEL"}
	environ := []string{
		"PATH=/bin", "TENANTRY_ADDR=:1", "TENANTRY_SMTP_URL=smtp://u:p@h", "TENANTRY_OIDC_ACME_ISSUER=x", "TENANTRY_TEST_LONG=1",
		"TENANTRY_LOGLEVEL=info", "TENANTRY_DATABSE_URL=x=y", "TENANTRY_=",
	}
	want := []settings.UnknownVariable{
		{Name: "TENANTRY_", Nearest: "TENANTRY_ADDR"},
		{Name: "TENANTRY_DATABSE_URL", Nearest: "TENANTRY_DATABASE_URL"},
		{Name: "TENANTRY_LOGLEVEL", Nearest: "TENANTRY_LOG_LEVEL"},
	}
	if diff := cmp.Diff(want, settings.UnknownVariables(environ, known)); diff != "" {
		t.Error(diff)
	}
}
