package app

import (
	"context"
	"io"

	"github.com/tenantry/tenantry/internal/app/doctor"
	"github.com/tenantry/tenantry/internal/psp/check"
	"github.com/tenantry/tenantry/internal/settings"
)

// Diagnose checks an installation and writes the findings as text or as JSON. It returns an error
// if any finding is an error (rules: settings#doctor). It uses the identity providers in logins and
// ignores the providers in cfg.Settings.
func Diagnose(ctx context.Context, cfg doctor.Config, logins []settings.LoginProvider, out io.Writer, asJSON bool) error {
	cfg.Logins = oauthProviders(logins)
	if cfg.Settings.StripeSecretKey != "" && !cfg.Sandbox {
		cfg.Provider = func(ctx context.Context) ([]check.Finding, error) { return checkProvider(ctx, cfg.Settings) }
	}
	found := doctor.Run(ctx, cfg)
	return report(out, found, asJSON)
}
