package jobs_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/testkit/dbtest"
)

var errOops = errors.New("oops")

func TestRunsAJob(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		type payload struct{ Name string }
		type run struct {
			Payload payload
			Attempt int
		}
		q := r.queue(nil)
		runs := make(chan run, 10)
		q.Handle("greet", func(_ context.Context, job jobs.Job) error {
			got := run{Attempt: job.Attempt}
			err := job.Decode(&got.Payload)
			runs <- got
			return err
		})
		start(t, q)
		enqueue(t, q, "greet", payload{Name: "Zoë"})
		if diff := cmp.Diff(run{payload{"Zoë"}, 1}, receive(t, runs)); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
		waitFor(t, q, jobs.Stats{})
		silent(t, runs)
	})
}

func TestRunsAfterTheCommitOrNever(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		runs := make(chan string, 10)
		q.Handle("a", func(_ context.Context, job jobs.Job) error {
			runs <- string(job.Payload)
			return nil
		})
		start(t, q)
		err := r.db.Tx(t.Context(), func(ctx context.Context) error {
			return errors.Join(q.Enqueue(ctx, "a", "rolled back"), errOops)
		})
		if !errors.Is(err, errOops) {
			t.Fatal(err)
		}
		err = r.db.Tx(t.Context(), func(ctx context.Context) error {
			if err := q.Enqueue(ctx, "a", "committed"); err != nil {
				return err
			}
			q.Wake()
			silent(t, runs)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := receive(t, runs); got != `"committed"` {
			t.Errorf("ran %s", got)
		}
		silent(t, runs)
	})
}

func TestDueTime(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		runs := make(chan struct{}, 10)
		q.Handle("a", func(context.Context, jobs.Job) error { runs <- struct{}{}; return nil })
		start(t, q)
		enqueue(t, q, "a", nil, jobs.At(r.clock.Now().Add(30*24*time.Hour)))
		silent(t, runs)
		r.advance(30*24*time.Hour-time.Microsecond, q)
		silent(t, runs)
		r.advance(time.Microsecond, q)
		receive(t, runs)
	})
}

func TestTheEarliestFirst(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(func(d *jobs.Deps) { d.Workers = 1 })
		order := make(chan string, 10)
		q.Handle("a", func(_ context.Context, job jobs.Job) error { order <- string(job.Payload); return nil })
		for _, hours := range []int{2, 3, 1} {
			enqueue(t, q, "a", hours, jobs.At(r.clock.Now().Add(-time.Duration(hours)*time.Hour)))
		}
		start(t, q)
		if got := receive(t, order) + receive(t, order) + receive(t, order); got != "321" {
			t.Errorf("ran %s, want 321", got)
		}
	})
}

// A job starts right after the commit, before the next poll a second later.
func TestWakesAfterTheCommit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		runs := make(chan struct{}, 10)
		q.Handle("a", func(context.Context, jobs.Job) error { runs <- struct{}{}; return nil })
		start(t, q)
		begin := clock.System().Now()
		for range 8 {
			enqueue(t, q, "a", nil)
			receive(t, runs)
		}
		if took := clock.System().Now().Sub(begin); took > 5*time.Second {
			t.Errorf("8 jobs in turn took %v", took)
		}
	})
}

// An instance does not claim kinds that it has no handler for.
func TestUnknownKindsWait(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		older, newer := r.queue(nil), r.queue(nil)
		runs := make(chan string, 10)
		older.Handle("old", func(context.Context, jobs.Job) error { runs <- "old"; return nil })
		newer.Handle("new", func(context.Context, jobs.Job) error { runs <- "new"; return nil })
		start(t, older)
		enqueue(t, older, "new", nil)
		enqueue(t, older, "old", nil)
		if got := receive(t, runs); got != "old" {
			t.Errorf("ran %s", got)
		}
		silent(t, runs)
		start(t, newer)
		receive(t, runs)
	})
}

// Several instances share the work, and each job runs on one of them.
func TestInstancesShareTheWork(t *testing.T) {
	t.Parallel()
	const instances, total = 4, 500
	for _, dialect := range dbtest.Dialects(t) {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			url := dbtest.URL(t, dialect)
			var mu sync.Mutex
			ran, by := map[int]int{}, map[int]int{}
			all, everyone := make(chan struct{}, total), make(chan struct{})
			var queues []*jobs.Queue
			for i := range instances {
				db := dbtest.Open(t, url)
				q := (&rig{db: db, clock: fixed(), lease: fixed()}).queue(func(d *jobs.Deps) { d.Workers = 4 })
				q.Handle("count", func(ctx context.Context, job jobs.Job) error {
					var n int
					if err := job.Decode(&n); err != nil {
						return err
					}
					mu.Lock()
					ran[n]++
					if by[i]++; by[i] == 1 && len(by) == instances {
						close(everyone)
					}
					mu.Unlock()
					select {
					case <-everyone: // no instance may run everything before the others have started
					case <-ctx.Done():
						return ctx.Err()
					}
					all <- struct{}{}
					return nil
				})
				queues = append(queues, q)
			}
			for _, q := range queues {
				start(t, q)
			}
			var wait sync.WaitGroup
			for i, q := range queues {
				wait.Go(func() {
					for n := i; n < total; n += instances {
						if err := q.Enqueue(t.Context(), "count", n); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wait.Wait()
			for range total {
				receive(t, all)
			}
			waitFor(t, queues[0], jobs.Stats{})
			mu.Lock()
			defer mu.Unlock()
			for n := range total {
				if ran[n] != 1 {
					t.Errorf("job %d ran %d times", n, ran[n])
				}
			}
			if len(by) != instances {
				t.Errorf("only %d of %d instances worked: %v", len(by), instances, by)
			}
		})
	}
}

// abandon makes the waiting job look as if a worker had claimed it and crashed.
func abandon(t *testing.T, r *rig, attempt int) {
	t.Helper()
	exec(t, r.db, `UPDATE jobs SET lease_id = $1, leased_until = $2, attempt = $3`,
		sqldb.NewID(), r.lease.Now().Add(time.Minute), attempt)
}

func TestACrashedWorkersJobRunsAgain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		attempts := make(chan int, 10)
		q.Handle("a", func(_ context.Context, job jobs.Job) error { attempts <- job.Attempt; return nil })
		enqueue(t, q, "a", nil)
		abandon(t, r, 1)
		start(t, q)
		silent(t, attempts)
		r.lease.Set(r.lease.Now().Add(time.Minute + time.Second))
		if got := receive(t, attempts); got != 2 {
			t.Errorf("attempt %d, want 2", got)
		}
		waitFor(t, q, jobs.Stats{})
	})
}

// When a process starts and no other process uses the database, it ends the leases of a killed
// process.
func TestLeasesEndAtAStart(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		attempts := make(chan int, 10)
		q.Handle("a", func(_ context.Context, job jobs.Job) error { attempts <- job.Attempt; return nil })
		enqueue(t, q, "a", nil)
		abandon(t, r, 1)
		if err := q.EndLeases(t.Context()); err != nil {
			t.Fatal(err)
		}
		start(t, q)
		if got := receive(t, attempts); got != 2 {
			t.Errorf("attempt %d, want 2", got)
		}
		waitFor(t, q, jobs.Stats{})
	})
}

// A lease that ends implausibly far in the future, because an instance had a wrong clock, is
// ignored. Otherwise the job would wait for years.
func TestLeaseInTheFarFutureIsIgnored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		attempts := make(chan int, 10)
		q.Handle("a", func(_ context.Context, job jobs.Job) error { attempts <- job.Attempt; return nil })
		enqueue(t, q, "a", nil)
		abandon(t, r, 1)
		now := r.lease.Now()
		r.lease.Set(now.Add(-20 * time.Minute)) // a difference within clockError does not make the lease invalid
		start(t, q)
		silent(t, attempts)
		r.lease.Set(now.AddDate(-3, 0, 0))
		if got := receive(t, attempts); got != 2 {
			t.Errorf("attempt %d, want 2", got)
		}
		waitFor(t, q, jobs.Stats{})
	})
}

// A job whose process crashes at every attempt also ends up dead.
func TestAJobThatCrashesItsWorkerDies(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(func(d *jobs.Deps) { d.MaxAttempts = 3 })
		q.Handle("a", func(context.Context, jobs.Job) error { t.Error("ran a fourth time"); return nil })
		enqueue(t, q, "a", nil)
		abandon(t, r, 3)
		r.lease.Set(r.lease.Now().Add(time.Hour))
		start(t, q)
		waitFor(t, q, jobs.Stats{Dead: 1})
	})
}

// The service's clock can jump by months while a job runs. The job must not look abandoned.
func TestMovedTimeDoesNotStartAJobTwice(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		runs, release := make(chan int, 10), make(chan struct{})
		var queues []*jobs.Queue
		for range 2 {
			q := r.queue(nil)
			q.Handle("slow", func(_ context.Context, job jobs.Job) error {
				runs <- job.Attempt
				<-release
				return nil
			})
			start(t, q)
			queues = append(queues, q)
		}
		enqueue(t, queues[0], "slow", nil)
		receive(t, runs)
		r.advance(720*time.Hour, queues...)
		time.Sleep(1200 * time.Millisecond) // longer than the poll interval: no poll must treat the job as abandoned
		silent(t, runs)
		close(release)
		waitFor(t, queues[0], jobs.Stats{})
		silent(t, runs)
	})
}

// A worker whose lease was taken over cannot complete the job.
func TestALateWorkerChangesNothing(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"done": nil, "failed": errOops, "fatal": jobs.MarkFatal(errOops)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, r *rig) {
				q := r.queue(nil)
				runs, release := make(chan struct{}, 10), make(chan struct{})
				q.Handle("a", func(context.Context, jobs.Job) error {
					runs <- struct{}{}
					<-release
					return result
				})
				stop := start(t, q)
				enqueue(t, q, "a", nil, jobs.Key("k"))
				receive(t, runs)
				enqueue(t, q, "a", nil, jobs.Key("k"))
				exec(t, r.db, `UPDATE jobs SET lease_id = $1 WHERE lease_id IS NOT NULL`, sqldb.NewID())
				close(release)
				stop()
				waitFor(t, q, jobs.Stats{Running: 1, Waiting: 1})
			})
		})
	}
}

func TestDeadJobs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		handler  jobs.Handler
		attempts int
		message  string
	}{
		"attempts used up": {func(context.Context, jobs.Job) error { return errOops }, 3, "oops"},
		"fatal":            {func(context.Context, jobs.Job) error { return errors.Join(jobs.MarkFatal(errOops)) }, 1, "oops"},
		"payload":          {func(_ context.Context, j jobs.Job) error { return j.Decode(new(int)) }, 1, "jobs: payload of a"},
		"panic":            {func(context.Context, jobs.Job) error { panic("boom") }, 3, "jobs: panic: boom"},
		"unprintable":      {func(context.Context, jobs.Job) error { return errors.New("a\x00b\xffc") }, 3, "a�b�c"},
		"endless":          {func(context.Context, jobs.Job) error { return errors.New(strings.Repeat("é", 5000)) }, 3, "éé"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, r *rig) {
				q := r.queue(func(d *jobs.Deps) { d.MaxAttempts = 3 })
				attempts := make(chan int, 10)
				q.Handle("a", func(ctx context.Context, job jobs.Job) error {
					attempts <- job.Attempt
					return test.handler(ctx, job)
				})
				start(t, q)
				enqueue(t, q, "a", "text", jobs.Key("k"))
				for n := 1; n <= test.attempts; n++ {
					if got := receive(t, attempts); got != n {
						t.Fatalf("attempt %d, want %d", got, n)
					}
					if n < test.attempts {
						waitFor(t, q, jobs.Stats{Waiting: 1})
						r.advance(time.Hour, q)
					}
				}
				waitFor(t, q, jobs.Stats{Dead: 1})

				list, err := q.ListDead(t.Context(), "", 10)
				if err != nil || len(list) != 1 {
					t.Fatalf("dead: %+v, %v", list, err)
				}
				dead := list[0]
				if dead.Kind != "a" || string(dead.Payload) != `"text"` || dead.Attempt != test.attempts ||
					dead.Key != "k" || !dead.DeadAt.Equal(r.clock.Now()) {
					t.Errorf("dead: %+v", dead)
				}
				if !strings.HasPrefix(dead.LastError, test.message) || len(dead.LastError) > 2100 {
					t.Errorf("error %q, want %q", dead.LastError, test.message)
				}
			})
		})
	}
}

func TestRetry(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		attempts := make(chan int, 10)
		result := jobs.MarkFatal(errOops)
		q.Handle("a", func(_ context.Context, job jobs.Job) error {
			attempts <- job.Attempt
			return result
		})
		stop := start(t, q)
		enqueue(t, q, "a", nil, jobs.Key("k"))
		receive(t, attempts)
		waitFor(t, q, jobs.Stats{Dead: 1})
		stop()

		list, err := q.ListDead(t.Context(), "", 10)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Retry(t.Context(), uuid.New()); !errors.Is(err, jobs.ErrNotDead) {
			t.Errorf("retry of an unknown job: %v, want ErrNotDead", err)
		}
		if err := q.Retry(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
		waitFor(t, q, jobs.Stats{Waiting: 1})
		if err := q.Retry(t.Context(), list[0].ID); !errors.Is(err, jobs.ErrNotDead) {
			t.Errorf("second retry: %v, want ErrNotDead", err)
		}
		result = nil
		start(t, q)
		if got := receive(t, attempts); got != 1 {
			t.Errorf("attempt %d, want 1", got)
		}
		waitFor(t, q, jobs.Stats{})
	})
}

func TestStats(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		q.Every("tidy", time.Hour, func(context.Context) error { return nil })
		start(t, q)
		waitFor(t, q, jobs.Stats{})
		enqueue(t, q, "unknown", nil, jobs.At(r.clock.Now().Add(time.Minute)))
		enqueue(t, q, "unknown", nil, jobs.At(r.clock.Now().Add(2*time.Minute)))
		waitFor(t, q, jobs.Stats{Waiting: 2})
		r.advance(5 * time.Minute)
		waitFor(t, q, jobs.Stats{Waiting: 2, Lag: 4 * time.Minute})
	})
}
