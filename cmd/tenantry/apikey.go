package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type apiKeyCmd struct {
	Create apiKeyCreateCmd `cmd:"" help:"Create a platform API key, which works for all tenants, and print it."`
}

type apiKeyCreateCmd struct {
	settings.StoreFlags `embed:""`

	Name  string   `required:"" help:"Name of the key."`
	Scope []string `required:"" sep:"none" placeholder:"SCOPE" help:"Scope of the key, such as usage.write or tenants.read. Can be repeated."`
}

// Run creates an API key.
func (c *apiKeyCreateCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.CreateAPIKey(ctx, s, c.Name, c.Scope, p.out)
}
