package usage

import (
	"context"
	"errors"
	"log/slog"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Deps is what the service works with.
type Deps struct {
	DB    *sqldb.DB
	Plans planReader
	Clock clock.Clock
	Log   *slog.Logger
	Jobs  jobQueue
	// Alerts sends the alerts about soft quotas.
	Alerts quotaNotifier
	// Billing takes the figures of billable events; needed where usage is recorded.
	Billing billingQueue
	Events  hook.Outbox // nil tells nobody
	// DailyCap is how many events a day a tenant can record that never had a plan; 0 means any
	// number. HadPlan reports whether a tenant ever had one; it is needed with a cap.
	DailyCap int64
	HadPlan  func(ctx context.Context, tenantID uuid.UUID) (bool, error)
	// Observe is called for each batch that was decided, with how many events were accepted,
	// refused as duplicates, refused for a quota, and failed for another reason; nil is not
	// called.
	Observe func(accepted, duplicate, overQuota, failed int)
}

// Service has the use cases of usage. It is safe for concurrent use.
type Service struct {
	store     store
	plans     planReader
	clock     clock.Clock
	alerts    quotaNotifier
	writer    *batcher[*submission, verdict]
	summaries *querycache.Cache[uuid.UUID, cachedSummary] // by tenant
}

// NewService makes a service and registers its jobs. Record and RecordBatch wait until
// Run is called.
func NewService(d Deps) *Service {
	s := store{db: d.DB}
	l := &ledger{
		store: s, plans: d.Plans, clock: d.Clock,
		dailyCap: d.DailyCap, hadPlan: d.HadPlan,
		alarm: alarm{store: s, jobs: d.Jobs, known: &knownAlerts{}, events: d.Events}, billing: d.Billing,
	}
	batches := 1 // SQLite stores one at a time
	if d.DB.Dialect() == sqldb.Postgres {
		batches = 4
	}
	svc := &Service{
		store: s, plans: d.Plans, clock: d.Clock, alerts: d.Alerts,
		writer: newBatcher(batcherConfig[*submission, verdict]{
			Decide: l.decide, Failed: func(err error) verdict { return verdict{err: err} }, Observe: tally(d.Observe),
			Busy: ErrBusy, Log: d.Log, Calls: maxWaiting, Batches: batches,
		}),
	}
	svc.summaries = querycache.New(querycache.Config[uuid.UUID, cachedSummary]{
		DB: d.DB, Tables: svc.summaryTables(), Load: svc.loadSummaries,
		Valid: func(one cachedSummary) bool { return one.isCurrent(d.Clock.Now()) },
	})
	return svc
}

// tally tells observe how many verdicts of each kind there are; nil is not told.
func tally(observe func(accepted, duplicate, overQuota, failed int)) func([]verdict) {
	if observe == nil {
		return nil
	}
	return func(verdicts []verdict) {
		var accepted, duplicate, overQuota, failed int
		for i := range verdicts {
			switch err := verdicts[i].err; {
			case err == nil:
				accepted++
			case errors.Is(err, ErrDuplicate):
				duplicate++
			case errors.Is(err, ErrQuotaExceeded), errors.Is(err, errDailyCap):
				overQuota++
			default:
				failed++
			}
		}
		observe(accepted, duplicate, overQuota, failed)
	}
}

// Run stores what Record and RecordBatch are given until ctx ends. It returns when
// everything that was waiting then is stored. From then on they answer ErrBusy, so the
// HTTP server should have finished its requests before ctx ends.
func (s *Service) Run(ctx context.Context) error {
	s.writer.Run(ctx)
	return nil
}

// Record stores one event and returns once it is durable (rules: usage#recording). It
// refuses, in this order: 422 on recorded_at for more than five minutes in the future,
// ErrUnknownMeter, ErrDuplicate, errDailyCap, ErrQuotaExceeded, 422 on quantity for a total beyond
// 10^18; and ErrBusy at any time. When ctx ends first the event may be stored or
// not; recording it again with the same idempotency key is then safe. It must not be
// called in a transaction, since it uses its own.
func (s *Service) Record(ctx context.Context, tenantID uuid.UUID, r Recording) (Event, error) {
	one := &submission{Recording: r, tenantID: tenantID}
	if err := one.setTime(s.clock.Now()); err != nil {
		return Event{}, err
	}
	verdicts, err := s.writer.Submit(ctx, one)
	if err != nil {
		return Event{}, err
	}
	if errors.Is(verdicts[0].err, errDailyCap) {
		return Event{}, untilTomorrow(s.clock.Now())
	}
	return verdicts[0].event, verdicts[0].err
}

// Outcome is what became of one recording of a batch.
type Outcome struct {
	Event Event
	Err   error // as of Record
}

// RecordBatch stores several events, in their order, and returns the outcome of each:
// the same as if they had been recorded one after the other. They are not stored all
// or none, although they usually share a transaction. An error means that none was
// looked at, or that ctx ended first.
func (s *Service) RecordBatch(ctx context.Context, tenantID uuid.UUID, recordings []Recording) ([]Outcome, error) {
	now := s.clock.Now()
	outcomes := make([]Outcome, len(recordings))
	submissions := make([]submission, len(recordings))
	submitted := make([]*submission, 0, len(recordings))
	indexes := make([]int, 0, len(recordings)) // of the submitted ones
	for i, r := range recordings {
		submissions[i] = submission{Recording: r, tenantID: tenantID}
		if outcomes[i].Err = submissions[i].setTime(now); outcomes[i].Err == nil {
			submitted, indexes = append(submitted, &submissions[i]), append(indexes, i)
		}
	}
	if len(submitted) == 0 {
		return outcomes, nil
	}
	verdicts, err := s.writer.Submit(ctx, submitted...)
	if err != nil {
		return nil, err
	}
	for i, v := range verdicts {
		outcomes[indexes[i]] = Outcome{Event: v.event, Err: v.err}
	}
	return outcomes, nil
}

// setTime sets the time that the event is recorded for; errInFuture where the caller's
// is too far ahead.
func (r *submission) setTime(now time.Time) error {
	r.at = now
	if r.RecordedAt != nil {
		r.at = r.RecordedAt.UTC().Truncate(time.Microsecond)
	}
	if r.at.After(now.Add(maxAhead)) {
		return errInFuture
	}
	return nil
}

// storable reports whether both databases can hold a text.
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
