// Package importer brings users, tenants, memberships and subscriptions of another system
// in from CSV files.
//
// Invariants: all files are checked to their end before the first change, and where a line
// is wrong nothing is changed. Then each line is a transaction of its own, which also notes
// that the line was imported. So an import that was interrupted has lost nothing, and its
// repetition goes on where it ended.
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

// Catalog is what the import needs of the catalog.
type Catalog interface {
	CurrencyExists(ctx context.Context, code string) (bool, error)
	Plan(ctx context.Context, id uuid.UUID) (catalog.Plan, error)
}

// Provider is what the import needs of the payment provider; *psp.Client is one.
type Provider interface {
	GetSubscription(ctx context.Context, id string) (psp.Subscription, error)
}

// Audit keeps the trail of what was changed; *audit.Log is one.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps is what the service needs.
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
}

// Service imports files.
type Service struct {
	deps  Deps
	store store
}

// New returns the service.
func New(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// Files are the files to import; "" is one that there is not.
type Files struct{ Users, Tenants, Memberships, Subscriptions string }

// Run says how files are imported.
type Run struct {
	Files  Files
	DryRun bool
	Out    io.Writer // gets the result, and each line that is wrong
	Notes  io.Writer // gets the progress
}

// ErrInvalidLines says that lines are wrong, which were written one by one.
var ErrInvalidLines = errors.New("nothing was imported")

// action is what is done with a line.
type action int

const (
	keep action = iota
	create
	update
)

// decision is what is to be done with a line.
type decision struct {
	action action
	notes  []string                    // what the import leaves as it is
	do     func(context.Context) error // nil where there is nothing to do
}

// kind is one of the kinds of files.
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
		{"memberships", f.Memberships, membershipColumns, s.membership},
		{"subscriptions", f.Subscriptions, subscriptionColumns, s.subscription},
	} {
		if k.file != "" {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// Import checks the files, and then imports them unless that is a dry run. The error is
// an ErrWrong where lines are wrong.
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
		return fmt.Errorf("%w: %d wrong lines", ErrInvalidLines, wrong)
	}
	if run.DryRun {
		_, err := fmt.Fprintln(run.Out, "nothing was changed (dry run)")
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

// counts are how many lines of a file came to what.
type counts struct {
	wrong int
	of    [3]int // by action
}

func (c counts) write(out io.Writer, name, created, updated string) error {
	text := fmt.Sprintf("%s: %d %s, %d %s, %d unchanged", name, c.of[create], created, c.of[update], updated, c.of[keep])
	if c.wrong > 0 {
		text += fmt.Sprintf(", %d wrong", c.wrong)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}

// progressLines is after how many lines the progress is told.
const progressLines = 5000

// check decides about each line of a file and changes nothing.
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
			return fmt.Errorf("%s:%d: %w (what the lines above say was imported; run the import again)", k.file, r.line, err)
		}
		c.of[d.action]++
		return p.progress(run.Notes, k.name, "imported")
	})
	return c, err
}
