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
	Export catalogExportCmd `cmd:"" help:"Write the catalog and the meters as a YAML file."`
	Import catalogImportCmd `cmd:"" help:"Import the catalog and the meters of a YAML file, after showing what would change."`
}

type catalogExportCmd struct {
	settings.StoreFlags `embed:""`

	Output     string `placeholder:"FILE" help:"File to write. Default: standard output."`
	OmitPSPIDs bool   `name:"omit-psp-ids" help:"Leave out the payment provider's price ids, for a database that uses another account there."`
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

	File   string `arg:"" help:"YAML file in the format that export writes."`
	DryRun bool   `help:"Only show what would change."`
	Prune  bool   `help:"Delete the products, plans, prices, features, entitlements and meters that the file does not contain. What a subscription uses cannot be deleted."`
	Yes    bool   `help:"Make the changes without asking. Required where there is no terminal."`
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
		return false, &settings.Error{Name: "--yes", Reason: "there is no terminal to ask for confirmation; pass --yes, or --dry-run to only see the changes"}
	}
	_, _ = fmt.Fprint(p.err, "Make these changes? [y/N] ")
	answer, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil && answer == "" {
		return false, nil // end of input means no
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
