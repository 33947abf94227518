package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type backupCmd struct {
	settings.StoreFlags `embed:""`

	File string `arg:"" help:"New file to write, which must not exist."`
}

// Run writes a backup.
func (c *backupCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.Backup(ctx, s, c.File, p.out)
}

type restoreCmd struct {
	settings.StoreFlags `embed:""`

	Force bool   `help:"Restore although there is a database. It is kept beside the restored one, with the time in its name."`
	File  string `arg:"" help:"Backup to read."`
}

// Run restores a backup.
func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.Restore(ctx, s, c.File, c.Force, p.out)
}
