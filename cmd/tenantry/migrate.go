package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type migrateCmd struct {
	settings.StoreFlags `embed:""`

	Status bool `help:"Show the applied and pending migrations without migrating."`
}

// Run migrates the database, or shows which migrations are pending.
func (c *migrateCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.Migrate(ctx, s, p.out, c.Status)
}
