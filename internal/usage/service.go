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
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// batchTimeout limits the time to store one batch.
const batchTimeout = 15 * time.Second

// Deps holds the dependencies of a Service.
type Deps struct {
	DB    *sqldb.DB
	Plans planReader
	Clock clock.Clock
	Log   *slog.Logger
	Jobs  jobQueue
	// Alerts sends the alerts of soft quotas.
	Alerts quotaNotifier
	// Billing queues the figures of billable events. It is required for recording.
	Billing billingQueue
	Events  hook.Outbox // nil: no events are published
	Audit   auditLog    // records the changes of caps and grants
	// LockTenant locks a tenant that is not deleted until the transaction ends, or returns 404.
	LockTenant func(ctx context.Context, tenantID uuid.UUID) error
	// DailyCap limits the events per day of a tenant that never had a plan; 0 means unlimited. HadPlan
	// reports whether a tenant ever had a plan; it is required if DailyCap is not 0.
	DailyCap int64
	HadPlan  func(ctx context.Context, tenantID uuid.UUID) (bool, error)
	// Observe, if not nil, is called for each decided batch with the numbers of events that were
	// accepted, rejected as duplicates, rejected because of a quota, and failed for other reasons.
	Observe func(accepted, duplicate, overQuota, failed int)
}

// Service records and reports usage. It is safe for concurrent use.
type Service struct {
	store      store
	plans      planReader
	clock      clock.Clock
	alerts     quotaNotifier
	audit      auditLog
	events     hook.Outbox // nil: no events are published
	lockTenant func(ctx context.Context, tenantID uuid.UUID) error
	writer     *batcher[*submission, verdict]
	summaries  *querycache.Cache[uuid.UUID, cachedSummary] // by tenant
}

// NewService returns a Service and registers its jobs. Record and RecordBatch block until Run is
// called.
func NewService(d Deps) *Service {
	s := store{db: d.DB}
	l := &ledger{
		store: s, plans: d.Plans, clock: d.Clock,
		dailyCap: d.DailyCap, hadPlan: d.HadPlan,
		alarm: alarm{store: s, jobs: d.Jobs, known: &knownAlerts{}, events: d.Events}, billing: d.Billing,
	}
	batches := 1 // SQLite has a single writer
	if d.DB.Dialect() == sqldb.Postgres {
		batches = 4
	}
	var split func(context.Context, []*submission) ([][]int, error)
	if d.DB.IsDistributed() {
		split = func(ctx context.Context, all []*submission) ([][]int, error) {
			return distribution.ByShard(ctx, d.DB, all, func(s *submission) uuid.UUID { return s.tenantID })
		}
	}
	svc := &Service{
		store: s, plans: d.Plans, clock: d.Clock, alerts: d.Alerts, audit: d.Audit, events: d.Events, lockTenant: d.LockTenant,
		writer: newBatcher(batcherConfig[*submission, verdict]{
			Decide: l.decide, Split: split, Failed: func(err error) verdict { return verdict{err: err} }, Observe: tally(d.Observe),
			Busy: ErrBusy, Log: d.Log, Timeout: batchTimeout, Calls: maxWaiting, Batches: batches,
		}),
	}
	l.alarm.reading = svc.reading
	svc.summaries = querycache.New(querycache.Config[uuid.UUID, cachedSummary]{
		DB: d.DB, Tables: svc.summaryTables(), Load: svc.loadSummaries,
		Valid: func(one cachedSummary) bool { return one.isCurrent(d.Clock.Now()) },
	})
	return svc
}

// tally returns a function that reports the number of verdicts of each kind to observe, or nil if
// observe is nil.
func tally(observe func(accepted, duplicate, overQuota, failed int)) func([]verdict) {
	if observe == nil {
		return nil
	}
	return func(verdicts []verdict) {
		var accepted, duplicate, overQuota, failed int
		for i := range verdicts {
			switch err := verdicts[i].err; {
			case verdicts[i].reservation != nil: // not an event
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

// Run stores the events of Record and RecordBatch until ctx ends. It returns once the queued events
// are stored. From then on, recording returns ErrBusy, so the HTTP server should finish its
// requests before ctx ends.
func (s *Service) Run(ctx context.Context) error {
	s.writer.Run(ctx)
	return nil
}

// Record stores one event and returns once it is durable (rules: usage#recording). It checks, in
// this order: recorded_at more than five minutes in the future (422), ErrUnknownMeter,
// ErrDuplicate, errDailyCap, ErrQuotaExceeded, and a total above 10^18 (422 on quantity). It can
// return ErrBusy at any time. If ctx ends first, the event may or may not be stored; recording it
// again with the same idempotency key is safe. It uses its own transaction, so it must not be
// called in one.
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

// Outcome is the result of one recording of a batch.
type Outcome struct {
	Event Event
	Err   error // the same errors as Record
}

// RecordBatch stores several events in order and returns the outcome of each, as if they had been
// recorded one after another. A batch is not atomic, although its events usually share a
// transaction. An error means that no event was processed, or that ctx ended first.
func (s *Service) RecordBatch(ctx context.Context, tenantID uuid.UUID, recordings []Recording) ([]Outcome, error) {
	now := s.clock.Now()
	outcomes := make([]Outcome, len(recordings))
	submissions := make([]submission, len(recordings))
	submitted := make([]*submission, 0, len(recordings))
	indexes := make([]int, 0, len(recordings)) // of the submitted recordings
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

// setTime sets the time of the event. It returns errInFuture if the caller's time is too far ahead.
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

// isStorable reports whether both databases can store the text.
func isStorable(text string) bool {
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
