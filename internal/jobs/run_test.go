package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/jobs"
)

// settle waits until the outcome of a run is recorded, so that the clock can be moved, and checks
// that no other run follows.
func settle[T any](t *testing.T, q *jobs.Queue, runs <-chan T) {
	t.Helper()
	waitFor(t, q, jobs.Stats{})
	silent(t, runs)
}

// Two instances together run a periodic function once per interval.
func TestPeriodic(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		runs, started := make(chan time.Time, 100), make(chan int, 10)
		queues := make([]*jobs.Queue, 2)
		for i := range queues {
			queues[i] = r.queue(nil)
			// It runs once this instance has started, which makes due jobs of a wrong clock due again.
			queues[i].Every(fmt.Sprintf("start-%d", i), 1000*time.Hour, func(context.Context) error { started <- i; return nil })
			queues[i].Every("tidy", time.Hour, func(context.Context) error {
				runs <- r.clock.Now()
				return nil
			})
			start(t, queues[i])
		}
		receive(t, started)
		receive(t, started)
		first := receive(t, runs)
		for n := range 3 {
			settle(t, queues[0], runs)
			r.advance(time.Hour, queues...)
			if got, want := receive(t, runs).Sub(first), time.Duration(n+1)*time.Hour; got != want {
				t.Errorf("run after %v, want %v", got, want)
			}
		}
		// Missed runs are made up by one run, and the schedule is unchanged.
		settle(t, queues[0], runs)
		r.advance(10*time.Hour+30*time.Minute, queues...)
		receive(t, runs)
		settle(t, queues[0], runs)
		r.advance(30*time.Minute, queues...)
		receive(t, runs)
		silent(t, runs)
	})
}

// If the clock passes the next regular time during a run, the function runs again.
func TestPeriodicDuringALongRun(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		runs, end := make(chan struct{}, 10), make(chan struct{}, 10)
		q.Every("tidy", time.Hour, func(context.Context) error {
			runs <- struct{}{}
			<-end
			return nil
		})
		start(t, q)
		receive(t, runs)
		r.advance(26*time.Hour, q)
		end <- struct{}{}
		receive(t, runs)
		end <- struct{}{}
		settle(t, q, runs)
		r.advance(time.Hour, q)
		receive(t, runs)
		end <- struct{}{}
	})
}

// A periodic function never dies. It is retried soon and then follows its schedule.
func TestPeriodicAfterAnError(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(func(d *jobs.Deps) { d.MaxAttempts = 1 })
		runs, results := make(chan struct{}, 10), make(chan error, 10)
		q.Every("tidy", time.Hour, func(context.Context) error {
			runs <- struct{}{}
			return <-results
		})
		start(t, q)
		receive(t, runs)
		results <- jobs.MarkFatal(errOops)
		settle(t, q, runs)
		r.advance(2*time.Second, q)
		receive(t, runs)
		results <- nil
		settle(t, q, runs)
		r.advance(2*time.Second, q)
		settle(t, q, runs)
		r.advance(time.Hour, q)
		receive(t, runs)
		results <- nil
	})
}

// A shorter interval applies from the next start.
func TestPeriodicWithAShorterInterval(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		runs := make(chan struct{}, 10)
		instance := func(every time.Duration) *jobs.Queue {
			q := r.queue(nil)
			q.Every("tidy", every, func(context.Context) error { runs <- struct{}{}; return nil })
			return q
		}
		stop := start(t, instance(1000*time.Hour))
		receive(t, runs)
		stop()
		q := instance(time.Hour)
		start(t, q)
		silent(t, runs)
		r.advance(time.Hour, q)
		receive(t, runs)
	})
}

// On shutdown, a running job finishes and no new job starts.
func TestDrain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(func(d *jobs.Deps) { d.Workers = 1 })
		runs, interrupted := make(chan struct{}, 10), make(chan error, 1)
		q.Handle("slow", func(ctx context.Context, _ jobs.Job) error {
			runs <- struct{}{}
			time.Sleep(while) // time in which the shutdown could wrongly interrupt the job
			interrupted <- ctx.Err()
			return nil
		})
		stop := start(t, q)
		enqueue(t, q, "slow", nil)
		enqueue(t, q, "slow", nil)
		receive(t, runs)
		stop()
		if err := receive(t, interrupted); err != nil {
			t.Errorf("the running job was interrupted: %v", err)
		}
		silent(t, runs)
		waitFor(t, q, jobs.Stats{Waiting: 1})
	})
}

// A job that does not finish in time is canceled and released. Another instance runs it
// immediately, and the attempt does not count.
func TestDrainGivesUp(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		first := r.queue(func(d *jobs.Deps) { d.Drain = while })
		runs := make(chan struct{}, 1)
		first.Handle("slow", func(ctx context.Context, _ jobs.Job) error {
			runs <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		stop := start(t, first)
		enqueue(t, first, "slow", nil)
		receive(t, runs)
		stop()

		second := r.queue(nil)
		attempts := make(chan int, 1)
		second.Handle("slow", func(_ context.Context, job jobs.Job) error { attempts <- job.Attempt; return nil })
		start(t, second)
		if got := receive(t, attempts); got != 1 {
			t.Errorf("attempt %d, want 1", got)
		}
	})
}

// A handler that ignores the cancellation does not delay the shutdown.
func TestDrainLeavesAStuckHandler(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(func(d *jobs.Deps) { d.Drain = while })
		runs, release, returned := make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		q.Handle("stuck", func(context.Context, jobs.Job) error {
			defer close(returned)
			runs <- struct{}{}
			<-release
			return nil
		})
		stop := start(t, q)
		enqueue(t, q, "stuck", nil)
		receive(t, runs)
		stop()
		waitFor(t, q, jobs.Stats{Running: 1})
		close(release)
		receive(t, returned)
		waitFor(t, q, jobs.Stats{})
	})
}
