package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

var (
	// ErrCurrencyInUse refuses to delete a currency that a price, meter, checkout,
	// subscription, invoice or tenant uses, and to give the amounts that are kept in it
	// another meaning.
	ErrCurrencyInUse = fault.Coded(fault.Conflict, fault.CurrencyInUse)

	errCurrencyTaken = fault.OnField("code", "validation.taken")
)

// Currencies lists all currencies, active or not, by code.
func (s *Service) Currencies(ctx context.Context) ([]Currency, error) { return s.store.currencies(ctx) }

// Offered returns a plan without its prices in inactive currencies: nothing is
// newly sold in those, while what was sold goes on. Prices can be set in them all
// the same, ahead of the day that they are active.
func (s *Service) Offered(ctx context.Context, plan Plan) (Plan, error) {
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return Plan{}, err
	}
	plan.Prices = inActive(plan.Prices, currencies)
	return plan, nil
}

// inActive leaves out prices in currencies that are not active. It changes
// prices.
func inActive(prices []Price, currencies []Currency) []Price {
	return slices.DeleteFunc(prices, func(p Price) bool {
		i := slices.IndexFunc(currencies, func(c Currency) bool { return c.Code == p.Currency })
		return i < 0 || !currencies[i].IsActive
	})
}

// CurrencyCatalog lists the currencies of ISO 4217 that have not been added, by
// code. Those that no amount of 0, 2 or 3 decimals can be given in, and those
// that are no money (funds, metals, test codes), are left out.
func (s *Service) CurrencyCatalog(ctx context.Context) ([]Currency, error) {
	listed, err := isoCurrencies()
	if err != nil {
		return nil, err
	}
	added, err := s.store.currencies(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(listed, func(c Currency) bool {
		return slices.ContainsFunc(added, func(a Currency) bool { return a.Code == c.Code })
	}), nil
}

// CreateCurrency adds a currency, of ISO 4217 or not; a code that is taken is
// refused on its field. The code must be three upper-case letters.
func (s *Service) CreateCurrency(ctx context.Context, c Currency) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		created, err := s.insertCurrency(ctx, c)
		if err == nil && !created {
			err = errCurrencyTaken
		}
		return err
	})
}

// insertCurrency adds a currency unless its code is taken.
func (s *Service) insertCurrency(ctx context.Context, c Currency) (created bool, err error) {
	n, err := s.store.q(ctx).InsertCurrency(ctx, catalogsql.InsertCurrencyParams{
		Code: c.Code, Name: c.Name, Symbol: c.Symbol, MinorUnits: c.MinorUnits, IsActive: c.IsActive, CreatedAt: s.clock.Now(),
	})
	if err != nil || n == 0 {
		return false, err
	}
	s.db.AfterCommit(ctx, s.Changed)
	return true, s.recordCurrency(ctx, "currency.created", c.Code, nil, currencyTrail(c))
}

// AddedCurrencies tells what became of each code that was to be added, once, in
// the order in which they were given.
type AddedCurrencies struct {
	Created         []string `json:"created"`
	SkippedExisting []string `json:"skipped_existing"`
	Invalid         []string `json:"invalid"` // as given
}

// AddCurrencies adds currencies of ISO 4217 by their codes, in either case, all
// in one transaction. A code that is there already is left as it is, also if it
// is not of ISO 4217.
func (s *Service) AddCurrencies(ctx context.Context, codes []string) (AddedCurrencies, error) {
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
			if err := s.addCurrency(ctx, &out, listed, given, code); err != nil {
				return fmt.Errorf("currency %q: %w", code, err)
			}
		}
		return nil
	})
	return out, err
}

func (s *Service) addCurrency(ctx context.Context, out *AddedCurrencies, listed []Currency, given, code string) error {
	i := slices.IndexFunc(listed, func(c Currency) bool { return c.Code == code })
	if i < 0 {
		exists, err := s.CurrencyExists(ctx, code)
		if exists {
			out.SkippedExisting = append(out.SkippedExisting, code)
		} else {
			out.Invalid = append(out.Invalid, given)
		}
		return err
	}
	created, err := s.insertCurrency(ctx, listed[i])
	if created {
		out.Created = append(out.Created, code)
	} else {
		out.SkippedExisting = append(out.SkippedExisting, code)
	}
	return err
}

// UpdateCurrency changes a currency and returns what it is now. Its number of
// decimals stays while amounts are kept in it: they would mean something else.
//
// Invariant: whoever stores an amount refers to the currency's row by a foreign
// key, and so either is seen here or waits for the lock.
func (s *Service) UpdateCurrency(ctx context.Context, code string, change func(Currency) Currency) (Currency, error) {
	var next Currency
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.lockCurrency(ctx, code)
		if err != nil {
			return err
		}
		next = change(old)
		next.Code = old.Code
		if next == old {
			return nil
		}
		if next.MinorUnits != old.MinorUnits {
			if err := s.refuseAmounts(ctx, code); err != nil {
				return err
			}
		}
		err = s.store.q(ctx).UpdateCurrency(ctx, catalogsql.UpdateCurrencyParams{
			Code: code, Name: next.Name, Symbol: next.Symbol, MinorUnits: next.MinorUnits, IsActive: next.IsActive, UpdatedAt: s.clock.Now(),
		})
		if err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.Changed)
		return s.recordCurrency(ctx, "currency.updated", code, currencyTrail(old), currencyTrail(next))
	})
	return next, err
}

// DeleteCurrency deletes a currency that nothing uses, else ErrCurrencyInUse.
func (s *Service) DeleteCurrency(ctx context.Context, code string) error {
	err := s.db.Tx(ctx, func(ctx context.Context) error {
		old, err := s.lockCurrency(ctx, code)
		if err != nil {
			return err
		}
		if err := s.refuseAmounts(ctx, code); err != nil {
			return err
		}
		tenants, err := s.store.q(ctx).TenantsPreferring(ctx, code)
		if err != nil {
			return err
		}
		if tenants > 0 {
			return ErrCurrencyInUse
		}
		if err := s.store.q(ctx).DeleteCurrency(ctx, code); err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.Changed)
		return s.recordCurrency(ctx, "currency.deleted", code, currencyTrail(old), nil)
	})
	if sqldb.IsForeignKey(err) { // by what the queries above do not know
		err = ErrCurrencyInUse.Wrap(err)
	}
	return err
}

func (s *Service) lockCurrency(ctx context.Context, code string) (Currency, error) {
	row, err := s.store.q(ctx).LockCurrency(ctx, code)
	if err != nil {
		return Currency{}, fmt.Errorf("lock currency: %w", found(err))
	}
	return currencyOf(row)
}

// refuseAmounts refuses while prices, meters, checkouts, subscriptions or invoices
// have amounts in a currency.
func (s *Service) refuseAmounts(ctx context.Context, code string) error {
	amounts, err := s.store.q(ctx).CurrencyAmounts(ctx, code)
	if err == nil && amounts > 0 {
		err = ErrCurrencyInUse
	}
	return err
}

func (s *Service) recordCurrency(ctx context.Context, action, code string, before, after any) error {
	return s.audit.Record(ctx, audit.Entry{
		Action: action, Resource: "currency", ResourceID: code, Before: before, After: after,
	})
}

func currencyTrail(c Currency) any {
	return map[string]any{
		"code": c.Code, "name": c.Name, "symbol": c.Symbol, "minor_units": c.MinorUnits, "is_active": c.IsActive,
	}
}
