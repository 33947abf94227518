package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs/jobssql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// ErrNotDead is returned by Retry for a job that does not exist or is not dead.
var ErrNotDead = errors.New("jobs: no such dead job")

// DeadJob is a job that is not tried any more.
type DeadJob struct {
	Job
	Key       string // empty if it has none
	LastError string
	CreatedAt time.Time
	DeadAt    time.Time
}

// Dead lists at most limit dead jobs, the latest first.
func (q *Queue) Dead(ctx context.Context, limit int) ([]DeadJob, error) {
	rows, err := q.store.q(ctx).Dead(ctx, int32(min(limit, 1<<20)))
	if err != nil {
		return nil, fmt.Errorf("jobs: list the dead: %w", err)
	}
	list := make([]DeadJob, 0, len(rows))
	for _, r := range rows {
		list = append(list, DeadJob{
			Job:       Job{ID: r.ID, Kind: r.Kind, Payload: []byte(r.Payload), Attempt: int(r.Attempt)},
			Key:       deref(r.UniqueKey),
			LastError: deref(r.LastError),
			CreatedAt: r.CreatedAt,
			DeadAt:    deref(r.DeadAt),
		})
	}
	return list, nil
}

// Retry makes a dead job due now, with all its attempts before it. If a job of
// its kind and key waits already, that one does for both. The error is
// ErrNotDead if there is no such dead job.
func (q *Queue) Retry(ctx context.Context, id uuid.UUID) error {
	now := q.clock.Now()
	err := q.db.Tx(ctx, func(ctx context.Context) error {
		dead, err := q.store.q(ctx).TakeDead(ctx, id)
		if err != nil {
			return err
		}
		return q.store.insert(ctx, jobssql.InsertKeyedParams{
			ID: id, Kind: dead.Kind, UniqueKey: dead.UniqueKey, Payload: dead.Payload, DueAt: now, CreatedAt: dead.CreatedAt,
		})
	})
	if errors.Is(err, sqldb.ErrNoRows) {
		return ErrNotDead
	}
	if err != nil {
		return fmt.Errorf("jobs: retry: %w", err)
	}
	q.db.AfterCommit(ctx, q.Wake)
	return nil
}

// Stats counts jobs, for metrics.
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
	counts, err := q.store.q(ctx).Count(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf("jobs: count: %w", err)
	}
	stats := Stats{Waiting: counts.Waiting, Running: counts.Running, Dead: counts.Dead}
	now := q.clock.Now()
	switch due, err := q.store.q(ctx).OldestDue(ctx, now); {
	case err == nil:
		stats.Lag = now.Sub(due)
	case !errors.Is(err, sqldb.ErrNoRows):
		return Stats{}, fmt.Errorf("jobs: oldest: %w", err)
	}
	return stats, nil
}

// deref returns what p points to, or the zero value.
func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
