package app

import (
	"context"
	"io"

	"github.com/tenantry/tenantry/internal/app/doctor"
	"github.com/tenantry/tenantry/internal/app/pspcheck"
	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/settings"
)

// Diagnose looks at an installation and writes what it finds, as text or as JSON. It fails
// if anything of it is an error (rules: settings#doctor). logins are the identity
// providers; those in the settings of cfg are not read.
func Diagnose(ctx context.Context, cfg doctor.Config, logins []settings.LoginProvider, out io.Writer, asJSON bool) error {
	cfg.Logins = oauthProviders(logins)
	if cfg.Settings.StripeSecretKey != "" && !cfg.Sandbox {
		cfg.Provider = func(ctx context.Context) ([]check.Finding, error) { return checkProvider(ctx, cfg.Settings) }
	}
	found := doctor.Run(ctx, cfg)
	return pspcheck.Write(out, found, asJSON)
}
