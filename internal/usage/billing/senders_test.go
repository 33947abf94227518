package billing_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
	"github.com/tenantry/tenantry/internal/testkit/usagetest"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing"
)

// nextDay moves the clock until the provider has forgotten all identifiers.
func nextDay(w *usagetest.World, p *till) {
	w.Clock.Set(w.Clock.Now().Add(psp.IdentifierLife + time.Minute))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget = true
}

// The clock of a sandbox does not move while a report is on its way: it would arrive after the
// provider has forgotten its identifier.
func TestDrainWaitsForReports(t *testing.T) {
	t.Parallel()
	senders := map[string]func(ctx context.Context, r *billing.Reporter, payer uuid.UUID) error{
		"Report": func(ctx context.Context, r *billing.Reporter, _ uuid.UUID) error { return r.Report(ctx) },
		"Settle": func(ctx context.Context, r *billing.Reporter, payer uuid.UUID) error { return r.Settle(ctx, payer) },
	}
	for name, send := range senders {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				w := usagetest.New(t, db, "2026-11-21 12:00")
				w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
				payer := w.NewPayer(t)
				w.RecordAll(t, payer, []usage.Recording{usagetest.Recording("calls", "1"), usagetest.Recording("calls", "2")}, true)
				late := &lateProvider{till: &till{}}
				r := reporter(w, late)
				drained := make(chan error, 1)
				late.before = func() {
					go func() {
						err := r.Drain(t.Context(), true)
						nextDay(w, late.till)
						drained <- err
					}()
					select {
					case err := <-drained:
						drained <- err
						t.Errorf("the clock moves before the report arrives: %v", err)
					case <-time.After(200 * time.Millisecond):
					}
				}
				if err := errors.Join(send(t.Context(), r, payer), <-drained, r.Report(t.Context())); err != nil {
					t.Fatal(err)
				}
				if late.twice > 0 || len(late.counted) != 2 {
					t.Errorf("%d figures counted, %d of them twice", len(late.counted), late.twice)
				}
			})
		})
	}
}

// lateProvider is a till whose first report is on its way while before runs.
type lateProvider struct {
	*till
	isSent atomic.Bool
	before func()
}

func (p *lateProvider) ReportUsage(ctx context.Context, u psp.UsageReport) error {
	if !p.isSent.Swap(true) {
		p.before()
	}
	return p.till.ReportUsage(ctx, u)
}

// An instance that stops for a day after it has read the queue does not report the figures that
// another instance has reported meanwhile, whether it found their prices decided or not.
func TestSlowInstanceReportsNothingTwice(t *testing.T) {
	t.Parallel()
	for name, isOnHold := range map[string][]bool{"decided": {false, false}, "undecided": {true, true}, "partly decided": {false, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
				w := usagetest.New(t, db, "2026-11-21 12:00")
				w.Sell(t, usagetest.Meter("calls", usage.Sum, usage.ResetMonthly, usage.EnforcementHard), "1")
				payers := []uuid.UUID{w.NewPayer(t), w.NewPayer(t)}
				meters, err := w.Meters.All(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var figures []usage.Figure // one row of the queue
				for _, payer := range payers {
					figures = append(figures, usage.Figure{
						ID: sqldb.NewID(), TenantID: payer, MeterID: meters[0].ID, Quantity: usagetest.Quantity("1"), At: w.Clock.Now(),
					})
				}
				if err := billing.NewQueue(db, nil).Add(t.Context(), figures, w.Clock.Now()); err != nil {
					t.Fatal(err)
				}
				p := &till{}
				quick := reporter(w, p)
				asleep := &sleeper{Plans: w.Plans, undecided: map[uuid.UUID]bool{}, sleep: func() error {
					defer nextDay(w, p)
					return quick.Drain(t.Context(), true)
				}}
				for i, payer := range payers {
					asleep.undecided[payer] = isOnHold[i]
				}
				slow := billing.NewReporter(billing.ReporterDeps{
					DB: w.DB, Clock: w.Clock, Log: slog.New(slog.DiscardHandler), Provider: p, Customers: asleep, Payers: asleep,
				})
				if err := errors.Join(slow.Report(t.Context()), quick.Drain(t.Context(), true)); err != nil {
					t.Fatal(err)
				}
				if p.twice > 0 || len(p.counted) != 2 || p.calls != 2 {
					t.Errorf("%d figures counted in %d calls, %d of them twice", len(p.counted), p.calls, p.twice)
				}
			})
		})
	}
}

// sleeper fakes how tenants pay. It sleeps before its first answer.
type sleeper struct {
	*usagetest.Plans
	once      sync.Once
	sleep     func() error
	undecided map[uuid.UUID]bool
}

func (s *sleeper) Customer(ctx context.Context, tenantID uuid.UUID) (id string, err error) {
	s.once.Do(func() { err = s.sleep() })
	if err != nil {
		return "", err
	}
	return s.Plans.Customer(ctx, tenantID)
}

func (s *sleeper) Payer(ctx context.Context, tenantID uuid.UUID) (billing.Payer, error) {
	payer, err := s.Plans.Payer(ctx, tenantID)
	payer.Metered = &billing.MeteredBilling{Period: payer.Billing.Current, Decided: !s.undecided[tenantID]}
	return payer, err
}
