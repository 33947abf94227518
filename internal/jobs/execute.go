package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// Pauses between attempts, by the service's clock.
const (
	firstPause = 2 * time.Second
	maxPause   = time.Hour
)

// recordTimeout is the maximum time for recording the outcome of a run: its lease minus the maximum
// time of the handler. recordPause is the pause between two attempts.
const (
	recordTimeout = leaseTime - handlerTimeout
	recordPause   = 250 * time.Millisecond
)

// maxErrorLength is the maximum length of a stored error in bytes.
const maxErrorLength = 2000

// execute runs the handler of c and records the outcome. Recording is conditional on the lease, so
// a slow worker cannot modify a job that another worker has taken over.
func (q *Queue) execute(work context.Context, c claimedJob) {
	began := q.lease.Now()
	c.started = q.clock.Now()
	traced, end := q.tracer.Job(work, c.Kind, c.origin, c.Attempt)
	err := q.runHandler(traced, c)
	became := outcome(err, work.Err() != nil)
	end(became)
	q.observe(c.Kind, became, q.lease.Now().Sub(began))
	ctx := context.WithoutCancel(traced)
	log := q.log.With("job", c.ID, "kind", c.Kind, "attempt", c.Attempt)
	if err != nil && work.Err() == nil {
		log.WarnContext(ctx, "job failed", "error", err)
	}
	if err := q.recordWithRetry(ctx, work, c, err); err != nil {
		log.ErrorContext(ctx, "failed to record job result; job can run again", "error", err)
	}
	if c.key != nil {
		q.laneOf[c.Kind].wakeUp() // a job with the same key can start now
	}
}

// outcome returns the outcome of a run for metrics and traces.
func outcome(err error, interrupted bool) string {
	switch {
	case err == nil:
		return "done"
	case interrupted:
		return "interrupted"
	default:
		return "failed"
	}
}

// runHandler runs the handler and converts a panic to an error.
func (q *Queue) runHandler(ctx context.Context, c claimedJob) (err error) {
	if c.Attempt > q.attemptsOf(c.Kind) && !c.periodic {
		// The process died during the last attempt. Without this check, such a job would crash one
		// process after another.
		return MarkFatal(errors.New("jobs: the worker stopped before the job finished"))
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("jobs: panic: %v\n%s", r, debug.Stack())
		}
	}()
	return q.handlers[c.Kind](ctx, c.Job)
}

// attemptsOf returns the maximum number of attempts for jobs of a kind.
func (q *Queue) attemptsOf(kind string) int {
	if l := q.laneOf[kind]; l != nil && l.attempts > 0 {
		return l.attempts
	}
	return q.maxAttempts
}

// recordWithRetry records that c ended with err. It retries while the database is unavailable,
// because an unrecorded job runs again when its lease ends. It stops when the lease may have ended,
// or after one attempt if work is done.
func (q *Queue) recordWithRetry(ctx, work context.Context, c claimedJob, err error) error {
	began := q.lease.Now()
	for again := false; ; again = true {
		attempt, cancel := context.WithTimeout(ctx, statementTimeout)
		failed := q.record(attempt, c, err, work.Err() != nil)
		cancel()
		if again && errors.Is(failed, errLeaseLost) {
			return nil // an earlier attempt succeeded, and only its response was lost
		}
		if !sqldb.IsUnavailable(failed) || work.Err() != nil || q.lease.Now().Sub(began) > recordTimeout {
			return failed
		}
		select {
		case <-work.Done():
		case <-time.After(recordPause):
		}
	}
}

// record stores that c ended with err. interrupted means that it failed because of the shutdown.
func (q *Queue) record(ctx context.Context, c claimedJob, err error, interrupted bool) error {
	now := q.clock.Now()
	switch {
	case err != nil && interrupted:
		// The shutdown interrupted the job, so the attempt does not count.
		return q.store.release(ctx, c, c.Attempt-1, c.due, nil)
	case c.periodic:
		return q.reschedule(ctx, c, now, err)
	case err == nil:
		return q.store.complete(ctx, c)
	}
	text := errorText(err)
	if _, fatal := errors.AsType[fatalError](err); fatal || c.Attempt >= q.attemptsOf(c.Kind) {
		q.log.ErrorContext(ctx, "job failed permanently", "job", c.ID, "kind", c.Kind, "error", err)
		emptied := false
		if redact := q.redactions[c.Kind]; redact != nil {
			c.Payload, emptied = redact(c.Payload)
		}
		return q.store.markDead(ctx, c, now, text, emptied)
	}
	return q.store.release(ctx, c, c.Attempt, now.Add(backoff(c.Attempt)), &text)
}

// reschedule sets the next due time of a periodic job: its first regular time after the run started,
// or sooner after an error. If the run took longer than the period, or the sandbox's clock was
// advanced during the run, that time has passed, and the job runs again immediately.
func (q *Queue) reschedule(ctx context.Context, c claimedJob, now time.Time, err error) error {
	every := q.periods[c.Kind]
	next := c.due.Add(every)
	if late := c.started.Sub(c.due); late >= every {
		next = c.started.Add(every - late%every)
	}
	if err == nil {
		return q.store.release(ctx, c, 0, next, nil)
	}
	if soon := now.Add(min(backoff(c.Attempt), every)); soon.Before(next) || next.Before(now) {
		// Later runs follow the regular schedule again.
		next = soon
	}
	text := errorText(err)
	return q.store.release(ctx, c, c.Attempt, next, &text)
}

// backoff returns the pause after an attempt. It doubles each time, up to one hour, and is
// randomized to between 50% and 100% so that jobs that failed together do not retry together.
func backoff(attempt int) time.Duration {
	pause := maxPause
	if shift := attempt - 1; shift < 16 {
		pause = min(pause, firstPause<<shift)
	}
	return pause/2 + rand.N(pause/2+1) //nolint:gosec // Chance, not secrecy.
}

// errorText returns the text of an error in a form that both databases can store.
func errorText(err error) string {
	text := err.Error()
	text = text[:min(len(text), maxErrorLength)]
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}

func periodicKind(name string) string { return "every:" + name }
