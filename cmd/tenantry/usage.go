package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type usageCmd struct {
	Rebuild usageRebuildCmd `cmd:"" help:"Recount usage events, list meters with wrong totals, and correct them. Safe while the service is running."`
	Refused usageRefusedCmd `cmd:"" help:"List billable usage that the payment provider rejected, with the reason."`
	Retry   usageRetryCmd   `cmd:"" help:"Queue rejected usage to be reported to the payment provider again."`
	Discard usageDiscardCmd `cmd:"" help:"Discard rejected usage. It will never be billed."`
}

type usageRebuildCmd struct {
	settings.StoreFlags `embed:""`

	Tenant string `placeholder:"ID" help:"Check only this tenant. Default: all."`
	DryRun bool   `help:"List the differences without correcting them. Exits with 1 if there are any."`
	Anew   bool   `help:"Start with the first tenant. Default: continue an interrupted run for all tenants from the last 24 hours."`
}

// Run recalculates the usage counters.
func (c *usageRebuildCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.RebuildUsage(ctx, s, commands.RebuildParams{Tenant: c.Tenant, DryRun: c.DryRun, FromStart: c.Anew, Progress: p.err}, p.out)
}

type usageRefusedCmd struct {
	settings.StoreFlags `embed:""`
}

// Run writes a table of the rejected usage.
func (c *usageRefusedCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.ListRefusedUsage(ctx, s, p.out)
}

// refusedFlags selects rejected usage.
type refusedFlags struct {
	ID  []string `arg:"" optional:"" help:"IDs of the rejected events."`
	All bool     `help:"All rejected usage."`
}

// decide calls do with the selected usage.
func (f refusedFlags) decide(p *process, store settings.StoreFlags, do func(settings.Settings, commands.RejectedUsageSelection) error) error {
	s, err := store.Settings(p.getenv)
	if err != nil {
		return err
	}
	if f.All != (len(f.ID) == 0) {
		return &settings.Error{Name: "id", Reason: "pass either IDs of rejected events or --all"}
	}
	return do(s, commands.RejectedUsageSelection{IDs: f.ID})
}

type usageRetryCmd struct {
	settings.StoreFlags `embed:""`
	refusedFlags        `embed:""`
}

// Run queues rejected usage again.
func (c *usageRetryCmd) Run(ctx context.Context, p *process) error {
	return c.decide(p, c.StoreFlags, func(s settings.Settings, which commands.RejectedUsageSelection) error {
		return commands.RetryRefusedUsage(ctx, s, which, p.out)
	})
}

type usageDiscardCmd struct {
	settings.StoreFlags `embed:""`
	refusedFlags        `embed:""`
}

// Run discards rejected usage.
func (c *usageDiscardCmd) Run(ctx context.Context, p *process) error {
	return c.decide(p, c.StoreFlags, func(s settings.Settings, which commands.RejectedUsageSelection) error {
		return commands.DiscardRefusedUsage(ctx, s, which, p.out)
	})
}
