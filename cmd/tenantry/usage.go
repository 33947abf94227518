package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
)

type usageCmd struct {
	Rebuild usageRebuildCmd `cmd:"" help:"Count usage events anew, tell where a meter showed something else, and put that right. Safe while the service runs."`
	Refused usageRefusedCmd `cmd:"" help:"List billable usage that the payment provider was told of in vain, with the reason."`
	Retry   usageRetryCmd   `cmd:"" help:"Have refused usage told to the payment provider again, by the running service."`
	Discard usageDiscardCmd `cmd:"" help:"Give refused usage up: it is not billed."`
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

type usageRefusedCmd struct {
	app.StoreFlags `embed:""`
}

// Run writes a table of the refused usage.
func (c *usageRefusedCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.ListRefusedUsage(ctx, settings, p.out)
}

// refusedFlags name refused usage.
type refusedFlags struct {
	ID  []string `arg:"" optional:"" help:"Of the refused events."`
	All bool     `help:"All that are refused."`
}

func (f refusedFlags) params() (app.RefusedParams, error) {
	if f.All != (len(f.ID) == 0) {
		return app.RefusedParams{}, &app.SettingError{Name: "id", Reason: "name the ids of refused usage, or --all"}
	}
	return app.RefusedParams{IDs: f.ID}, nil
}

type usageRetryCmd struct {
	app.StoreFlags `embed:""`
	refusedFlags   `embed:""`
}

// Run has refused usage told again.
func (c *usageRetryCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	params, err := c.params()
	if err != nil {
		return err
	}
	return app.RetryRefusedUsage(ctx, settings, params, p.out)
}

type usageDiscardCmd struct {
	app.StoreFlags `embed:""`
	refusedFlags   `embed:""`
}

// Run gives refused usage up.
func (c *usageDiscardCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	params, err := c.params()
	if err != nil {
		return err
	}
	return app.DiscardRefusedUsage(ctx, settings, params, p.out)
}
