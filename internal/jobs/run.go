package jobs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
)

const (
	// poll is the interval at which an instance looks for jobs that became due or that other
	// instances enqueued.
	poll = time.Second
	// handlerTimeout is the time limit of a run. leaseTime is longer, so that a lease cannot end
	// while its handler still runs. After a crash of an instance, other instances run its jobs once
	// leaseTime has passed.
	handlerTimeout = time.Minute
	leaseTime      = 90 * time.Second
	// statementTimeout is the time limit of the queue's own statements.
	statementTimeout = 10 * time.Second
	// clockError is the largest plausible difference between the clocks of instances.
	clockError = time.Hour
	// releaseTime is the time that canceled handlers have to return after the drain time, so that
	// their jobs can be released immediately.
	releaseTime = time.Second
)

// EndLeases ends the leases of jobs that a killed process was running, so that they are due
// immediately. Call it before Run, and only if no other process uses the database.
func (q *Queue) EndLeases(ctx context.Context) error {
	return sqldb.Wrap(q.store.q(ctx).EndLeases(ctx, new(time.Unix(0, 0).UTC())), "end leases of jobs")
}

// Run runs jobs until ctx ends. Then it stops starting jobs and waits for running ones until the
// drain time is over. It cancels and releases the remaining jobs for other instances. A job whose
// handler ignores the cancellation keeps its lease until the lease ends. Run returns an error only
// if it cannot start.
func (q *Queue) Run(ctx context.Context) error {
	// Wait while the database is unavailable, as the running queue does.
	for err := q.schedule(ctx); err != nil && ctx.Err() == nil; err = q.schedule(ctx) {
		if !sqldb.IsUnavailable(err) {
			return fmt.Errorf("jobs: schedule: %w", err)
		}
		q.log.ErrorContext(ctx, "failed to schedule jobs", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(poll):
		}
	}
	// Handlers and the queue's own statements continue when ctx ends, so that a commit whose
	// response is still pending is not lost.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var running, lanes sync.WaitGroup
	for _, l := range q.lanes {
		if len(l.kinds) > 0 {
			lanes.Go(func() { l.run(ctx, work, &running) })
		}
	}
	<-ctx.Done()
	lanes.Wait()
	q.drainRunning(&running, stop)
	return nil
}

// run starts the lane's jobs, with the context work, until ctx ends.
func (l *Lane) run(ctx, work context.Context, running *sync.WaitGroup) {
	q := l.q
	slots := make(chan struct{}, q.workers)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for sweep := true; ; {
		// Claim only as many jobs as can start immediately, because a lease does not allow for
		// waiting.
		free := acquire(ctx, slots)
		if free == 0 {
			return
		}
		list, err := q.claim(work, l.kinds, free, sweep)
		if err != nil {
			q.log.ErrorContext(ctx, "failed to claim jobs", "error", err)
		}
		for range free - len(list) {
			<-slots
		}
		for _, c := range list {
			running.Go(func() {
				defer func() { <-slots }()
				q.execute(work, c)
			})
		}
		sweep = l.wait(ctx, tick.C, len(list) == free)
	}
}

// schedule inserts the rows of the periodic functions, and corrects due times that are wrong
// because the clock has been set back.
func (q *Queue) schedule(ctx context.Context) error {
	now := q.clock.Now()
	if err := q.store.makeDue(ctx, now, now.Add(2*maxPause)); err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(q.periods)) {
		// A row can be due too late, because the interval was longer in an earlier version, or
		// because the clock was moved forward before a restart.
		if err := q.store.insertPeriodic(ctx, kind, now, now.Add(q.periods[kind])); err != nil {
			return err
		}
	}
	return nil
}

// acquire waits for a free slot and takes all free slots. It returns 0 if ctx ends.
func acquire(ctx context.Context, slots chan<- struct{}) int {
	if ctx.Err() != nil {
		return 0
	}
	select {
	case <-ctx.Done():
		return 0
	case slots <- struct{}{}:
	}
	for n := 1; ; n++ {
		select {
		case slots <- struct{}{}:
		default:
			return n
		}
	}
}

// wait blocks until there may be work. If more is set, it returns immediately. It reports whether
// it is time to look for abandoned jobs.
func (l *Lane) wait(ctx context.Context, tick <-chan time.Time, more bool) (sweep bool) {
	if more {
		select {
		case <-tick:
			return true
		default:
			return false
		}
	}
	select {
	case <-ctx.Done():
		return false
	case <-l.wake:
		return false
	case <-tick:
		return true
	}
}

// claim leases up to limit jobs: abandoned ones first if sweep is set, then due ones.
func (q *Queue) claim(ctx context.Context, kinds []string, limit int, sweep bool) ([]claimedJob, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	now := q.lease.Now()
	until := now.Add(leaseTime)
	var abandoned []claimedJob
	if sweep {
		var err error
		if abandoned, err = q.store.claim(ctx, isAbandoned, now, until, kinds, limit, until.Add(clockError)); err != nil {
			return nil, err
		}
	}
	if len(abandoned) == limit {
		return abandoned, nil
	}
	due, err := q.store.claim(ctx, isDue, q.clock.Now(), until, kinds, limit-len(abandoned))
	return append(abandoned, due...), err
}

// drainRunning waits for the running handlers and cancels them when the drain time is over.
func (q *Queue) drainRunning(running *sync.WaitGroup, stop context.CancelFunc) {
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	for _, limit := range []time.Duration{q.drain, releaseTime} {
		timer := time.NewTimer(limit)
		select {
		case <-done:
			timer.Stop()
			return
		case <-timer.C:
			stop()
		}
	}
	q.log.Warn("jobs still running at shutdown; they will run again when their leases expire")
}
