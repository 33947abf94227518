// Package jobs is the service's background work: an outbox in the database. A
// change and the work that follows from it are written in one transaction, so
// that neither exists without the other; workers of any instance pick the work
// up after the commit.
//
// What holds:
//   - A job that was enqueued in a transaction that rolls back never runs.
//   - A job runs at least once, and once if nothing fails. A handler may see a
//     job again after a crash, so it must be idempotent.
//   - A job that fails is tried again with growing pauses, and after the last
//     attempt it is kept as dead, with its error, until somebody retries it.
//   - Of the jobs with one kind and key at most one waits and at most one runs.
//   - A periodic function runs in one instance at a time, once per interval.
//   - Jobs of one lane never wait for those of another: each lane has workers of
//     its own.
//
// There are two clocks. The service's clock says when a job is due. The sandbox can
// move that clock by months, and work that is due in a month then runs at once. The
// machine's clock says how long a worker may keep a job, because a job that runs
// while the service's clock is moved must not look abandoned and start twice.
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
	DefaultMaxAttempts = 25 // About 15 hours, see backoff.
	DefaultDrain       = 5 * time.Second
)

// Deps is what a Queue needs.
type Deps struct {
	DB *sqldb.DB
	// Clock is the service's clock, which says what is due.
	Clock clock.Clock
	// Lease is the machine's clock, which says what is abandoned.
	Lease clock.Clock
	// Log receives what fails; nil discards.
	Log *slog.Logger
	// Observe is called after each run, with "done", "failed" or "interrupted" (by the end of
	// the service) and the time that it took by the machine's clock; nil is not called.
	Observe func(kind, outcome string, took time.Duration)
	// Tracer makes spans of the runs; nil makes none.
	Tracer *tracing.Tracer
	// Workers is how many jobs this instance runs at once in each lane.
	Workers int
	// MaxAttempts is how often a job is tried before it is dead.
	MaxAttempts int
	// Drain is how long Run lets running jobs finish after its context has ended.
	Drain time.Duration
}

// Job is one piece of work, as its handler sees it.
type Job struct {
	ID      uuid.UUID
	Kind    string
	Payload []byte // JSON
	Attempt int    // 1 at the first attempt
}

// Decode reads the payload into v. Its error is Fatal: another attempt would fail the
// same way.
func (j Job) Decode(v any) error {
	if err := json.Unmarshal(j.Payload, v); err != nil {
		return MarkFatal(fmt.Errorf("jobs: payload of %s: %w", j.Kind, err))
	}
	return nil
}

// Handler does a job. Its context ends after a minute, or when the service shuts
// down and the time to drain is over; a handler must not outlive it. An error or
// a panic means another attempt later; Fatal means none.
type Handler func(ctx context.Context, job Job) error

// Redaction takes the secrets out of a payload and reports whether there were any. Its
// result is JSON.
type Redaction func(payload []byte) (without []byte, found bool)

// Queue writes jobs and runs them. Handle, Every, Lane and Redact are called before Run;
// the rest is safe for concurrent use.
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

// New returns a queue without handlers.
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

// Option changes how a job is enqueued.
type Option func(*options)

type options struct {
	at  time.Time
	key *string
}

// At makes the job due at t, by the service's clock, instead of now.
func At(t time.Time) Option { return func(o *options) { o.at = t } }

// Key says that one waiting job of the kind with this key is enough: jobs of one
// kind and key are interchangeable, as in "synchronise this customer", and read
// what they need when they run. If one waits already, nothing is added; the
// earlier due time counts, except that a job that has failed before keeps its
// pause.
//
// Whatever is committed before or together with Enqueue is seen by a run that
// starts afterwards. So a job that runs at that time does not count as waiting:
// another is added, which starts when the running one has ended. If the running
// one fails, the two become one again and wait out the pause.
func Key(key string) Option { return func(o *options) { o.key = &key } }

// Enqueue writes a job with payload as JSON. It takes part in the transaction of
// ctx; workers of this instance start on it right after the commit, those of
// others within a second. The kind need not have a handler in this instance.
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

// Redact says how the payloads of a kind are kept once a job is dead. A dead job is kept
// for weeks, so it must not have tokens in it; one that had cannot be tried again.
func (q *Queue) Redact(kind string, r Redaction) { q.redactions[kind] = r }

// Wake makes this instance look for work at once, as after the clock was moved.
// It never blocks.
func (q *Queue) Wake() {
	for _, l := range q.lanes {
		l.wakeUp()
	}
}

// MarkFatal marks an error as permanent: the job is dead at once, without another
// attempt. Fatal(nil) is nil.
func MarkFatal(err error) error {
	if err == nil {
		return nil
	}
	return fatalError{err}
}

type fatalError struct{ err error }

func (e fatalError) Error() string { return e.err.Error() }
func (e fatalError) Unwrap() error { return e.err }
