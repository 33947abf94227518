package jobs

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs/jobssql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// errLeaseLost is returned when a job is not this worker's any more: it took
// longer than its lease, and another has picked it up or finished it.
var errLeaseLost = errors.New("jobs: the lease is lost")

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *jobssql.Queries { return jobssql.New(s.db.Conn(ctx)) }

// insert adds a waiting job, under the rules of Key if it has one.
func (s store) insert(ctx context.Context, job jobssql.InsertKeyedParams) error {
	if job.UniqueKey != nil {
		return s.q(ctx).InsertKeyed(ctx, job)
	}
	return s.q(ctx).Insert(ctx, jobssql.InsertParams{
		ID: job.ID, Kind: job.Kind, Payload: job.Payload, DueAt: job.DueAt, CreatedAt: job.CreatedAt,
	})
}

// insertPeriodic makes sure that the one row of a periodic job exists and is due
// at latest at latest. Its id follows from its kind, so that all instances mean
// the same row.
func (s store) insertPeriodic(ctx context.Context, kind string, now, latest time.Time) error {
	id := uuid.NewSHA1(uuid.Nil, []byte(kind))
	return s.db.Tx(ctx, func(ctx context.Context) error {
		err := s.q(ctx).InsertPeriodic(ctx, jobssql.InsertPeriodicParams{ID: id, Kind: kind, DueAt: now, CreatedAt: now})
		if err != nil {
			return err
		}
		return s.q(ctx).BringForward(ctx, jobssql.BringForwardParams{ID: id, Latest: latest})
	})
}

// claimed is a job that this worker holds the lease of.
type claimed struct {
	Job
	lease    uuid.UUID
	key      *string
	periodic bool
	due      time.Time
}

// Conditions of claim. $1 is a time.
const (
	// isDue leaves out a job whose twin, of the same kind and key, still runs.
	// That twin was committed as running before this job could be inserted (the
	// index of waiting jobs sees to it), so whoever sees the one sees the other.
	isDue = `lease_id IS NULL AND dead_at IS NULL AND due_at <= $1
		AND NOT EXISTS (SELECT 1 FROM jobs twin
			WHERE twin.kind = jobs.kind AND twin.unique_key = jobs.unique_key AND twin.lease_id IS NOT NULL)`
	isAbandoned = `lease_id IS NOT NULL AND leased_until < $1`
)

// claim leases at most limit jobs of the given kinds that meet the condition at
// the time t, earliest first. It is written by hand since the list of kinds has
// no fixed length. What other workers are claiming at the same moment is skipped.
// The cast changes nothing but SQLite's mind, which would collect and sort all
// jobs of the kinds to find the earliest instead of following the order of time.
// The inner query is MATERIALIZED because it must run once: run again it would
// lock other rows, and lease more than limit.
func (s store) claim(ctx context.Context, condition string, t, until time.Time, kinds []string, limit int) ([]claimed, error) {
	lease := sqldb.NewID()
	args := []any{t, limit, lease, until}
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
RETURNING id, kind, unique_key, payload, periodic, attempt, due_at`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []claimed
	for rows.Next() {
		c := claimed{lease: lease}
		if err := rows.Scan(&c.ID, &c.Kind, &c.key, &c.Payload, &c.periodic, &c.Attempt, &c.due); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

// complete removes a job that is done.
func (s store) complete(ctx context.Context, c claimed) error {
	return held(s.q(ctx).Complete(ctx, jobssql.CompleteParams{ID: c.ID, LeaseID: &c.lease}))
}

// release makes a job wait again until due. If a twin was enqueued meanwhile,
// this job takes its place: that is what Key would have done, had this one been
// waiting all along.
func (s store) release(ctx context.Context, c claimed, attempt int, due time.Time, lastError *string) error {
	try := func() error {
		return s.db.Tx(ctx, func(ctx context.Context) error {
			if _, err := s.q(ctx).LockHeld(ctx, jobssql.LockHeldParams{ID: c.ID, LeaseID: &c.lease}); err != nil {
				if errors.Is(err, sqldb.ErrNoRows) {
					return errLeaseLost
				}
				return err
			}
			if c.key != nil {
				err := s.q(ctx).DropWaitingTwin(ctx, jobssql.DropWaitingTwinParams{Kind: c.Kind, UniqueKey: c.key})
				if err != nil {
					return err
				}
			}
			return held(s.q(ctx).Release(ctx, jobssql.ReleaseParams{
				ID: c.ID, LeaseID: &c.lease, Attempt: int32(attempt), DueAt: due, LastError: lastError,
			}))
		})
	}
	// A twin whose transaction commits in between is not seen by the delete and
	// then stands in the way of the update; the next time it is seen.
	err := try()
	for range 2 {
		if !sqldb.IsUnique(err) {
			break
		}
		err = try()
	}
	return err
}

// bury keeps a job as dead.
func (s store) bury(ctx context.Context, c claimed, now time.Time, lastError string) error {
	return held(s.q(ctx).Bury(ctx, jobssql.BuryParams{
		ID: c.ID, LeaseID: &c.lease, DeadAt: &now, LastError: &lastError,
	}))
}

// held turns a change of no row, which was conditional on the lease, into
// errLeaseLost.
func held(rows int64, err error) error {
	if err == nil && rows == 0 {
		return errLeaseLost
	}
	return err
}
