package jobs_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenantry/tenantry/internal/jobs"
)

// DueByKind counts due jobs by kind, with the lag of the oldest. It excludes jobs that are due
// later, running or dead.
func TestDueByKind(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		q := r.queue(nil)
		now := r.clock.Now()
		for _, kind := range []string{"mail", "mail", "import"} {
			enqueue(t, q, kind, nil)
		}
		enqueue(t, q, "mail", nil, jobs.At(now.Add(-time.Minute)))
		enqueue(t, q, "later", nil, jobs.At(now.Add(time.Hour)))
		enqueue(t, q, "runs", nil)
		enqueue(t, q, "dead", nil)
		exec(t, r.db, `UPDATE jobs SET lease_id = id, leased_until = $1 WHERE kind = 'runs'`, now.Add(time.Hour))
		exec(t, r.db, `UPDATE jobs SET dead_at = $1 WHERE kind = 'dead'`, now)
		r.advance(time.Second, q)
		due, err := q.DueByKind(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]jobs.DueJobs{}
		for _, d := range due {
			got[d.Kind] = d
		}
		want := map[string]jobs.DueJobs{"mail": {Kind: "mail", Count: 3, Lag: time.Minute + time.Second}, "import": {Kind: "import", Count: 1, Lag: time.Second}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		waitFor(t, q, jobs.Stats{Waiting: 5, Running: 1, Dead: 1, Lag: time.Minute + time.Second})
	})
}

// Observe is called for each run, with its outcome and duration.
func TestRunsAreObserved(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, r *rig) {
		type run struct {
			kind, outcome string
			took          time.Duration
		}
		runs := make(chan run, 10)
		q := r.queue(func(d *jobs.Deps) {
			d.Observe = func(kind, outcome string, took time.Duration) { runs <- run{kind, outcome, took} }
		})
		q.Handle("good", func(context.Context, jobs.Job) error { r.lease.Set(r.lease.Now().Add(time.Second)); return nil })
		q.Handle("bad", func(context.Context, jobs.Job) error { return errOops })
		start(t, q)
		enqueue(t, q, "good", nil)
		if got := receive(t, runs); got != (run{"good", "done", time.Second}) {
			t.Errorf("%+v", got)
		}
		enqueue(t, q, "bad", nil)
		if got := receive(t, runs); got != (run{"bad", "failed", 0}) {
			t.Errorf("%+v", got)
		}
		if diff := cmp.Diff([]string{"bad", "good"}, q.Kinds()); diff != "" {
			t.Error(diff)
		}
	})
}
