package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
)

type pspCmd struct {
	Reconcile pspReconcileCmd `cmd:"" help:"Compare subscriptions with the payment provider's, list what differs, and take over the provider's state. Differences are listed, not an error: the exit code is 0 with them too."`
}

type pspReconcileCmd struct {
	app.ProviderFlags `embed:""`

	DryRun bool `help:"Only list what differs; change nothing."`
}

// Run reconciles with the payment provider.
func (c *pspReconcileCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.Reconcile(ctx, settings, p.out, c.DryRun)
}
