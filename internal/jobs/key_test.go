package jobs_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
)

func fixed() *clock.Fixed {
	return clock.NewFixed(time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC))
}

func TestOneWaitingJobPerKindAndKey(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		for range 3 {
			enqueue(t, q, "a", 1, jobs.Key("x"))
		}
		waitFor(t, q, jobs.Stats{Waiting: 1})
		enqueue(t, q, "a", 1, jobs.Key("y"))
		enqueue(t, q, "b", 1, jobs.Key("x"))
		enqueue(t, q, "a", 1)
		enqueue(t, q, "a", 1)
		waitFor(t, q, jobs.Stats{Waiting: 5})
	})
}

// A job that is enqueued while a job with the same key runs starts after that job has ended.
func TestAKeyThatRunsIsRunAgainAfterwards(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		runs, release := make(chan struct{}, 10), make(chan struct{}, 10)
		var active, most atomic.Int32
		var queues []*jobs.Queue
		for range 2 {
			q := r.queue(nil)
			q.Handle("a", func(context.Context, jobs.Job) error {
				most.Store(max(most.Load(), active.Add(1)))
				defer active.Add(-1)
				runs <- struct{}{}
				<-release
				return nil
			})
			start(t, q)
			queues = append(queues, q)
		}
		enqueue(t, queues[0], "a", nil, jobs.Key("k"))
		receive(t, runs)
		enqueue(t, queues[0], "a", nil, jobs.Key("k"))
		enqueue(t, queues[1], "a", nil, jobs.Key("k"))
		waitFor(t, queues[0], jobs.Stats{Running: 1, Waiting: 1})
		silent(t, runs)
		release <- struct{}{}
		receive(t, runs)
		release <- struct{}{}
		waitFor(t, queues[0], jobs.Stats{})
		if most.Load() != 1 {
			t.Errorf("%d ran concurrently, want 1", most.Load())
		}
	})
}

// If a job with the same key is waiting, a transaction that calls Enqueue blocks it until the
// commit. Otherwise the waiting job could run before the commit, and no job would run after it.
func TestAWaitingTwinRunsAfterTheCommit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		seen := make(chan int64, 10)
		q.Handle("a", func(ctx context.Context, _ jobs.Job) error {
			stats, err := q.Stats(ctx)
			seen <- stats.Waiting
			return err
		})
		enqueue(t, q, "a", nil, jobs.Key("k"))
		err := r.db.Tx(t.Context(), func(ctx context.Context) error {
			// The run must see the change that this other job represents.
			if err := q.Enqueue(ctx, "change", nil); err != nil {
				return err
			}
			if err := q.Enqueue(ctx, "a", nil, jobs.Key("k")); err != nil {
				return err
			}
			start(t, q)
			silent(t, seen)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := receive(t, seen); got != 1 {
			t.Error("the job ran before the change was committed")
		}
		silent(t, seen)
	})
}

// If a job fails, it is merged with the twin that was enqueued during its run. The merged job waits
// for the pause after the failure and keeps the number of attempts.
func TestAFailedRunAndItsTwinBecomeOne(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		attempts, release := make(chan int, 10), make(chan error, 10)
		q.Handle("a", func(_ context.Context, job jobs.Job) error {
			attempts <- job.Attempt
			return <-release
		})
		start(t, q)
		enqueue(t, q, "a", nil, jobs.Key("k"))
		receive(t, attempts)
		enqueue(t, q, "a", nil, jobs.Key("k"))
		release <- errOops
		waitFor(t, q, jobs.Stats{Waiting: 1})
		// Frequent calls do not shorten the pause.
		enqueue(t, q, "a", nil, jobs.Key("k"))
		silent(t, attempts)
		r.advance(2*time.Second, q)
		if got := receive(t, attempts); got != 2 {
			t.Errorf("attempt %d, want 2", got)
		}
		release <- nil
		waitFor(t, q, jobs.Stats{})
		silent(t, attempts)
	})
}

func TestTheEarlierDueTimeCounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		runs := make(chan struct{}, 10)
		q.Handle("a", func(context.Context, jobs.Job) error { runs <- struct{}{}; return nil })
		start(t, q)
		for _, pause := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
			enqueue(t, q, "a", nil, jobs.Key("k"), jobs.At(r.clock.Now().Add(pause)))
		}
		silent(t, runs)
		r.advance(time.Hour, q)
		receive(t, runs)
		waitFor(t, q, jobs.Stats{})
	})
}

// While a crashed worker's job is leased, its twin with the same key does not run. After the lease,
// both run one after the other.
func TestATwinWaitsForACrashedWorker(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		attempts := make(chan int, 10)
		q.Handle("a", func(_ context.Context, job jobs.Job) error { attempts <- job.Attempt; return nil })
		enqueue(t, q, "a", nil, jobs.Key("k"))
		abandon(t, r, 1)
		enqueue(t, q, "a", nil, jobs.Key("k"))
		start(t, q)
		silent(t, attempts)
		r.lease.Set(r.lease.Now().Add(time.Hour))
		if got := receive(t, attempts); got != 2 {
			t.Errorf("first run, of the abandoned job: attempt %d, want 2", got)
		}
		if got := receive(t, attempts); got != 1 {
			t.Errorf("second run, of the twin: attempt %d, want 1", got)
		}
		waitFor(t, q, jobs.Stats{})
	})
}
