package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
)

type serveCmd struct {
	app.ServeFlags `embed:""`
}

// Run runs the service in production until the context ends.
func (c *serveCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.Serve(ctx, settings)
}
