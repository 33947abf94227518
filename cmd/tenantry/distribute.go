package main

import (
	"context"
	"io"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

type distributeCmd struct {
	settings.StoreFlags `embed:""`

	Shards int  `default:"32" help:"Number of shards, which cannot be changed later. Only the first run uses it."`
	Print  bool `help:"Print the statements for psql without running them."`
}

// Run distributes the database over a Citus cluster.
func (c *distributeCmd) Run(ctx context.Context, p *process) error {
	if c.Print {
		_, err := io.WriteString(p.out, distribution.Script(c.Shards))
		return err
	}
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.Distribute(ctx, s, p.out, c.Shards)
}
