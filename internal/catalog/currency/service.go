package currency

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// Deps are the dependencies of the service.
type Deps struct {
	DB      *sqldb.DB
	Clock   clock.Clock
	Catalog *catalog.Service
	Audit   catalog.Audit
	// Base is the base currency, which stays active because the service does not start without it. It is ""
	// for none.
	Base string
}

// Service changes the currencies. It is safe for concurrent use.
type Service struct {
	db      *sqldb.DB
	clock   clock.Clock
	catalog *catalog.Service
	audit   catalog.Audit
	base    string
	store   store
}

// New returns a Service.
func New(d Deps) *Service {
	return &Service{db: d.DB, clock: d.Clock, catalog: d.Catalog, audit: d.Audit, base: d.Base, store: store{conn: d.DB.Conn}}
}

// ListAddable lists the ISO 4217 currencies that have not been added, by code. It excludes codes
// that are not money (funds, metals, test codes) and currencies with other than 0, 2 or 3 decimals.
func (s *Service) ListAddable(ctx context.Context) ([]catalog.Currency, error) {
	listed, err := isoCurrencies()
	if err != nil {
		return nil, err
	}
	added, err := s.catalog.Currencies(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(listed, func(c catalog.Currency) bool {
		return slices.ContainsFunc(added, func(a catalog.Currency) bool { return a.Code == c.Code })
	}), nil
}

// Create adds a currency, which need not be in ISO 4217. Its code must be three upper-case letters.
// It returns a 422 error on code if the code exists.
func (s *Service) Create(ctx context.Context, c catalog.Currency) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		created, err := s.insert(ctx, c)
		if err == nil && !created {
			err = errTaken
		}
		return err
	})
}

// insert adds a currency and reports whether it did. It returns false if the code exists.
func (s *Service) insert(ctx context.Context, c catalog.Currency) (created bool, err error) {
	created, err = s.store.insert(ctx, c, s.clock.Now())
	if err != nil || !created {
		return false, err
	}
	s.db.AfterCommit(ctx, s.catalog.InvalidateCache)
	return true, s.record(ctx, "created", c.Code, nil, trailEntry(c))
}

// AddListed adds ISO 4217 currencies by code, case-insensitively, in one transaction. It does not
// change existing currencies.
func (s *Service) AddListed(ctx context.Context, codes []string) (AddedCurrencies, error) {
	listed, err := isoCurrencies()
	if err != nil {
		return AddedCurrencies{}, err
	}
	var out AddedCurrencies
	err = s.db.Tx(ctx, func(ctx context.Context) error {
		out = AddedCurrencies{Created: []string{}, SkippedExisting: []string{}, Invalid: []string{}}
		seen := map[string]bool{}
		for _, given := range codes {
			code := strings.ToUpper(given)
			if seen[code] {
				continue
			}
			seen[code] = true
			if err := s.addListed(ctx, &out, listed, given, code); err != nil {
				return fmt.Errorf("currency %q: %w", code, err)
			}
		}
		return nil
	})
	return out, err
}

func (s *Service) addListed(ctx context.Context, out *AddedCurrencies, listed []catalog.Currency, given, code string) error {
	i := slices.IndexFunc(listed, func(c catalog.Currency) bool { return c.Code == code })
	if i < 0 {
		exists, err := s.catalog.CurrencyExists(ctx, code)
		if exists {
			out.SkippedExisting = append(out.SkippedExisting, code)
		} else {
			out.Invalid = append(out.Invalid, given)
		}
		return err
	}
	created, err := s.insert(ctx, listed[i])
	if created {
		out.Created = append(out.Created, code)
	} else {
		out.SkippedExisting = append(out.SkippedExisting, code)
	}
	return err
}

// Update changes a currency and returns the result. change cannot change the code. Update returns
// ErrInUse if change alters the number of decimals while amounts are stored in the currency,
// because stored amounts would then mean different values. It also returns ErrInUse if change deactivates
// the base currency.
//
// Invariant: stored amounts refer to the currency's row by a foreign key. An amount is therefore
// either visible to this transaction or stored after it.
func (s *Service) Update(ctx context.Context, code string, change func(catalog.Currency) catalog.Currency) (catalog.Currency, error) {
	var next catalog.Currency
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.store.lock(ctx, code)
		if err != nil {
			return err
		}
		next = change(old)
		next.Code = old.Code
		if next == old {
			return nil
		}
		if old.Code == s.base && old.IsActive && !next.IsActive {
			return ErrInUse
		}
		if next.MinorUnits != old.MinorUnits {
			if err := s.requireNoAmounts(ctx, code); err != nil {
				return err
			}
		}
		if err := s.store.update(ctx, next, s.clock.Now()); err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.catalog.InvalidateCache)
		return s.record(ctx, "updated", code, trailEntry(old), trailEntry(next))
	})
	return next, err
}

// Delete deletes a currency, or returns ErrInUse if it is used.
func (s *Service) Delete(ctx context.Context, code string) error {
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.store.lock(ctx, code)
		if err != nil {
			return err
		}
		if old.Code == s.base {
			return ErrInUse
		}
		if err := s.requireNoAmounts(ctx, code); err != nil {
			return err
		}
		preferred, err := s.store.isPreferred(ctx, code)
		if err != nil {
			return err
		}
		if preferred {
			return ErrInUse
		}
		if err := s.store.delete(ctx, code); err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.catalog.InvalidateCache)
		return s.record(ctx, "deleted", code, trailEntry(old), nil)
	})
	if sqldb.IsForeignKey(err) { // from a table that the queries above do not check
		err = ErrInUse.Wrap(err)
	}
	return err
}

// requireNoAmounts returns ErrInUse if amounts are stored in the currency.
func (s *Service) requireNoAmounts(ctx context.Context, code string) error {
	if err := distribution.LockCatalog(ctx, s.db); err != nil {
		return err
	}
	found, err := s.store.hasAmounts(ctx, code)
	if err == nil && found {
		err = ErrInUse
	}
	return err
}

func (s *Service) record(ctx context.Context, action, code string, before, after any) error {
	return s.audit.Record(ctx, audit.Entry{
		Action: "currency." + action, Resource: "currency", ResourceID: code, Before: before, After: after,
	})
}

// trailEntry returns the currency's fields for the audit log, under their API names.
func trailEntry(c catalog.Currency) any {
	return map[string]any{
		"code": c.Code, "name": c.Name, "symbol": c.Symbol, "minor_units": c.MinorUnits, "is_active": c.IsActive,
	}
}
