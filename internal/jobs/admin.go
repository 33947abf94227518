package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// What Retry and Drop refuse.
var (
	// ErrNotDead is the error for a job that does not exist or is not dead.
	ErrNotDead = errors.New("no such dead job")
	// ErrPayloadDeleted is the error of Retry for a job that has lost its payload (see Redact).
	ErrPayloadDeleted = errors.New("its payload had a token and was not kept, so it can only be dropped")
)

// DeadJob is a job that is not tried again.
type DeadJob struct {
	Job
	Key       string // empty if it has none
	LastError string
	CreatedAt time.Time
	DeadAt    time.Time
	// Emptied says that the payload is not what it was, so that it cannot be tried again.
	Emptied bool
}

// Dead lists at most limit dead jobs of a kind ("" for all kinds), the latest first.
func (q *Queue) Dead(ctx context.Context, kind string, limit int) ([]DeadJob, error) {
	return q.store.listDead(ctx, kind, limit)
}

// DeadIDs lists all dead jobs of a kind ("" for all kinds), the oldest first.
func (q *Queue) DeadIDs(ctx context.Context, kind string) ([]uuid.UUID, error) {
	return q.store.deadIDs(ctx, kind)
}

// Drop deletes a dead job. The error is ErrNotDead if there is none.
func (q *Queue) Drop(ctx context.Context, id uuid.UUID) error { return q.store.dropDead(ctx, id) }

// Retry makes a dead job due now, with all attempts left. If a job of its kind and
// key waits already, the two become one. The error is ErrNotDead if there is no such
// dead job, and ErrEmptied if it cannot be tried again.
func (q *Queue) Retry(ctx context.Context, id uuid.UUID) error {
	now := q.clock.Now()
	err := q.db.Tx(ctx, func(ctx context.Context) error {
		dead, err := q.store.takeDead(ctx, id)
		if err != nil {
			return err
		}
		dead.due = now
		return q.store.insert(ctx, dead)
	})
	if err != nil {
		return err
	}
	q.db.AfterCommit(ctx, q.Wake)
	return nil
}

// DeleteOldDead deletes at most limit jobs that died from (inclusive) to before
// (exclusive), the oldest first, and returns when they did.
func (q *Queue) DeleteOldDead(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return q.store.deleteOldDead(ctx, from, before, limit)
}

// countLimit is how many jobs are counted at most: metrics are read often, and must not cost
// more when a great many jobs wait.
const countLimit = 10_000

// Stats counts jobs, for metrics; a figure of 10,000 says that there are at least as many.
type Stats struct {
	// Waiting counts the jobs that are due now or later; periodic ones are not
	// counted.
	Waiting int64
	// Running counts the jobs that some instance holds.
	Running int64
	Dead    int64
	// Lag is how long the earliest of the waiting jobs has been due; 0 if none is.
	Lag time.Duration
}

// Stats returns the present figures of all instances together.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	stats, err := q.store.count(ctx)
	if err != nil {
		return Stats{}, err
	}
	now := q.clock.Now()
	switch due, err := q.store.oldestDue(ctx, now); {
	case err == nil:
		stats.Lag = now.Sub(due)
	case !errors.Is(err, errNoneDue):
		return Stats{}, err
	}
	return stats, nil
}

// DueJobs are the jobs of a kind that wait although they are due.
type DueJobs struct {
	Kind  string
	Count int64
	// Lag is for how long the earliest of them has been due.
	Lag time.Duration
}

// DueByKind returns what is due in all instances together, periodic functions included. It
// looks at the 10,000 jobs that have been due for the longest.
func (q *Queue) DueByKind(ctx context.Context) ([]DueJobs, error) {
	return q.store.dueByKind(ctx, q.clock.Now())
}

// Kinds returns the kinds that this instance has handlers for, periodic functions included.
func (q *Queue) Kinds() []string { return slices.Sorted(maps.Keys(q.handlers)) }
