package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs/jobssql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// errLeaseLost means that this worker no longer holds the lease of the job: the run took longer
// than the lease, and another worker has claimed or completed the job.
var errLeaseLost = errors.New("jobs: lease lost")

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *jobssql.Queries { return jobssql.New(s.db.Conn(ctx)) }

// errNoJobDue means that no job is due.
var errNoJobDue = errors.New("jobs: no job is due")

// waitingJob is a job that is not running.
type waitingJob struct {
	id           uuid.UUID
	kind         string
	key          *string
	payload      string // JSON
	due, created time.Time
	origin       string // see tracing.Origin
}

// insert adds a waiting job, deduplicated by its key if it has one.
func (s store) insert(ctx context.Context, job waitingJob) error {
	var err error
	if job.key != nil {
		err = s.q(ctx).InsertKeyed(ctx, jobssql.InsertKeyedParams{
			ID: job.id, Kind: job.kind, UniqueKey: job.key, Payload: job.payload, DueAt: job.due, CreatedAt: job.created, Origin: job.origin,
		})
	} else {
		err = s.q(ctx).Insert(ctx, jobssql.InsertParams{
			ID: job.id, Kind: job.kind, Payload: job.payload, DueAt: job.due, CreatedAt: job.created, Origin: job.origin,
		})
	}
	if err != nil {
		return fmt.Errorf("enqueue job %s: %w", job.kind, err)
	}
	return nil
}

// insertPeriodic ensures that a periodic job has a row and is due no later than latest. The ID
// derives from the kind, so all instances use the same row.
func (s store) insertPeriodic(ctx context.Context, kind string, now, latest time.Time) error {
	id := uuid.NewSHA1(uuid.Nil, []byte(kind))
	return s.db.Tx(ctx, func(ctx context.Context) error {
		err := s.q(ctx).InsertPeriodic(ctx, jobssql.InsertPeriodicParams{ID: id, Kind: kind, DueAt: now, CreatedAt: now})
		if err != nil {
			return sqldb.Wrap(err, "insert periodic job")
		}
		return sqldb.Wrap(s.q(ctx).BringForward(ctx, jobssql.BringForwardParams{ID: id, Latest: latest}), "bring periodic job forward")
	})
}

// makeDue makes jobs due that only wait because the clock has been set back: jobs that were
// enqueued to run immediately, and retries that are due after latest.
func (s store) makeDue(ctx context.Context, now, latest time.Time) error {
	return sqldb.Wrap(s.q(ctx).Hasten(ctx, jobssql.HastenParams{Now: now, Latest: latest}), "hasten jobs")
}

// claimedJob is a job that this worker holds the lease of.
type claimedJob struct {
	Job
	lease    uuid.UUID
	key      *string
	periodic bool
	due      time.Time
	started  time.Time
	origin   string // see tracing.Origin
}

// Conditions of claim. $1 is a time.
const (
	// isDue excludes a job whose twin, with the same kind and key, still runs. The twin was
	// committed as running before the job could be inserted (the index of waiting jobs guarantees
	// this), so a transaction that sees the job also sees its twin.
	isDue = `lease_id IS NULL AND dead_at IS NULL AND due_at <= $1
		AND NOT EXISTS (SELECT 1 FROM jobs twin
			WHERE twin.kind = jobs.kind AND twin.unique_key = jobs.unique_key AND twin.lease_id IS NOT NULL)`
	// isAbandoned also matches leases that end after $5, which is later than any correct clock can
	// set. Such a lease was created by an instance with a wrong clock, and the job would be stuck
	// until its end.
	isAbandoned = `lease_id IS NOT NULL AND (leased_until < $1 OR leased_until > $5)`
)

// claim leases up to limit jobs of the given kinds for which the condition holds at time t,
// earliest first. more contains the arguments of the condition from $5 on. claim skips jobs that
// other workers are claiming. The query is not generated because the list of kinds has a variable
// length. The cast of kind makes SQLite use the index by time instead of sorting all jobs of the
// kinds. The inner query is MATERIALIZED because it must run only once: a second run would lock
// other rows and lease more than limit jobs.
func (s store) claim(ctx context.Context, condition string, t, until time.Time, kinds []string, limit int, more ...any) ([]claimedJob, error) {
	lease := sqldb.NewID()
	args := append([]any{t, limit, lease, until}, more...)
	var places strings.Builder
	for i, kind := range kinds {
		if i > 0 {
			places.WriteString(", ")
		}
		args = append(args, kind)
		places.WriteString("$" + strconv.Itoa(len(args)))
	}
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `
WITH picked AS MATERIALIZED (
	SELECT id FROM jobs WHERE `+condition+` AND CAST(kind AS text) IN (`+places.String()+`)
	ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET lease_id = $3, leased_until = $4, attempt = attempt + 1
WHERE id IN (SELECT id FROM picked)
RETURNING id, kind, unique_key, payload, periodic, attempt, due_at, origin`, args...)
	if err != nil {
		return nil, sqldb.Wrap(err, "claim jobs")
	}
	defer func() { _ = rows.Close() }()
	var list []claimedJob
	for rows.Next() {
		c := claimedJob{lease: lease}
		if err := rows.Scan(&c.ID, &c.Kind, &c.key, &c.Payload, &c.periodic, &c.Attempt, &c.due, &c.origin); err != nil {
			return nil, sqldb.Wrap(err, "claim jobs")
		}
		list = append(list, c)
	}
	if err := rows.Err(); err != nil { // PostgreSQL has rolled the statement back
		return nil, sqldb.Wrap(err, "claim jobs")
	}
	return list, nil
}

// complete deletes a finished job.
func (s store) complete(ctx context.Context, c claimedJob) error {
	n, err := s.q(ctx).Complete(ctx, jobssql.CompleteParams{ID: c.ID, LeaseID: &c.lease})
	return checkLease(n, err, "complete job")
}

// release makes a job wait until due. It replaces a job with the same kind and key that was
// enqueued during the run, as Key would have merged them.
func (s store) release(ctx context.Context, c claimedJob, attempt int, due time.Time, lastError *string) error {
	try := func() error {
		return s.db.Tx(ctx, func(ctx context.Context) error {
			if _, err := s.q(ctx).LockHeld(ctx, jobssql.LockHeldParams{ID: c.ID, LeaseID: &c.lease}); err != nil {
				return sqldb.WrapAbsent(err, "lock job", errLeaseLost)
			}
			if c.key != nil {
				err := s.q(ctx).DropWaitingTwin(ctx, jobssql.DropWaitingTwinParams{Kind: c.Kind, UniqueKey: c.key})
				if err != nil {
					return sqldb.Wrap(err, "drop waiting twin")
				}
			}
			n, err := s.q(ctx).Release(ctx, jobssql.ReleaseParams{
				ID: c.ID, LeaseID: &c.lease, Attempt: int32(attempt), DueAt: due, LastError: lastError,
			})
			return checkLease(n, err, "release job")
		})
	}
	// The DELETE does not see a twin that commits concurrently. The UPDATE then violates the unique
	// index, and the next attempt sees the twin.
	err := try()
	for range 2 {
		if !sqldb.IsUnique(err) {
			break
		}
		err = try()
	}
	return err
}

// markDead stores a job as dead. emptied reports whether its payload was redacted.
func (s store) markDead(ctx context.Context, c claimedJob, now time.Time, lastError string, emptied bool) error {
	n, err := s.q(ctx).Bury(ctx, jobssql.BuryParams{
		ID: c.ID, LeaseID: &c.lease, DeadAt: &now, LastError: &lastError, Payload: string(c.Payload), IsEmptied: emptied,
	})
	return checkLease(n, err, "bury job")
}

// deleteOldDead deletes jobs that died in the period, oldest first, and returns the times of their
// deaths.
func (s store) deleteOldDead(ctx context.Context, earliest, before time.Time, most int32) ([]time.Time, error) {
	rows, err := s.q(ctx).DeleteOldDead(ctx, jobssql.DeleteOldDeadParams{Earliest: earliest, Before: before, Most: most})
	at := make([]time.Time, len(rows))
	for i, t := range rows {
		at[i] = deref(t)
	}
	return at, sqldb.Wrap(err, "delete old dead jobs")
}

// checkLease returns errLeaseLost if a change that is conditional on the lease affected no rows.
func checkLease(rows int64, err error, doing string) error {
	if err == nil && rows == 0 {
		return errLeaseLost
	}
	return sqldb.Wrap(err, doing)
}

// listDead lists up to limit dead jobs of a kind ("" for all kinds), newest first.
func (s store) listDead(ctx context.Context, kind string, limit int) ([]DeadJob, error) {
	rows, err := s.q(ctx).Dead(ctx, jobssql.DeadParams{Kind: kind, Most: int32(min(limit, 1<<20))})
	if err != nil {
		return nil, sqldb.Wrap(err, "list dead jobs")
	}
	list := make([]DeadJob, 0, len(rows))
	for _, r := range rows {
		list = append(list, DeadJob{
			Job:       Job{ID: r.ID, Kind: r.Kind, Payload: []byte(r.Payload), Attempt: int(r.Attempt)},
			Key:       deref(r.UniqueKey),
			LastError: deref(r.LastError),
			CreatedAt: r.CreatedAt,
			DeadAt:    deref(r.DeadAt),
			Emptied:   r.IsEmptied,
		})
	}
	return list, nil
}

// deadIDs lists all dead jobs of a kind ("" for all kinds), oldest first.
func (s store) deadIDs(ctx context.Context, kind string) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).DeadIDs(ctx, kind)
	return ids, sqldb.Wrap(err, "list ids of dead jobs")
}

// dropDead deletes a dead job, or returns ErrNotDead.
func (s store) dropDead(ctx context.Context, id uuid.UUID) error {
	n, err := s.q(ctx).DropDead(ctx, id)
	if err == nil && n == 0 {
		return ErrNotDead
	}
	return sqldb.Wrap(err, "drop dead job")
}

// takeDead deletes and returns a dead job. It returns ErrNotDead or ErrPayloadDeleted if that is
// not possible.
func (s store) takeDead(ctx context.Context, id uuid.UUID) (waitingJob, error) {
	row, err := s.q(ctx).TakeDead(ctx, id)
	if err != nil {
		if emptied, e := s.q(ctx).IsEmptied(ctx, id); e == nil && emptied {
			return waitingJob{}, ErrPayloadDeleted
		}
		return waitingJob{}, sqldb.WrapAbsent(err, "take dead job", ErrNotDead)
	}
	return waitingJob{id: id, kind: row.Kind, key: row.UniqueKey, payload: row.Payload, created: row.CreatedAt, origin: row.Origin}, nil
}

// count returns the stats without Lag.
func (s store) count(ctx context.Context) (Stats, error) {
	row, err := s.q(ctx).Count(ctx, countLimit)
	if err != nil {
		return Stats{}, sqldb.Wrap(err, "count jobs")
	}
	return Stats{Waiting: row.Waiting, Running: row.Running, Dead: row.Dead}, nil
}

// dueByKind returns the jobs that are due at now.
func (s store) dueByKind(ctx context.Context, now time.Time) ([]DueJobs, error) {
	rows, err := s.q(ctx).DueByKind(ctx, jobssql.DueByKindParams{Now: now, Most: countLimit})
	if err != nil {
		return nil, sqldb.Wrap(err, "read due jobs by kind")
	}
	list := make([]DueJobs, len(rows))
	for i, r := range rows {
		list[i] = DueJobs{Kind: r.Kind, Count: r.Due, Lag: now.Sub(r.DueAt)}
	}
	return list, nil
}

// oldestDue returns the earliest due time up to now, or errNoJobDue.
func (s store) oldestDue(ctx context.Context, now time.Time) (time.Time, error) {
	due, err := s.q(ctx).OldestDue(ctx, now)
	return due, sqldb.WrapAbsent(err, "read oldest due job", errNoJobDue)
}

// deref returns *p, or the zero value if p is nil.
func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}
