package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type pspCmd struct {
	Reconcile pspReconcileCmd `cmd:"" help:"Compare subscriptions and invoices with the payment provider's, list what differs, and take over the provider's state. Invoices that are issued here (platform_managed) are compared by state, total and currency, and are never changed but in their state; of the provider's own (psp_managed) only the ids that are kept here. Differences are listed, not an error: the exit code is 0 with them too; it is 1 when something could not be compared, which is named."`
}

type pspReconcileCmd struct {
	settings.ProviderFlags `embed:""`

	DryRun bool `help:"Only list what differs; change nothing."`
}

// Run reconciles with the payment provider.
func (c *pspReconcileCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.Reconcile(ctx, s, p.out, c.DryRun)
}
