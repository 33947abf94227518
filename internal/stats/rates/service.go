package rates

import (
	"context"
	"reflect"
	"time"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// Deps are the dependencies of the service.
type Deps struct {
	DB    *sqldb.DB
	Clock clock.Clock
	Audit *audit.Log
	// Base is the base currency, or "" for none.
	Base string
}

// Service manages exchange rates.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{d, store{d.DB}} }

// IsActiveCurrency reports whether a currency exists and is active.
func IsActiveCurrency(ctx context.Context, db *sqldb.DB, code string) (bool, error) {
	_, active, err := store{db}.currencies(ctx)
	return active[code], err
}

// Table returns the rates of the base currency. Without a base currency, the table is empty.
func (s *Service) Table(ctx context.Context) (Table, error) { return s.store.table(ctx, s.deps.Base) }

// Factors returns, by currency, the factor that converts minor units to minor units of the base
// currency at the current rates, as a decimal. Currencies without any rate are absent. Without a
// base currency, it returns nil.
func (s *Service) Factors(ctx context.Context) (map[string]string, error) {
	t, err := s.Table(ctx)
	if err != nil || !t.HasRates() {
		return nil, err
	}
	now := s.deps.Clock.Now()
	factors := map[string]string{t.base: "1"}
	for currency := range t.rates {
		c, _ := t.ConversionAt(currency, now)
		factors[currency] = c.factor()
	}
	return factors, nil
}

// ToBase returns a function that converts an amount to the base currency at the current rates. The
// function returns nil without a base currency, and for a currency without any rate.
func (s *Service) ToBase(ctx context.Context) (func(money.Money) *money.Money, error) {
	t, err := s.Table(ctx)
	if err != nil {
		return nil, err
	}
	now := s.deps.Clock.Now()
	return func(of money.Money) *money.Money {
		if !t.HasRates() || !t.Has(of.Currency) {
			return nil
		}
		c, _ := t.ConversionAt(of.Currency, now)
		return &money.Money{AmountCents: c.Convert(of.AmountCents), Currency: t.base}
	}, nil
}

// Decimals returns the number of decimals of a currency, and whether it exists.
func (s *Service) Decimals(ctx context.Context, code string) (int, bool, error) {
	units, _, err := s.store.currencies(ctx)
	n, known := units[code]
	return int(n), known, err
}

var (
	errNoBase   = fault.NewCoded(fault.Conflict, fault.NoBaseCurrency)
	errDate     = fault.OnField("date", "validation.date")
	errFuture   = fault.OnField("date", "validation.date_future")
	errNoRates  = fault.OnField("rates", "validation.rates_empty")
	errOfBase   = fault.OnField("rates", "validation.rate_of_base")
	errCurrency = fault.OnField("rates", "validation.rate_currency")
)

// today returns the start of the day.
func (s *Service) today() time.Time { return journal.StartOf(journal.DayOf(s.deps.Clock.Now())) }

// check validates the rates of a day, by currency in upper case. Currencies must be active or in use
// by a subscription.
func (s *Service) check(ctx context.Context, date time.Time, rates map[string]money.UnitPrice) error {
	var problems []error
	if date.After(s.today()) {
		problems = append(problems, errFuture)
	}
	if len(rates) == 0 {
		problems = append(problems, errNoRates)
	}
	_, active, err := s.store.currencies(ctx)
	if err != nil {
		return err
	}
	for currency := range rates {
		isUsed := active[currency]
		if !isUsed {
			if isUsed, err = s.store.isUsed(ctx, currency); err != nil {
				return err
			}
		}
		switch {
		case currency == s.deps.Base:
			problems = append(problems, errOfBase)
		case !isUsed:
			problems = append(problems, errCurrency)
		}
	}
	return fault.Join(problems...)
}

// set replaces the rates of a day; nil deletes them. It records the change, unless nothing changes.
func (s *Service) set(ctx context.Context, date time.Time, rates map[string]money.UnitPrice) error {
	of := journal.DayOf(date)
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.lock(ctx, s.deps.Base); err != nil {
			return err
		}
		before, err := s.store.list(ctx, s.deps.Base, of, of)
		if err != nil {
			return err
		}
		var stored map[string]money.UnitPrice
		if len(before) > 0 {
			stored = before[0].rates
		}
		if len(stored) == len(rates) && (len(rates) == 0 || reflect.DeepEqual(stored, rates)) {
			return nil
		}
		if err := s.store.replace(ctx, s.deps.Base, day{of, rates}); err != nil {
			return err
		}
		e := audit.Entry{Action: "rates.updated", Resource: "rates", ResourceID: date.Format(time.DateOnly)}
		if rates == nil {
			e.Action = "rates.deleted"
		}
		if stored != nil {
			e.Before = map[string]any{"base": s.deps.Base, "rates": stored}
		}
		if rates != nil {
			e.After = map[string]any{"base": s.deps.Base, "rates": rates}
		}
		return s.deps.Audit.Record(ctx, e)
	})
}
