package usage

import (
	"context"
	"log/slog"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Deps is what the service works with.
type Deps struct {
	DB    *sqldb.DB
	Plans Plans
	Clock clock.Clock
	Log   *slog.Logger
	Jobs  Jobs
	// Alerts tells people of soft quotas that are nearly or wholly used.
	Alerts Notifier
	Payers Payers
	// Currencies and Audit are needed where meters are managed.
	Currencies Currencies
	Audit      Audit // nil records nothing
}

// Service has the use cases of usage. It is safe for concurrent use.
type Service struct {
	store  store
	plans  Plans
	clock  clock.Clock
	alerts Notifier
	payers Payers
	writer *writer
	// writers are how many batches may be under way: on PostgreSQL one can be
	// decided while another is made durable; SQLite has a single writer.
	writers int

	currencies Currencies
	audit      Audit
}

// NewService makes a service, and gives the queue its jobs. Recording needs Run to
// be running.
func NewService(d Deps) *Service {
	s := store{db: d.DB}
	l := &ledger{
		store: s, plans: d.Plans, clock: d.Clock,
		alarm: alarm{store: s, jobs: d.Jobs, known: &knownAlerts{}}, bill: bill{s},
	}
	writers := 1
	if d.DB.Dialect() == sqldb.Postgres {
		writers = 2
	}
	svc := &Service{
		store: s, plans: d.Plans, clock: d.Clock, alerts: d.Alerts, payers: d.Payers, currencies: d.Currencies, audit: d.Audit,
		writer: newWriter(l.decide, d.Log, maxWaiting), writers: writers,
	}
	d.Jobs.Handle(jobAlert, svc.sendAlert)
	return svc
}

// Run stores what Record is given until ctx ends, and returns when everything
// that was waiting then is stored. Record answers ErrBusy from then on, so the
// HTTP server should have finished its requests before ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var writers sync.WaitGroup
	for range s.writers {
		writers.Go(func() { s.writer.run(ctx) })
	}
	writers.Wait()
	return nil
}

// Record stores one event and returns once it is durable (spec: Usage rules). It
// refuses, in this order: 422 on recorded_at for more than five minutes in the
// future, ErrUnknownMeter, ErrDuplicate, ErrQuotaExceeded, 422 on quantity for a
// total beyond 9.2 × 10^12; and ErrBusy at any time. When ctx ends first the event
// may have been stored or not, which an idempotency key finds out. It has a
// transaction of its own: never call it inside another.
func (s *Service) Record(ctx context.Context, tenantID uuid.UUID, r Recording) (Event, error) {
	one := &request{Recording: r, tenantID: tenantID}
	if err := one.settle(s.clock.Now()); err != nil {
		return Event{}, err
	}
	verdicts, err := s.writer.submit(ctx, one)
	if err != nil {
		return Event{}, err
	}
	return verdicts[0].event, verdicts[0].err
}

// Outcome is what became of one recording of several.
type Outcome struct {
	Event Event
	Err   error // as of Record
}

// RecordBatch stores several events, in their order, and returns what became of
// each: the same as if they had been recorded one after the other. Usually they
// share a transaction, but it is no rule that all are stored or none. An error
// means that none was looked at, or that ctx ended first.
func (s *Service) RecordBatch(ctx context.Context, tenantID uuid.UUID, recordings []Recording) ([]Outcome, error) {
	now := s.clock.Now()
	outcomes := make([]Outcome, len(recordings))
	requests := make([]request, len(recordings))
	submitted := make([]*request, 0, len(recordings))
	places := make([]int, 0, len(recordings)) // of the submitted ones
	for i, r := range recordings {
		requests[i] = request{Recording: r, tenantID: tenantID}
		if outcomes[i].Err = requests[i].settle(now); outcomes[i].Err == nil {
			submitted, places = append(submitted, &requests[i]), append(places, i)
		}
	}
	if len(submitted) == 0 {
		return outcomes, nil
	}
	verdicts, err := s.writer.submit(ctx, submitted...)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		outcomes[places[i]] = Outcome{Event: v.event, Err: v.err}
	}
	return outcomes, nil
}

// settle fixes the time that a request is recorded for.
func (r *request) settle(now time.Time) error {
	r.at = now
	if r.RecordedAt != nil {
		r.at = r.RecordedAt.UTC().Truncate(time.Microsecond)
	}
	if r.at.After(now.Add(maxAhead)) {
		return errInFuture
	}
	return nil
}

// Summary reads what every active meter shows of a tenant now.
func (s *Service) Summary(ctx context.Context, tenantID uuid.UUID) (Summary, error) {
	meters, err := s.store.activeMeters(ctx)
	if err != nil {
		return Summary{}, err
	}
	allowance, err := s.plans.Allowance(ctx, tenantID)
	if err != nil {
		return Summary{}, err
	}
	now := s.clock.Now()
	readings, err := s.readings(ctx, tenantID, meters, allowance, now)
	if err != nil {
		return Summary{}, err
	}
	return Summary{TenantID: tenantID, Period: PeriodOf(Monthly, allowance.Billing, now), Readings: readings}, nil
}

// Detail reads what one meter, active or not, shows of a tenant now, with its
// newest events. An unknown code is not found.
func (s *Service) Detail(ctx context.Context, tenantID uuid.UUID, code string) (Detail, error) {
	if !storable(code) {
		return Detail{}, errNoSuchMeter
	}
	m, found, err := s.store.meter(ctx, code)
	if err != nil {
		return Detail{}, err
	}
	if !found {
		return Detail{}, errNoSuchMeter
	}
	allowance, err := s.plans.Allowance(ctx, tenantID)
	if err != nil {
		return Detail{}, err
	}
	readings, err := s.readings(ctx, tenantID, []Meter{m}, allowance, s.clock.Now())
	if err != nil {
		return Detail{}, err
	}
	events, err := s.store.newestEvents(ctx, tenantID, m, readings[0].Period, recentEvents)
	if err != nil {
		return Detail{}, err
	}
	return Detail{Reading: readings[0], Events: events}, nil
}

// storable tells whether both databases can hold a text.
func storable(text string) bool {
	if !utf8.ValidString(text) {
		return false
	}
	for _, c := range text {
		if unicode.IsControl(c) {
			return false
		}
	}
	return true
}

// readings reads what meters show of a tenant at now. A period that has no
// counter yet is counted from its events, of which there are usually none.
func (s *Service) readings(ctx context.Context, tenantID uuid.UUID, meters []Meter, a Allowance, now time.Time) ([]Reading, error) {
	counters, err := s.store.countersAt(ctx, tenantID, now)
	if err != nil {
		return nil, err
	}
	readings := make([]Reading, len(meters))
	for i, m := range meters {
		r := Reading{Meter: m, Period: PeriodOf(m.Reset, a.Billing, now), Limit: a.limit(m.Code)}
		c := find(counters[m.ID], r.Period)
		if c == nil {
			made, err := s.store.rebuild(ctx, tenantID, m, r.Period)
			if err != nil {
				return nil, err
			}
			c = &made
		}
		r.Current = c.value
		readings[i] = r
	}
	return readings, nil
}
