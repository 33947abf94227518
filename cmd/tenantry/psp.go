package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type pspCmd struct {
	Check     pspCheckCmd     `cmd:"" help:"Check the Stripe account and suggest fixes. Checks the secret key and its permissions, whether the account can charge, the webhook endpoint and its events, undelivered events, the billing portal, linked prices and meters, and the clock. Does not change anything. Exits with 1 if there are errors. Warnings do not count as errors."`
	Reconcile pspReconcileCmd `cmd:"" help:"Compare subscriptions and invoices with the payment provider, list the differences and adopt the provider's state. For invoices issued by this service (platform_managed), status, total and currency are compared, and only the status is changed. For invoices issued by the provider (psp_managed), only the stored IDs are compared. Exits with 1 if a comparison fails. Differences do not count as errors."`
}

type pspCheckCmd struct {
	settings.CheckFlags `embed:""`

	JSON bool `name:"json" help:"Output JSON: {checks: [{name, status, detail, fix}]}."`
}

// Run checks the account at the payment provider.
func (c *pspCheckCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.CheckProvider(ctx, s, p.out, c.JSON)
}

type pspReconcileCmd struct {
	settings.ProviderFlags `embed:""`

	DryRun bool `help:"List the differences without changing anything."`
}

// Run compares the database with the payment provider and repairs differences.
func (c *pspReconcileCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.Reconcile(ctx, s, p.out, c.DryRun)
}
