package jobs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// If a job finishes while the database is unavailable, its outcome is recorded once the database is
// back. The job does not run again. Its lease cannot end, because the lease clock is stopped in
// this test.
func TestTheEndOfAJobWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	line, address := dbtest.NewLine(t, dbtest.URL(t, sqldb.Postgres))
	r := &rig{db: dbtest.Open(t, address)}
	begin := time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)
	for _, fails := range []bool{false, true} {
		r.clock, r.lease = clock.NewFixed(begin), clock.NewFixed(begin)
		q, began, goOn := r.queue(nil), make(chan int, 10), make(chan error)
		q.Handle("work", func(_ context.Context, j jobs.Job) error {
			began <- j.Attempt
			return <-goOn
		})
		enqueue(t, q, "work", nil)
		stop := start(t, q)
		if n := receive(t, began); n != 1 {
			t.Fatalf("attempt %d", n)
		}
		line.Cut()
		want := jobs.Stats{}
		if fails {
			goOn <- errors.New("some error")
			want.Waiting = 1
		} else {
			goOn <- nil
		}
		silent(t, began)
		line.Restore()
		testkit.Eventually(t, "the return of the database", func() bool { return r.db.Ping(t.Context()) == nil })
		waitFor(t, q, want)
		silent(t, began)
		stop()
	}
}
