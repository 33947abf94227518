package main

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/app"
)

type devCmd struct {
	app.DevFlags `embed:""`
}

// Run runs the service with its sandbox until the context ends.
func (c *devCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	logins, loginErr := app.LoginProviders(p.environ())
	if err := errors.Join(err, loginErr); err != nil {
		return err
	}
	settings.Logins = logins
	return app.Dev(ctx, settings)
}
