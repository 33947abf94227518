package main

import (
	"context"
	"errors"

	"github.com/alecthomas/kong"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type serveCmd struct {
	settings.ServeFlags `embed:""`
}

// Run runs the service in production until the context ends.
func (c *serveCmd) Run(ctx context.Context, command *kong.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	logins, loginErr := settings.LoginProviders(p.environ())
	if err := errors.Join(err, loginErr); err != nil {
		return err
	}
	s.Logins = logins
	warnOfUnknown(command, s, p)
	return app.Serve(ctx, s)
}
