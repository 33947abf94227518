package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/settings"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/usage"
)

// CatalogExport says how a catalog is written.
type CatalogExport struct {
	File string // "" is the command's output
	// OmitLinks leaves out the payment provider's ids of prices.
	OmitLinks bool
}

// ExportCatalog writes the catalog and the meters of the database as a file that
// ImportCatalog takes. Equal catalogs are the same bytes.
func ExportCatalog(ctx context.Context, s settings.Settings, p CatalogExport, out io.Writer) error {
	return withCatalogs(ctx, s, func(c *catalogs) error {
		exported, err := c.export(ctx)
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
		return os.WriteFile(p.File, text, 0o644) //nolint:gosec // A price list is no secret.
	})
}

// CatalogImport says what is imported, and how.
type CatalogImport struct {
	File   string
	DryRun bool // only show what would change
	Prune  bool // remove what the file does not name
	// Confirm asks whether to make the changes that were shown.
	Confirm func() (bool, error)
}

var (
	errNotConfirmed = errors.New("not confirmed: nothing was changed")
	errMoved        = errors.New("the catalog was changed by somebody else meanwhile: nothing was changed; please look again")
	errOnlyLooking  = errors.New("only looking")
)

// ImportCatalog brings the catalog and the meters of a file into the database.
// What it would change is shown first, one line each; then it is asked for; then
// it is all changed in one transaction, or nothing is. A file that is wrong is a
// SettingError for each problem, which names its line and field.
func ImportCatalog(ctx context.Context, s settings.Settings, p CatalogImport, out io.Writer) error {
	wanted, err := readCatalog(p.File)
	if err != nil {
		return err
	}
	return withCatalogs(ctx, s, func(c *catalogs) error {
		planned, err := c.look(ctx, wanted, p.Prune)
		if err != nil {
			return explain(p.File, err)
		}
		if len(planned) == 0 {
			return say(out, nil, "nothing to change\n")
		}
		for _, line := range planned {
			if err := say(out, nil, "%s\n", line); err != nil {
				return err
			}
		}
		if p.DryRun {
			return say(out, nil, "%s, of which none was made\n", counted(planned))
		}
		confirmed, err := p.Confirm()
		switch {
		case err != nil:
			return err
		case !confirmed:
			return errNotConfirmed
		}
		return say(out, explain(p.File, c.carryOut(ctx, wanted, p.Prune, planned)), "%s made\n", counted(planned))
	})
}

func counted(changes catalog.Changes) string {
	if len(changes) == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", len(changes))
}

func readCatalog(file string) (catalog.Catalog, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return catalog.Catalog{}, &settings.Error{Name: "FILE", Reason: err.Error()}
	}
	c, err := catalog.Parse(text)
	return c, explain(file, err)
}

// explain tells an error about a catalog to whoever wrote the file: problems of
// the file as a SettingError each, refusals in words.
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
	if problem, ok := errors.AsType[*catalog.ProblemError](err); ok {
		return &settings.Error{Name: file, Reason: problem.Error()}
	}
	refusal, ok := errors.AsType[*catalog.RefusalError](err)
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

// catalogs are the domains that a catalog file is about, on one database.
type catalogs struct {
	db      *sqldb.DB
	catalog *catalog.Service
	usage   *usage.Service
}

// withCatalogs runs a command on the catalog of the database. What it changes is
// in the trail, without an actor. Services that run on the same database show it
// within a minute, when what they keep of the public catalog is over.
func withCatalogs(ctx context.Context, s settings.Settings, command func(*catalogs) error) (err error) {
	db, err := openMigrated(ctx, s)
	if err != nil {
		return err
	}
	defer closing(db, &err)
	trail := audit.New(audit.Deps{DB: db, Clock: clock.System()})
	idle := jobs.New(jobs.Deps{DB: db, Clock: clock.System(), Lease: clock.System()}) // runs none of its jobs
	plans := catalog.New(catalog.Deps{
		DB: db, Clock: clock.System(), Audit: trail,
		Subscriptions: subscription.NewService(subscription.Deps{DB: db, Clock: clock.System(), Jobs: idle}),
	})
	meters := usage.NewService(usage.Deps{DB: db, Clock: clock.System(), Jobs: idle, Currencies: plans, Audit: trail})
	return command(&catalogs{db, plans, meters})
}

func (c *catalogs) export(ctx context.Context) (exported catalog.Catalog, err error) {
	err = c.db.Tx(ctx, func(ctx context.Context) error {
		meters, err := c.usage.ExportMeters(ctx)
		if err != nil {
			return err
		}
		var currencies []string
		for _, m := range meters {
			for code := range m.Prices {
				currencies = append(currencies, code)
			}
		}
		exported, err = c.catalog.Export(ctx, currencies)
		exported.Meters = meters
		return err
	})
	return exported, err
}

// apply brings everything that a file has into the database in one transaction.
func (c *catalogs) apply(ctx context.Context, wanted catalog.Catalog, prune bool) (changes catalog.Changes, err error) {
	err = c.db.Tx(ctx, func(ctx context.Context) error {
		plans, err := c.catalog.Apply(ctx, wanted, prune)
		if err != nil {
			return err
		}
		meters, err := c.usage.ApplyMeters(ctx, wanted.Meters, prune)
		changes = slices.Concat(plans, meters)
		return err
	})
	return changes, err
}

// look tells what apply would change, by doing it and taking it back: so what is
// shown is what is then done, and what is refused is refused before.
func (c *catalogs) look(ctx context.Context, wanted catalog.Catalog, prune bool) (changes catalog.Changes, err error) {
	err = c.db.Tx(ctx, func(ctx context.Context) error {
		if changes, err = c.apply(ctx, wanted, prune); err != nil {
			return err
		}
		return errOnlyLooking
	})
	if errors.Is(err, errOnlyLooking) {
		err = nil
	}
	return changes, err
}

// carryOut applies what was planned, unless it has become something else.
func (c *catalogs) carryOut(ctx context.Context, wanted catalog.Catalog, prune bool, planned catalog.Changes) error {
	return c.db.Tx(ctx, func(ctx context.Context) error {
		changes, err := c.apply(ctx, wanted, prune)
		if err == nil && !slices.Equal(changes, planned) {
			err = errMoved
		}
		return err
	})
}
