package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"golang.org/x/term"

	"github.com/tenantry/tenantry/internal/app/commands"
	"github.com/tenantry/tenantry/internal/settings"
)

type catalogCmd struct {
	Export catalogExportCmd `cmd:"" help:"Export the catalog and meters to a YAML file."`
	Import catalogImportCmd `cmd:"" help:"Import the catalog and meters from a YAML file. Shows the changes first."`
}

type catalogExportCmd struct {
	settings.StoreFlags `embed:""`

	Output     string `placeholder:"FILE" help:"File to write. Default: standard output."`
	OmitPSPIDs bool   `name:"omit-psp-ids" help:"Omit the payment provider's price IDs, for importing into a database that uses a different account."`
}

// Run writes the catalog.
func (c *catalogExportCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.ExportCatalog(ctx, s, commands.CatalogExport{File: c.Output, OmitLinks: c.OmitPSPIDs}, p.out)
}

type catalogImportCmd struct {
	settings.ImportFlags `embed:""`

	File   string `arg:"" help:"YAML file, as written by export."`
	DryRun bool   `help:"Show the changes without making them."`
	Prune  bool   `help:"Delete products, plans, prices, features, entitlements and meters that are not in the file. Objects used by a subscription cannot be deleted."`
	Yes    bool   `help:"Make the changes without confirmation. Required without a terminal."`
}

// Run shows the changes, asks for confirmation, and makes the changes.
func (c *catalogImportCmd) Run(ctx context.Context, p *process) error {
	s, err := c.Settings(p.getenv)
	if err != nil {
		return err
	}
	return commands.ImportCatalog(ctx, s, commands.CatalogImport{
		File: c.File, DryRun: c.DryRun, Prune: c.Prune, Notes: p.err, Confirm: func() (bool, error) { return c.confirm(p) },
	}, p.out)
}

// confirm asks the user in the terminal, unless --yes is set.
func (c *catalogImportCmd) confirm(p *process) (bool, error) {
	if c.Yes {
		return true, nil
	}
	if !term.IsTerminal(int(p.in.Fd())) {
		return false, &settings.Error{Name: "--yes", Reason: "no terminal to ask for confirmation; pass --yes, or --dry-run to only show the changes"}
	}
	_, _ = fmt.Fprint(p.err, "Make these changes? [y/N] ")
	answer, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && answer == "" {
		return false, nil // end of input means no
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
