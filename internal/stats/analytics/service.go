package analytics

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/stats/rates"
	"github.com/tenantry/tenantry/internal/subscription/journal"
)

// Deps are the dependencies of the service.
type Deps struct {
	DB      *sqldb.DB
	Clock   clock.Clock
	Journal *journal.Journal
	Rates   *rates.Service
}

// Service computes analytics.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{d, store{d.DB}} }

// Limits of a request, in months.
const (
	maxMonths     = 36
	defaultMonths = 12
)

var (
	errFromFuture  = fault.OnField("from", "validation.month_future")
	errToFuture    = fault.OnField("to", "validation.month_future")
	errFromAfter   = fault.OnField("from", "validation.before_to")
	errTooMany     = fault.OnField("from", "validation.months")
	errMonthFuture = fault.OnField("month", "validation.month_future")
	errCurrency    = fault.OnField("currency", "validation.one_currency")
)

// startOf returns the start of the month that contains the given time, in UTC.
func startOf(at time.Time) time.Time {
	at = at.UTC()
	return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// windows returns the months of a range, both ends inclusive. The current month ends now.
func windows(from, to, now time.Time) []window {
	var list []window
	for at := from; !at.After(to); at = at.AddDate(0, 1, 0) {
		w := window{Moment{At: at}, Moment{At: at.AddDate(0, 1, 0)}}
		if w.end.At.After(now) {
			w.end = Moment{now, true}
		}
		list = append(list, w)
	}
	return list
}

// period returns the months of a request. A zero from or to stands for the default.
func period(from, to, now time.Time) ([]window, error) {
	current := startOf(now)
	var problems []error
	if from.After(current) {
		problems = append(problems, errFromFuture)
	}
	if to.After(current) {
		problems = append(problems, errToFuture)
	}
	if len(problems) > 0 {
		return nil, fault.Join(problems...)
	}
	if to.IsZero() {
		to = current
	}
	if from.IsZero() {
		from = to.AddDate(0, 1-defaultMonths, 0)
	}
	switch {
	case from.After(to):
		return nil, errFromAfter
	case !from.AddDate(0, maxMonths, 0).After(to):
		return nil, errTooMany
	}
	return windows(from, to, now), nil
}

// selection is the part of the history that a request asks for.
type selection struct {
	history  History
	rates    rates.Table
	currency *string // of the amounts; nil if no currency is in use
}

// load returns the history of the subscriptions to a plan and in a currency, both optional.
//
// Amounts are in the base currency, or else in the requested currency, or else in the only currency in
// use during the window. It returns a 422 error on currency if several currencies are in use.
func (s *Service) load(ctx context.Context, plan, currency string, w window) (sel selection, err error) {
	if sel.history, err = loadHistory(ctx, s.deps.Journal); err != nil {
		return sel, err
	}
	var f Filter
	if plan != "" {
		if f.Plans, err = s.store.plansOf(ctx, plan); err != nil {
			return sel, err
		}
	}
	if currency != "" {
		f.Currencies = map[string]bool{currency: true}
	}
	sel.history = sel.history.apply(f)
	if sel.rates, err = s.deps.Rates.Table(ctx); err != nil {
		return sel, err
	}
	if base := sel.rates.Base(); base != "" {
		sel.currency = &base
		return sel, nil
	}
	if currency == "" {
		used := sel.history.usedCurrencies(w)
		if len(used) == 0 && len(sel.history.Currencies) == 1 {
			used = slices.Clone(sel.history.Currencies)
		}
		switch {
		case len(used) > 1:
			return sel, errCurrency
		case len(used) == 1:
			currency = used[0]
		}
	}
	sel.rates = rates.SingleCurrency(currency)
	if currency != "" {
		sel.currency = &currency
	}
	return sel, nil
}

// tenantRef is a tenant in a movement; both are nil once the tenant is purged.
type tenantRef struct {
	id   *uuid.UUID
	name *string
}

// sortMovements sorts movements by the size of the change, largest first.
func sortMovements(list []Movement) {
	size := func(m Movement) int64 { return max(m.After-m.Before, m.Before-m.After) }
	slices.SortFunc(list, func(a, b Movement) int {
		switch x, y := size(a), size(b); {
		case x != y && x > y, x == y && a.Customer < b.Customer:
			return -1
		default:
			return 1
		}
	})
}
