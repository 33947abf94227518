package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type importCmd struct {
	settings.ImportFlags `embed:""`

	Dir           string `arg:"" optional:"" help:"Folder with some or all of users.csv, tenants.csv, memberships.csv and subscriptions.csv."`
	Users         string `placeholder:"FILE" help:"CSV file of users: id, email, name, locale, verified, password_hash."`
	Tenants       string `placeholder:"FILE" help:"CSV file of tenants: id, name, owner_email, slug, currency, legal_name, address, city, postal_code, country, vat_number, billing_email."`
	Memberships   string `placeholder:"FILE" help:"CSV file of memberships: tenant, email, role."`
	Subscriptions string `placeholder:"FILE" help:"CSV file of existing Stripe subscriptions: tenant, psp_subscription_id, psp_customer_id."`
	DryRun        bool   `help:"Check the files and show the changes without making them."`
}

// Run checks the files and imports them.
func (c *importCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.Import(ctx, s, app.ImportParams{
		Dir: c.Dir, Users: c.Users, Tenants: c.Tenants, Memberships: c.Memberships, Subscriptions: c.Subscriptions,
		DryRun: c.DryRun, Out: p.out, Notes: p.err,
	})
}
