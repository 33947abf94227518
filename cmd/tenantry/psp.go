package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type pspCmd struct {
	Check     pspCheckCmd     `cmd:"" help:"Check the account at Stripe and say what to do: the secret key with its permissions, whether the account can charge, the webhook endpoint with its events, events that were not delivered, the billing portal, every linked price and meter, and the clock. It only reads. The exit code is 1 if something is an error; warnings are none."`
	Reconcile pspReconcileCmd `cmd:"" help:"Compare subscriptions and invoices with the payment provider, list the differences and adopt the provider's state. Invoices that the service issues (platform_managed) are compared by state, total and currency, and only their state is ever changed; of the provider's invoices (psp_managed) only the stored ids are compared. Differences are not an error: the exit code is 0. It is 1 if something could not be compared."`
}

type pspCheckCmd struct {
	settings.CheckFlags `embed:""`

	JSON bool `name:"json" help:"Write an object with all checks in place of text: {checks: [{name, status, detail, fix}]}."`
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

	DryRun bool `help:"Only list the differences; change nothing."`
}

// Run compares the database with the payment provider and repairs differences.
func (c *pspReconcileCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.Reconcile(ctx, s, p.out, c.DryRun)
}
