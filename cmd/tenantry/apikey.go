package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type apiKeyCmd struct {
	Create apiKeyCreateCmd `cmd:"" help:"Create an API key of the platform and print it. It works for every tenant."`
}

type apiKeyCreateCmd struct {
	settings.StoreFlags `embed:""`

	Name  string   `required:"" help:"What the key is for."`
	Scope []string `required:"" sep:"none" placeholder:"SCOPE" help:"What the key opens, such as usage.write or tenants.read. Can be given several times."`
}

// Run creates an API key.
func (c *apiKeyCreateCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.CreateAPIKey(ctx, s, c.Name, c.Scope, p.out)
}
