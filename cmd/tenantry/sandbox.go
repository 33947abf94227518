package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type sandboxCmd struct {
	Stripe stripeSandboxCmd `cmd:"" help:"Run a stateful simulation of Stripe's API. It does not move money."`
}

type stripeSandboxCmd struct {
	settings.StripeSandboxFlags `embed:""`
}

// Run serves the sandbox's payment provider until the context ends.
func (c *stripeSandboxCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings()
	if err != nil {
		return err
	}
	return app.StripeSandbox(ctx, s, p.out, p.err)
}
