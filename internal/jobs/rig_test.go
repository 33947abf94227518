package jobs_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

// while is how long a test waits to check that nothing happens.
const while = 100 * time.Millisecond

// rig is a database with clocks that move only on request.
type rig struct {
	db    *sqldb.DB
	clock *clock.Fixed
	lease *clock.Fixed
}

// each runs f on both databases.
func each(t *testing.T, f func(t *testing.T, r *rig)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		start := time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)
		f(t, &rig{db: db, clock: clock.NewFixed(start), lease: clock.NewFixed(start)})
	})
}

// queue returns the queue of one instance. change can be nil.
func (r *rig) queue(change func(*jobs.Deps)) *jobs.Queue {
	deps := jobs.Deps{DB: r.db, Clock: r.clock, Lease: r.lease}
	if change != nil {
		change(&deps)
	}
	return jobs.New(deps)
}

// advance moves the service's clock and wakes the queues.
func (r *rig) advance(d time.Duration, queues ...*jobs.Queue) {
	r.clock.Set(r.clock.Now().Add(d))
	for _, q := range queues {
		q.Wake()
	}
}

// start runs q until the returned function is called or the test ends. Both wait for Run to return.
func start(t *testing.T, q *jobs.Queue) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- q.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("Run: %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("Run did not return")
		}
	})
	t.Cleanup(stop)
	return stop
}

func enqueue(t *testing.T, q *jobs.Queue, kind string, payload any, opts ...jobs.Option) {
	t.Helper()
	if err := q.Enqueue(t.Context(), kind, payload, opts...); err != nil {
		t.Fatal(err)
	}
}

// receive waits for the next value of c.
func receive[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// silent checks that c receives nothing.
func silent[T any](t *testing.T, c <-chan T) {
	t.Helper()
	select {
	case v := <-c:
		t.Fatalf("unexpected %v", v)
	case <-time.After(while):
	}
}

// waitFor waits until the stats of q equal want.
func waitFor(t *testing.T, q *jobs.Queue, want jobs.Stats) {
	t.Helper()
	testkit.Eventually(t, fmt.Sprintf("stats %+v", want), func() bool {
		got, err := q.Stats(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got == want
	})
}

func exec(t *testing.T, db *sqldb.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.Conn(t.Context()).ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}
