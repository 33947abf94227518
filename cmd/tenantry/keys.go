package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app"
	"github.com/tenantry/tenantry/internal/settings"
)

type keysCmd struct {
	Rotate keysRotateCmd `cmd:"" help:"Make the next key sign tokens. The former key stays in the key set for 7 days. Works while the server is running, which also rotates the keys every 90 days."`
}

type keysRotateCmd struct {
	settings.StoreFlags `embed:""`
}

// Run rotates the signing keys.
func (c *keysRotateCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return app.RotateKeys(ctx, s, p.out)
}
