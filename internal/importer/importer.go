// Package importer imports users, tenants, memberships and subscriptions of another system from CSV
// files.
//
// Invariants: the importer checks every file completely before it changes anything, and changes
// nothing if a line is invalid. It then imports each line in a separate transaction, which also
// records that the line was imported. An interrupted import therefore loses nothing, and the next
// run continues where it stopped.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Catalog is the part of the catalog that the importer uses.
type Catalog interface {
	CurrencyExists(ctx context.Context, code string) (bool, error)
	Plan(ctx context.Context, id uuid.UUID) (catalog.Plan, error)
}

// Provider is the part of the payment provider that the importer uses. *psp.Client implements it.
type Provider interface {
	GetSubscription(ctx context.Context, id string) (psp.Subscription, error)
}

// Factors is the part of second factors that the importer uses. *factor.Service implements it.
type Factors interface {
	ImportTOTP(ctx context.Context, userID int64, secret string) error
}

// Audit records changes in the audit log. *audit.Log implements it.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Accounts      *account.Service
	Tenants       *tenant.Service
	Team          *team.Service
	Subscriptions *subscription.Service
	Catalog       Catalog
	Provider      Provider
	Audit         Audit
	Factors       Factors
	// SecretsKeyErr is the reason why secrets cannot be encrypted, or nil. Unless it is nil, lines
	// with a TOTP secret are invalid.
	SecretsKeyErr error
}

// Service imports CSV files.
type Service struct {
	deps  Deps
	store store
}

// New returns a new Service.
func New(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// Files holds the paths of the files to import. An empty path means that the file is omitted.
type Files struct{ Users, Tenants, Memberships, Subscriptions string }

// Run configures an import.
type Run struct {
	Files  Files
	DryRun bool
	Out    io.Writer // receives the results and the problems of invalid lines
	Notes  io.Writer // receives progress messages
}

// ErrInvalidLines means that files have invalid lines. Import has written a message for each of
// them to Run.Out.
var ErrInvalidLines = errors.New("nothing was imported")

// action is the effect of importing a line.
type action int

const (
	keep action = iota
	create
	update
)

// decision says how to import a line.
type decision struct {
	action action
	notes  []string                    // fields that the import leaves unchanged, and why
	do     func(context.Context) error // nil if there is nothing to write
}

// kind describes one kind of import file.
type kind struct {
	name    string
	file    string
	columns []column
	decide  func(ctx context.Context, p *pass, r row) (decision, error)
}

func (s *Service) kinds(f Files) []kind {
	var kinds []kind
	for _, k := range []kind{
		{"users", f.Users, userColumns, s.user},
		{"tenants", f.Tenants, tenantColumns, s.tenant},
		{"subscriptions", f.Subscriptions, subscriptionColumns, s.subscription}, // before the members, who need its seats
		{"memberships", f.Memberships, membershipColumns, s.membership},
	} {
		if k.file != "" {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Import checks the files and, unless run.DryRun is set, imports them. The error wraps
// ErrInvalidLines if any line is invalid.
func (s *Service) Import(ctx context.Context, run Run) error {
	kinds, wrong := s.kinds(run.Files), 0
	checked := newPass(false)
	for _, k := range kinds {
		counts, err := s.check(ctx, k, checked, run)
		if err != nil {
			return err
		}
		wrong += counts.wrong
		if err := counts.write(run.Out, k.name, "to create", "to update"); err != nil {
			return err
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%w: %d invalid lines", ErrInvalidLines, wrong)
	}
	if run.DryRun {
		_, err := fmt.Fprintln(run.Out, "no changes made (dry run)")
		return err
	}
	made := newPass(true)
	for _, k := range kinds {
		counts, err := s.apply(ctx, k, made, run)
		if err != nil {
			return err
		}
		if err := counts.write(run.Out, k.name, "created", "updated"); err != nil {
			return err
		}
	}
	return nil
}

// counts holds the number of lines per outcome.
type counts struct {
	wrong int
	of    [3]int // indexed by action
}

func (c counts) write(out io.Writer, name, created, updated string) error {
	text := fmt.Sprintf("%s: %d %s, %d %s, %d unchanged", name, c.of[create], created, c.of[update], updated, c.of[keep])
	if c.wrong > 0 {
		text += fmt.Sprintf(", %d wrong", c.wrong)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// progressLines is the number of lines between two progress messages.
const progressLines = 5000

// check validates each line of a file without changing anything.
func (s *Service) check(ctx context.Context, k kind, p *pass, run Run) (c counts, err error) {
	err = readLines(k, func(r row, bad error) error {
		d, err := decision{}, bad
		if err == nil {
			d, err = k.decide(ctx, p, r)
		}
		problems, ours := problemsOf(err)
		if !ours {
			return fmt.Errorf("%s:%d: %w", k.file, r.line, err)
		}
		for _, problem := range problems {
			if _, err := fmt.Fprintf(run.Out, "%s:%d: %s\n", k.file, r.line, problem); err != nil {
				return err
			}
		}
		if len(problems) > 0 {
			c.wrong++
			return nil
		}
		for _, note := range d.notes {
			if _, err := fmt.Fprintf(run.Out, "%s:%d: note: %s\n", k.file, r.line, note); err != nil {
				return err
			}
		}
		c.of[d.action]++
		return p.progress(run.Notes, k.name, "checked")
	})
	return c, err
}

// apply imports each line of a file.
func (s *Service) apply(ctx context.Context, k kind, p *pass, run Run) (c counts, err error) {
	err = readLines(k, func(r row, bad error) error {
		d, err := decision{}, bad
		if err == nil {
			d, err = k.decide(ctx, p, r)
		}
		if err == nil && d.do != nil {
			err = d.do(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w (the lines above were imported; run the import again)", k.file, r.line, err)
		}
		c.of[d.action]++
		return p.progress(run.Notes, k.name, "imported")
	})
	return c, err
}
