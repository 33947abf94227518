package main

import (
	"context"
	"errors"

	"github.com/alecthomas/kong"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type devCmd struct {
	settings.DevFlags `embed:""`
}

// Run runs the service with its sandbox until the context ends.
func (c *devCmd) Run(ctx context.Context, command *kong.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	logins, loginErr := settings.LoginProviders(p.environ())
	if err := errors.Join(err, loginErr); err != nil {
		return err
	}
	s.Logins = logins
	warnOfUnknown(command, s, p)
	return app.Dev(ctx, s, p.out, p.err)
}
