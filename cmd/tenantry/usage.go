package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
)

type usageCmd struct {
	Rebuild usageRebuildCmd `cmd:"" help:"Count usage events anew, tell where a meter showed something else, and put that right. Safe while the service runs."`
}

type usageRebuildCmd struct {
	app.StoreFlags `embed:""`

	Tenant string `placeholder:"ID" help:"Only this tenant; all unless given."`
	DryRun bool   `help:"Only tell the differences; exits with 1 if there are any."`
}

// Run rebuilds the counters of usage.
func (c *usageRebuildCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.RebuildUsage(ctx, settings, app.RebuildParams{Tenant: c.Tenant, DryRun: c.DryRun}, p.out)
}
