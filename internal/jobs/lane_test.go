package jobs_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/tenantry/tenantry/internal/jobs"
)

// A lane whose workers all wait for a remote service, and which has thousands of queued jobs, does
// not affect other lanes.
func TestLanes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(func(d *jobs.Deps) { d.Workers = 2 })
		answer := make(chan struct{})
		asked, mailed := make(chan string, 100), make(chan string, 100)
		slow := q.Lane("outside")
		slow.Handle("ask", func(_ context.Context, job jobs.Job) error {
			asked <- string(job.Payload)
			<-answer
			return nil
		})
		slow.Every("look", time.Hour, func(context.Context) error { return nil })
		q.Handle("mail", func(_ context.Context, job jobs.Job) error {
			mailed <- string(job.Payload)
			return nil
		})
		err := r.db.Tx(t.Context(), func(ctx context.Context) error {
			for n := range 2_000 {
				if err := q.Enqueue(ctx, "ask", n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		start(t, q)
		for range 2 {
			receive(t, asked)
		}
		for n := range 3 {
			enqueue(t, q, "mail", n)
			if got := receive(t, mailed); got != strconv.Itoa(n) {
				t.Errorf("mail %s, want %d", got, n)
			}
		}
		silent(t, asked) // both workers are busy
		close(answer)
		receive(t, asked)
	})
}

// A kind belongs to one lane.
func TestLanesShareNoKind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		q.Handle("mail", func(context.Context, jobs.Job) error { return nil })
		defer func() {
			if recover() == nil {
				t.Error("a second handler for a kind was accepted")
			}
		}()
		q.Lane("outside").Handle("mail", func(context.Context, jobs.Job) error { return nil })
	})
}

// A lane can have more attempts than the default.
func TestLanesHaveTheirPatience(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(func(d *jobs.Deps) { d.MaxAttempts = 1 })
		attempts := make(chan int, 10)
		fails := func(_ context.Context, job jobs.Job) error {
			attempts <- job.Attempt
			return errOops
		}
		patient := q.Lane("outside")
		patient.Attempts(3)
		patient.Handle("ask", fails)
		q.Handle("mail", fails)
		start(t, q)
		enqueue(t, q, "mail", nil)
		receive(t, attempts)
		waitFor(t, q, jobs.Stats{Dead: 1})
		enqueue(t, q, "ask", nil)
		for n := 1; n <= 3; n++ {
			if got := receive(t, attempts); got != n {
				t.Fatalf("attempt %d, want %d", got, n)
			}
			if n < 3 {
				waitFor(t, q, jobs.Stats{Waiting: 1, Dead: 1})
				r.advance(time.Hour, q)
			}
		}
		waitFor(t, q, jobs.Stats{Dead: 2})
	})
}
