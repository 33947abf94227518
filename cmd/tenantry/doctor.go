package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/alecthomas/kong"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/app/doctor"
	"github.com/tenantry/tenantry/internal/settings"
)

type doctorCmd struct {
	settings.ServeFlags `embed:""`

	JSON   bool   `name:"json" help:"Output JSON: {checks: [{name, status, detail, fix}]}."`
	SendTo string `placeholder:"ADDRESS" help:"Send a test mail to this address."`
}

// Run checks the installation that the settings describe: the settings of serve, or of dev if the
// data folder belongs to a sandbox.
func (c *doctorCmd) Run(ctx context.Context, command *kong.Context, p *process) error {
	s, wrong := c.Settings(p.getenv)
	cfg := doctor.Config{SendTo: c.SendTo, Unknown: settings.UnknownVariables(p.environ(), variables(command.Model))}
	if _, err := os.Stat(filepath.Join(s.Data, settings.SandboxFile)); s.Data != "" && err == nil {
		cfg.Sandbox = true
		s, wrong = c.Dev().Settings(p.getenv)
	}
	logins, err := settings.LoginProviders(p.environ())
	cfg.Settings, cfg.SettingsError = s, errors.Join(wrong, err)
	return app.Diagnose(ctx, cfg, logins, p.out, c.JSON)
}
