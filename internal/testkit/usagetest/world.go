// Package usagetest runs the usage service on a test database, with a clock and subscriptions that
// tests control.
package usagetest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
	"github.com/tenantry/tenantry/internal/usage/meters"
	"github.com/tenantry/tenantry/internal/usage/retention"
)

// TB is a test, a benchmark or a property check.
type TB interface {
	Helper()
	Fatal(args ...any)
	Context() context.Context
}

// World is a usage service on a database.
type World struct {
	*usage.Service
	// Instances are the service and another instance on the same database.
	Instances [2]*usage.Service
	DB        *sqldb.DB
	Clock     *clock.Fixed
	Plans     *Plans
	Alerts    *Alerts
	Meters    *meters.Service
}

// New starts a World whose clock is fixed at a time.
func New(t *testing.T, db *sqldb.DB, now string) *World {
	t.Helper()
	w := NewIdle(db, now)
	w.Instances = [2]*usage.Service{w.Start(t), w.Start(t)}
	w.Service = w.Instances[0]
	return w
}

// NewIdle creates a World without a service.
func NewIdle(db *sqldb.DB, now string) *World {
	c := clock.NewFixed(At(now))
	return &World{
		DB: db, Clock: c, Plans: newPlans(db), Alerts: &Alerts{},
		Meters: meters.NewService(meters.Deps{DB: db, Clock: c, Currencies: anyCurrency{}}),
	}
}

// Start starts another service on the World's database.
func (w *World) Start(t *testing.T) *usage.Service {
	t.Helper()
	svc := usage.NewService(w.Deps())
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() { defer close(done); _ = svc.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return svc
}

// Deps returns the dependencies of the World's services.
func (w *World) Deps() usage.Deps {
	log := slog.New(slog.DiscardHandler)
	return usage.Deps{
		DB: w.DB, Plans: w.Plans, Clock: w.Clock, Log: log,
		Jobs:   jobs.New(jobs.Deps{DB: w.DB, Clock: w.Clock, Lease: clock.System(), Log: log}),
		Alerts: w.Alerts, Billing: billing.NewQueue(w.DB, nil),
		Audit:      noAudit{},
		LockTenant: func(context.Context, uuid.UUID) error { return nil },
	}
}

// Apply stores meters. It replaces meters with the same code.
func (w *World) Apply(t TB, wanted ...usage.Meter) {
	t.Helper()
	stored, err := w.Meters.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range wanted {
		i := slices.IndexFunc(stored, func(e meters.Entry) bool { return e.Code == m.Code })
		if i < 0 {
			_, err = w.Meters.Create(t.Context(), meters.Entry{Meter: m})
		} else {
			_, err = w.Meters.Update(t.Context(), stored[i].ID, func(e meters.Entry) meters.Entry {
				m.ID = e.ID
				e.Meter = m
				return e
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Sell stores a meter with a linked price in euros. cents is the price of a unit.
func (w *World) Sell(t TB, m usage.Meter, cents string) {
	t.Helper()
	price, err := money.ParseUnitPrice(cents)
	if err != nil {
		t.Fatal(err)
	}
	linked := "price_" + m.Code
	_, err = w.Meters.Create(t.Context(), meters.Entry{
		Meter: m, Prices: []meters.Price{{Currency: "EUR", UnitPrice: price, PSPPriceID: &linked}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// NewTenant stores a tenant.
func (w *World) NewTenant(t TB) uuid.UUID {
	t.Helper()
	id := sqldb.NewID()
	_, err := w.DB.Conn(context.Background()).ExecContext(context.Background(),
		`INSERT INTO tenants (id, name, slug, preferred_currency, created_at, updated_at) VALUES ($1, 'Acme', $2, 'EUR', $3, $4)`,
		id, id.String(), w.Clock.Now(), w.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// NewPayer stores a tenant with a subscription.
func (w *World) NewPayer(t TB) uuid.UUID {
	t.Helper()
	tenantID := w.NewTenant(t)
	w.Plans.Grant(tenantID, usage.Allowance{Billing: Billing("2026-11-10", usage.Month, 1, "2026-11-10", "2026-12-10")})
	return tenantID
}

// RecordAll records events, separately or in one batch. All of them must be stored.
func (w *World) RecordAll(t TB, tenantID uuid.UUID, events []usage.Recording, together bool) {
	t.Helper()
	var outcomes []usage.Outcome
	if together {
		var err error
		if outcomes, err = w.RecordBatch(t.Context(), tenantID, events); err != nil {
			t.Fatal(err)
		}
	} else {
		for _, r := range events {
			event, err := w.Record(t.Context(), tenantID, r)
			outcomes = append(outcomes, usage.Outcome{Event: event, Err: err})
		}
	}
	for _, o := range outcomes {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
}

// Count returns the number of a tenant's stored events.
func (w *World) Count(t TB, tenantID uuid.UUID) int {
	t.Helper()
	var n int
	if err := w.DB.Conn(t.Context()).QueryRowContext(t.Context(),
		`SELECT count(*) FROM usage_events WHERE tenant_id = $1`, tenantID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Detail returns the detail of a meter for a tenant.
func (w *World) Detail(t TB, tenantID uuid.UUID, code string) usage.Detail {
	t.Helper()
	d, err := w.Service.Detail(t.Context(), tenantID, code)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Retention returns a Pruner with the minimum retention. It archives events in a folder unless
// archive is "".
func (w *World) Retention(archive string) *retention.Pruner {
	return retention.New(retention.Deps{
		DB: w.DB, Clock: w.Clock, Log: slog.New(slog.DiscardHandler), Keep: retention.MinRetention, Archive: archive,
	})
}

// Prune runs a Pruner once.
func (w *World) Prune(t TB, r *retention.Pruner) {
	t.Helper()
	if err := r.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// Each calls read for every row of a query.
func (w *World) Each(t TB, query string, args []any, read func(scan func(...any) error) error) {
	t.Helper()
	rows, err := w.DB.Conn(t.Context()).QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// Race records n events concurrently through both instances, and counts the outcomes.
func (w *World) Race(t *testing.T, n int, tenantID func(i int) uuid.UUID, r func(i int) usage.Recording) (stored, duplicates, exceeded int) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = w.Instances[i%2].Record(t.Context(), tenantID(i), r(i)) })
	}
	wg.Wait()
	for _, err := range errs {
		switch {
		case err == nil:
			stored++
		case errors.Is(err, usage.ErrDuplicate):
			duplicates++
		case errors.Is(err, usage.ErrQuotaExceeded):
			exceeded++
		default:
			t.Errorf("unexpected: %v", err)
		}
	}
	return stored, duplicates, exceeded
}

// Estimator returns an Estimator for the World's tenants.
func (w *World) Estimator() *billing.Estimator {
	return billing.NewEstimator(w.DB, w.Clock, w.Plans, cents)
}

// Recount returns the number of counters that differ from their events.
func (w *World) Recount(t TB) int {
	t.Helper()
	n, err := retention.NewRecounter(w.DB, w.Clock).Recount(t.Context(), retention.Recount{Wrong: func(retention.WrongCounter) {}})
	if err != nil {
		t.Fatal(err)
	}
	return n.Wrong
}

// GrantsRemaining returns the units of the valid grants of a tenant for a meter.
func (w *World) GrantsRemaining(t TB, tenantID uuid.UUID, code string) money.Total {
	t.Helper()
	left, err := w.Service.GrantsRemaining(t.Context(), tenantID)
	if err != nil {
		t.Fatal(err)
	}
	return left[code]
}
