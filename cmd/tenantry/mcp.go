package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type mcpCmd struct {
	settings.MCPFlags
}

// Run serves an AI assistant until the context or the input ends.
func (c *mcpCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.ServeMCP(ctx, s, readBuild().Version)
}
