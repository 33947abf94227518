package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type distributeCmd struct {
	settings.StoreFlags `embed:""`

	Shards int  `default:"32" help:"Number of shards, which cannot be changed later. Only the first run uses it."`
	Print  bool `help:"Print the statements for psql without running them."`
}

// Run distributes the database over a Citus cluster.
func (c *distributeCmd) Run(ctx context.Context, p *process) error {
	if c.Print {
		return commands.PrintDistribution(p.out, c.Shards)
	}
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.Distribute(ctx, s, p.out, c.Shards)
}
