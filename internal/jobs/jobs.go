// Package jobs runs background work from an outbox in the database. A change and the jobs that
// follow from it are written in one transaction, so that neither exists without the other. Workers
// on any instance run the jobs after the commit.
//
// The guarantees:
//   - A job that was enqueued in a rolled-back transaction never runs.
//   - A job runs at least once, and exactly once if nothing fails. A handler can run again after a
//     crash, so it must be idempotent.
//   - A failed job is retried with increasing pauses. After the last attempt it is stored as dead,
//     with its error, until an operator retries or drops it.
//   - Of the jobs with the same kind and key, at most one waits and at most one runs.
//   - A periodic function runs on one instance at a time, once per interval.
//   - Jobs of one lane never wait for jobs of another, because each lane has its own workers.
//
// There are two clocks. The service's clock decides when a job is due. The sandbox can advance it
// by months, and work that is due within that time then runs immediately. The machine's clock
// decides when a lease ends, because a job that is running when the service's clock moves must not
// look abandoned and start twice.
package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tracing"
)

// Defaults of Deps.
const (
	DefaultWorkers     = 8
	DefaultMaxAttempts = 25 // about 15 hours, see backoff
	DefaultDrain       = 5 * time.Second
)

// Deps are the dependencies and settings of a Queue.
type Deps struct {
	DB *sqldb.DB
	// Clock is the service's clock, which decides when jobs are due.
	Clock clock.Clock
	// Lease is the machine's clock, which decides when leases end.
	Lease clock.Clock
	// Log receives errors; nil discards them.
	Log *slog.Logger
	// Observe is called after each run with the outcome ("done", "failed", or "interrupted" by the
	// shutdown) and the duration by the machine's clock. Can be nil.
	Observe func(kind, outcome string, took time.Duration)
	// Tracer creates a span for each run. Nil creates no spans.
	Tracer *tracing.Tracer
	// Workers is the number of jobs that this instance runs concurrently in each lane.
	Workers int
	// MaxAttempts is the number of attempts before a job is dead.
	MaxAttempts int
	// Drain is the time that Run gives running jobs to finish after its context ends.
	Drain time.Duration
}

// Job is a job as its handler sees it.
type Job struct {
	ID      uuid.UUID
	Kind    string
	Payload []byte // JSON
	Attempt int    // from 1
}

// Decode decodes the payload into v. Its error is fatal, because another attempt would fail the
// same way.
func (j Job) Decode(v any) error {
	if err := json.Unmarshal(j.Payload, v); err != nil {
		return MarkFatal(fmt.Errorf("jobs: payload of %s: %w", j.Kind, err))
	}
	return nil
}

// Handler runs a job. Its context ends after a minute, or when the drain time of a shutdown is
// over. A handler must return by then. After an error or a panic, the job is retried, unless the
// error is marked with MarkFatal.
type Handler func(ctx context.Context, job Job) error

// Redaction removes secrets from a JSON payload and reports whether it found any.
type Redaction func(payload []byte) (without []byte, found bool)

// Queue enqueues and runs jobs. Handle, Every, Lane and Redact must be called before Run. All other
// methods are safe for concurrent use.
type Queue struct {
	db          *sqldb.DB
	store       store
	clock       clock.Clock
	lease       clock.Clock
	log         *slog.Logger
	workers     int
	maxAttempts int
	drain       time.Duration
	timeout     time.Duration
	tracer      *tracing.Tracer
	observe     func(kind, outcome string, took time.Duration)
	handlers    map[string]Handler
	periods     map[string]time.Duration
	lanes       map[string]*Lane // by name
	laneOf      map[string]*Lane // by kind
	redactions  map[string]Redaction
}

// New returns a Queue without handlers.
func New(deps Deps) *Queue {
	if deps.Observe == nil {
		deps.Observe = func(string, string, time.Duration) {}
	}
	return &Queue{
		db:          deps.DB,
		store:       store{db: deps.DB},
		clock:       deps.Clock,
		lease:       deps.Lease,
		log:         cmp.Or(deps.Log, slog.New(slog.DiscardHandler)),
		workers:     cmp.Or(deps.Workers, DefaultWorkers),
		maxAttempts: cmp.Or(deps.MaxAttempts, DefaultMaxAttempts),
		drain:       cmp.Or(deps.Drain, DefaultDrain),
		timeout:     handlerTimeout,
		tracer:      deps.Tracer,
		observe:     deps.Observe,
		handlers:    map[string]Handler{},
		periods:     map[string]time.Duration{},
		lanes:       map[string]*Lane{},
		laneOf:      map[string]*Lane{},
		redactions:  map[string]Redaction{},
	}
}

// Option configures an enqueued job.
type Option func(*options)

type options struct {
	at  time.Time
	key *string
}

// At makes the job due at t, by the service's clock, instead of now.
func At(t time.Time) Option { return func(o *options) { o.at = t } }

// Key deduplicates waiting jobs of a kind with the same key. Such jobs are interchangeable, as in
// "synchronize this customer", and read the current state when they run. If a job with the key is
// already waiting, Enqueue adds no job. The earlier due time applies, except that a failed job
// keeps its pause.
//
// A run that starts after a commit sees everything that was committed before or together with
// Enqueue. A running job therefore does not count as waiting: Enqueue adds another one, which
// starts after the running one ends. If the running one fails, the two are merged and wait for the
// pause.
func Key(key string) Option { return func(o *options) { o.key = &key } }

// Enqueue writes a job with payload as JSON in the transaction of ctx, if any. Workers on this
// instance start it right after the commit, workers on other instances within a second. This
// instance need not have a handler for the kind.
func (q *Queue) Enqueue(ctx context.Context, kind string, payload any, opts ...Option) error {
	text, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("jobs: payload of %s: %w", kind, err)
	}
	now := q.clock.Now()
	o := options{at: now}
	for _, opt := range opts {
		opt(&o)
	}
	err = q.store.insert(ctx, waitingJob{
		id: sqldb.NewID(), kind: kind, key: o.key, payload: string(text), due: o.at.UTC(), created: now, origin: tracing.Origin(ctx),
	})
	if err != nil {
		return err
	}
	if l := q.laneOf[kind]; l != nil {
		q.db.AfterCommit(ctx, l.wakeUp)
	}
	return nil
}

// Redact sets the redaction for the payloads of dead jobs of a kind. Dead jobs are stored for weeks
// and must not contain tokens. A redacted job cannot be retried.
func (q *Queue) Redact(kind string, r Redaction) { q.redactions[kind] = r }

// Wake makes this instance look for work immediately, for example after the clock was moved. It
// does not block.
func (q *Queue) Wake() {
	for _, l := range q.lanes {
		l.wakeUp()
	}
}

// MarkFatal marks an error as permanent: the job is dead without further attempts. MarkFatal(nil)
// is nil.
func MarkFatal(err error) error {
	if err == nil {
		return nil
	}
	return fatalError{err}
}

type fatalError struct{ err error }

func (e fatalError) Error() string { return e.err.Error() }
func (e fatalError) Unwrap() error { return e.err }
