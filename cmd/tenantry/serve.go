package main

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/app"
)

type serveCmd struct {
	app.ServeFlags `embed:""`
}

// Run runs the service in production until the context ends.
func (c *serveCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	logins, loginErr := app.LoginProviders(p.environ())
	if err := errors.Join(err, loginErr); err != nil {
		return err
	}
	settings.Logins = logins
	return app.Serve(ctx, settings)
}
