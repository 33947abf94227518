package main

import (
	"context"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type backupCmd struct {
	settings.StoreFlags `embed:""`

	File string `arg:"" help:"File to write. Must not exist."`
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

	Force bool   `help:"Replace an existing database. It is kept in the same folder, with the time in its name."`
	File  string `arg:"" help:"Backup file to read."`
}

// Run restores a backup.
func (c *restoreCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.Restore(ctx, s, c.File, c.Force, p.out)
}
