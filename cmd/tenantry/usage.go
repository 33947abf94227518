package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type usageCmd struct {
	Rebuild usageRebuildCmd `cmd:"" help:"Count usage events anew, tell where a meter showed something else, and put that right. Safe while the service runs."`
	Refused usageRefusedCmd `cmd:"" help:"List billable usage that the payment provider was told of in vain, with the reason."`
	Retry   usageRetryCmd   `cmd:"" help:"Have refused usage told to the payment provider again, by the running service."`
	Discard usageDiscardCmd `cmd:"" help:"Give refused usage up: it is not billed."`
}

type usageRebuildCmd struct {
	settings.StoreFlags `embed:""`

	Tenant string `placeholder:"ID" help:"Only this tenant; all unless given."`
	DryRun bool   `help:"Only tell the differences; exits with 1 if there are any."`
}

// Run rebuilds the counters of usage.
func (c *usageRebuildCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.RebuildUsage(ctx, s, app.RebuildParams{Tenant: c.Tenant, DryRun: c.DryRun}, p.out)
}

type usageRefusedCmd struct {
	settings.StoreFlags `embed:""`
}

// Run writes a table of the refused usage.
func (c *usageRefusedCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.ListRefusedUsage(ctx, s, p.out)
}

// refusedFlags name refused usage.
type refusedFlags struct {
	ID  []string `arg:"" optional:"" help:"Of the refused events."`
	All bool     `help:"All that are refused."`
}

// decide does to the named refusals what a command is for.
func (f refusedFlags) decide(p *process, store settings.StoreFlags, do func(settings.Settings, app.RefusedParams) error) error {
	s, err := store.Settings(p.getenv)
	if err != nil {
		return err
	}
	if f.All != (len(f.ID) == 0) {
		return &settings.Error{Name: "id", Reason: "name the ids of refused usage, or --all"}
	}
	return do(s, app.RefusedParams{IDs: f.ID})
}

type usageRetryCmd struct {
	settings.StoreFlags `embed:""`
	refusedFlags        `embed:""`
}

// Run has refused usage told again.
func (c *usageRetryCmd) Run(ctx context.Context, p *process) error {
	return c.decide(p, c.StoreFlags, func(s settings.Settings, which app.RefusedParams) error {
		return app.RetryRefusedUsage(ctx, s, which, p.out)
	})
}

type usageDiscardCmd struct {
	settings.StoreFlags `embed:""`
	refusedFlags        `embed:""`
}

// Run gives refused usage up.
func (c *usageDiscardCmd) Run(ctx context.Context, p *process) error {
	return c.decide(p, c.StoreFlags, func(s settings.Settings, which app.RefusedParams) error {
		return app.DiscardRefusedUsage(ctx, s, which, p.out)
	})
}
