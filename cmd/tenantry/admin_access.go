package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
)

type adminListCmd struct {
	app.StoreFlags `embed:""`
}

// Run writes a table of the platform admins.
func (c *adminListCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.ListAdmins(ctx, settings, p.out)
}

type adminGrantCmd struct {
	app.StoreFlags  `embed:""`
	permissionFlags `embed:""`

	Email string `required:"" placeholder:"ADDRESS" help:"Mail address of the account."`
}

// Run makes an account a platform admin.
func (c *adminGrantCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.GrantAdmin(ctx, settings, c.Email, c.list(), p.out)
}

type adminRevokeCmd struct {
	app.StoreFlags `embed:""`

	Email string `required:"" placeholder:"ADDRESS" help:"Mail address of the platform admin."`
}

// Run makes a platform admin an ordinary account.
func (c *adminRevokeCmd) Run(ctx context.Context, p *process) error {
	settings, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.RevokeAdmin(ctx, settings, c.Email, p.out)
}
