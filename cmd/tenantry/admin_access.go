package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type adminListCmd struct {
	settings.StoreFlags `embed:""`
}

// Run writes a table of the platform admins.
func (c *adminListCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.ListAdmins(ctx, s, p.out)
}

type adminGrantCmd struct {
	settings.StoreFlags `embed:""`
	permissionFlags     `embed:""`

	Email string `required:"" placeholder:"ADDRESS" help:"Email address of the account."`
}

// Run makes an account a platform admin.
func (c *adminGrantCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.GrantAdmin(ctx, s, c.Email, c.list(), p.out)
}

type adminRevokeCmd struct {
	settings.StoreFlags `embed:""`

	Email string `required:"" placeholder:"ADDRESS" help:"Email address of the platform admin."`
}

// Run turns a platform admin into an ordinary account.
func (c *adminRevokeCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.RevokeAdmin(ctx, s, c.Email, p.out)
}

type adminResetFactorsCmd struct {
	settings.StoreFlags `embed:""`

	Email string `required:"" placeholder:"ADDRESS" help:"Email address of the account."`
}

// Run removes the second factors of an account.
func (c *adminResetFactorsCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.ResetFactors(ctx, s, c.Email, p.out)
}
