package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/currency"
	"github.com/tenantry/tenantry/internal/catalog/pack"
	"github.com/tenantry/tenantry/internal/catalog/pricelist"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
	"github.com/tenantry/tenantry/internal/usage/meters"
)

// CatalogExport configures an export of the catalog.
type CatalogExport struct {
	File string // "" writes to the command's output
	// OmitLinks omits the payment provider's price ids.
	OmitLinks bool
}

// ExportCatalog writes the catalog and the meters as a file for ImportCatalog. Equal catalogs
// result in identical files.
func ExportCatalog(ctx context.Context, s settings.Settings, p CatalogExport, out io.Writer) error {
	return withPriceList(ctx, s, func(list *pricelist.Service) error {
		exported, err := list.Export(ctx)
		if err != nil {
			return err
		}
		if p.OmitLinks {
			exported = exported.WithoutLinks()
		}
		text, err := exported.YAML()
		if err != nil {
			return err
		}
		if p.File == "" {
			_, err = out.Write(text)
			return err
		}
		return os.WriteFile(p.File, text, 0o644) //nolint:gosec // A price list is not secret.
	})
}

// CatalogImport configures an import of the catalog.
type CatalogImport struct {
	File   string
	DryRun bool // only show the changes
	Prune  bool // delete objects that are not in the file
	// Notes receives notes other than the changes; nil discards them.
	Notes io.Writer
	// Confirm asks the user whether to make the changes.
	Confirm func() (bool, error)
}

var errNotConfirmed = errors.New("not confirmed: nothing was changed")

// ImportCatalog imports the catalog and the meters from a file. It shows each change on a line,
// asks for confirmation, and makes all changes in one transaction. If a key of the payment provider
// is set, it checks the new links at the provider first. For each mistake in the file the error
// contains a *settings.Error with the line and field.
func ImportCatalog(ctx context.Context, s settings.Settings, p CatalogImport, out io.Writer) error {
	wanted, err := readCatalog(p.File)
	if err != nil {
		return err
	}
	return withPriceList(ctx, s, func(list *pricelist.Service) error {
		if err := checkLinks(ctx, s, p, list, wanted); err != nil {
			return explain(p.File, err)
		}
		changes, err := list.Preview(ctx, wanted, p.Prune)
		if err != nil {
			return explain(p.File, err)
		}
		if len(changes) == 0 {
			return printResult(out, nil, "nothing to change\n")
		}
		for _, line := range changes {
			if err := printResult(out, nil, "%s\n", line); err != nil {
				return err
			}
		}
		if p.DryRun {
			return printResult(out, nil, "%s found; no changes made (dry run)\n", FormatCount(len(changes), "change"))
		}
		confirmed, err := p.Confirm()
		switch {
		case err != nil:
			return err
		case !confirmed:
			return errNotConfirmed
		}
		return printResult(out, explain(p.File, list.ApplyPreviewed(ctx, wanted, p.Prune, changes)), "%s made\n", FormatCount(len(changes), "change"))
	})
}

// FormatCount returns n with the noun what, in the singular or in a regular plural.
func FormatCount(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func readCatalog(file string) (pricelist.Catalog, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return pricelist.Catalog{}, &settings.Error{Name: "FILE", Reason: err.Error()}
	}
	c, err := pricelist.Parse(text)
	return c, explain(file, err)
}

// explain rewrites an error for the author of the file: a mistake in the file becomes a
// *settings.Error, and a rejection becomes its message in English.
func explain(file string, err error) error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, err := range joined.Unwrap() {
			all = append(all, explain(file, err))
		}
		return errors.Join(all...)
	}
	if problem, ok := errors.AsType[*pricelist.ProblemError](err); ok {
		return &settings.Error{Name: file, Reason: problem.Error()}
	}
	refusal, ok := errors.AsType[*pricelist.RefusalError](err)
	if !ok {
		return err
	}
	refused, ok := errors.AsType[*fault.Error](refusal.Err)
	if !ok {
		return err
	}
	messages, failed := i18n.Load()
	if failed != nil {
		return failed
	}
	text := messages.Text(i18n.Default, refused.Message, refused.Args)
	if len(refused.Fields) > 0 {
		field := refused.Fields[0]
		text = field.Path + ": " + messages.Text(i18n.Default, field.Message, field.Args)
	}
	return fmt.Errorf("%s: %s", refusal.Record, text)
}

// withPriceList runs a command on the catalog of the database. The audit trail records its changes
// without an actor. Running services show the changes within a minute, because they cache the
// public catalog for that long. One of them publishes the changed entitlements.
func withPriceList(ctx context.Context, s settings.Settings, command func(*pricelist.Service) error) (err error) {
	db, err := OpenExisting(ctx, s)
	if err != nil {
		return err
	}
	defer CloseJoining(db, &err)
	trail := audit.New(audit.Deps{DB: db, Clock: clock.System()})
	plans := catalog.New(catalog.Deps{
		DB: db, Clock: clock.System(), Audit: trail,
		Subscriptions: entitlement.NewRegister(db, clock.System(), 0),
		Jobs:          jobs.New(jobs.Deps{DB: db, Clock: clock.System(), Lease: clock.System()}),
	})
	packs := pack.New(db, plans)
	return command(pricelist.New(pricelist.Deps{
		DB: db, Catalog: plans,
		Currencies: currency.New(currency.Deps{DB: db, Clock: clock.System(), Catalog: plans, Audit: trail, Base: s.BaseCurrency}),
		Packs:      packs,
		Meters:     meters.NewService(meters.Deps{DB: db, Clock: clock.System(), Currencies: plans, Audit: trail, Packs: packs}),
	}))
}
