package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
)

type devCmd struct {
	app.DevFlags `embed:""`
}

// Run runs the service with its sandbox until the context ends.
func (c *devCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.Dev(ctx, settings)
}
