package jobs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Errors of Retry and Drop.
var (
	// ErrNotDead means that the job does not exist or is not dead.
	ErrNotDead = errors.New("no such dead job")
	// ErrPayloadDeleted means that the job cannot be retried because its payload was redacted (see
	// Redact).
	ErrPayloadDeleted = errors.New("its payload contained a token and was deleted, so it can only be dropped")
)

// DeadJob is a job that is no longer retried.
type DeadJob struct {
	Job
	Key       string // empty if unset
	LastError string
	CreatedAt time.Time
	DeadAt    time.Time
	// Emptied reports whether the payload was redacted, so that the job cannot be retried.
	Emptied bool
}

// ListDead lists up to limit dead jobs of a kind ("" for all kinds), newest first.
func (q *Queue) ListDead(ctx context.Context, kind string, limit int) ([]DeadJob, error) {
	return q.store.listDead(ctx, kind, limit)
}

// DeadIDs lists all dead jobs of a kind ("" for all kinds), oldest first.
func (q *Queue) DeadIDs(ctx context.Context, kind string) ([]uuid.UUID, error) {
	return q.store.deadIDs(ctx, kind)
}

// Drop deletes a dead job. It returns ErrNotDead if the job does not exist or is not dead.
func (q *Queue) Drop(ctx context.Context, id uuid.UUID) error { return q.store.dropDead(ctx, id) }

// Retry makes a dead job due now, with all attempts available again. It merges the job with a
// waiting job of the same kind and key. It returns ErrNotDead if the job does not exist or is not
// dead, and ErrPayloadDeleted if its payload was redacted.
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

// DeleteOldDead deletes up to limit jobs that died between from (inclusive) and before (exclusive),
// oldest first. It returns the times of their deaths.
func (q *Queue) DeleteOldDead(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return q.store.deleteOldDead(ctx, from, before, limit)
}

// countLimit is the maximum number of jobs to count. Metrics are read often, and their cost must
// not grow with the number of waiting jobs.
const countLimit = 10_000

// Stats has the number of jobs, for metrics. Counts are capped at 10,000.
type Stats struct {
	// Waiting is the number of jobs that are due now or later, except periodic ones.
	Waiting int64
	// Running is the number of jobs that an instance holds a lease on.
	Running int64
	Dead    int64
	// Lag is the time since the earliest waiting job became due; 0 if no job is due.
	Lag time.Duration
}

// Stats returns the current counts across all instances.
func (q *Queue) Stats(ctx context.Context) (Stats, error) {
	stats, err := q.store.count(ctx)
	if err != nil {
		return Stats{}, err
	}
	now := q.clock.Now()
	switch due, err := q.store.oldestDue(ctx, now); {
	case err == nil:
		stats.Lag = now.Sub(due)
	case !errors.Is(err, errNoJobDue):
		return Stats{}, err
	}
	return stats, nil
}

// DueJobs are the waiting jobs of a kind that are due.
type DueJobs struct {
	Kind  string
	Count int64
	// Lag is the time since the earliest of them became due.
	Lag time.Duration
}

// DueByKind returns the due jobs across all instances, including periodic ones. It considers only
// the 10,000 jobs that have been due the longest.
func (q *Queue) DueByKind(ctx context.Context) ([]DueJobs, error) {
	return q.store.dueByKind(ctx, q.clock.Now())
}

// Kinds returns the kinds that this instance has handlers for, including periodic functions.
func (q *Queue) Kinds() []string { return slices.Sorted(maps.Keys(q.handlers)) }
