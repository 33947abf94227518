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

// recordPatience is how long the end of a run is tried to be recorded: not longer than its
// lease, less the time that the handler took.
const (
	recordTimeout = leaseTime - handlerTimeout
	recordPause   = 250 * time.Millisecond
)

// maxErrorLength bounds a stored error, in bytes.
const maxErrorLength = 2000

// execute runs the handler of c and records the outcome. Each record is
// conditional on the lease, so a worker that was too slow cannot touch a job
// that another has taken over.
func (q *Queue) execute(work context.Context, c claimed) {
	began := q.lease.Now()
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
	if err := q.recordPatiently(ctx, work, c, err); err != nil {
		log.ErrorContext(ctx, "the end of a job was not recorded; it may run again", "error", err)
	}
	if c.key != nil {
		q.laneOf[c.Kind].wakeUp() // Its twin may start now.
	}
}

// outcome names what became of a run.
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

// runHandler runs the handler; a panic becomes an error.
func (q *Queue) runHandler(ctx context.Context, c claimed) (err error) {
	if c.Attempt > q.attemptsOf(c.Kind) && !c.periodic {
		// The process died during the last attempt. Without this check such a job
		// would kill one process after the other.
		return MarkFatal(errors.New("jobs: the worker ended before the job did"))
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

// attemptsOf returns how often a job of a kind is tried.
func (q *Queue) attemptsOf(kind string) int {
	if l := q.laneOf[kind]; l != nil && l.attempts > 0 {
		return l.attempts
	}
	return q.maxAttempts
}

// recordPatiently records that c ended with err. While the database is away it tries again,
// because what is not recorded is done once more when the lease ends. It gives up when the
// lease may have ended, and after one attempt when work ends.
func (q *Queue) recordPatiently(ctx, work context.Context, c claimed, err error) error {
	began := q.lease.Now()
	for again := false; ; again = true {
		attempt, cancel := context.WithTimeout(ctx, statementTimeout)
		failed := q.record(attempt, c, err, work.Err() != nil)
		cancel()
		if again && errors.Is(failed, errLeaseLost) {
			return nil // an attempt before was recorded, and only its answer was lost
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

// record stores that c ended with err. interrupted says that it failed because the
// service shuts down.
func (q *Queue) record(ctx context.Context, c claimed, err error, interrupted bool) error {
	now := q.clock.Now()
	switch {
	case err != nil && interrupted:
		// Not the job's fault: the attempt does not count.
		return q.store.release(ctx, c, c.Attempt-1, c.due, nil)
	case c.periodic:
		return q.reschedule(ctx, c, now, err)
	case err == nil:
		return q.store.complete(ctx, c)
	}
	text := errorText(err)
	if _, fatal := errors.AsType[fatalError](err); fatal || c.Attempt >= q.attemptsOf(c.Kind) {
		q.log.ErrorContext(ctx, "job is dead", "job", c.ID, "kind", c.Kind, "error", err)
		emptied := false
		if redact := q.redactions[c.Kind]; redact != nil {
			c.Payload, emptied = redact(c.Payload)
		}
		return q.store.markDead(ctx, c, now, text, emptied)
	}
	return q.store.release(ctx, c, c.Attempt, now.Add(backoff(c.Attempt)), &text)
}

// reschedule makes a periodic job wait for its next turn: the first one after
// now in its rhythm, or sooner after an error.
func (q *Queue) reschedule(ctx context.Context, c claimed, now time.Time, err error) error {
	every := q.periods[c.Kind]
	next := c.due.Add(every)
	if late := now.Sub(c.due); late >= every {
		next = now.Add(every - late%every)
	}
	if err == nil {
		return q.store.release(ctx, c, 0, next, nil)
	}
	if soon := now.Add(backoff(c.Attempt)); soon.Before(next) {
		// The rhythm goes on from there.
		next = soon
	}
	text := errorText(err)
	return q.store.release(ctx, c, c.Attempt, next, &text)
}

// backoff returns the pause after the given attempt: doubled each time up to an
// hour, and then between a half and the whole of it by chance, so that what
// failed together does not return together.
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
