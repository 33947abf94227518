package usage

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/gather"
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
	// summaries are by tenant.
	summaries *gather.Gather[uuid.UUID, Summary]

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
	svc.summaries = gather.New(svc.summarize, runtime.GOMAXPROCS(0))
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
