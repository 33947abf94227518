package usage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of the writer, in events.
const (
	// maxBatch closes a batch: one with this many events takes no further calls.
	maxBatch = 256
	// maxQueued is how many events may wait.
	maxQueued = 256 * maxBatch
	// maxWaiting is how many calls may wait.
	maxWaiting = 16 * maxBatch
	// postgresWriters is how many batches may be stored at once on PostgreSQL.
	postgresWriters = 4
	// patience is how long a batch waits for the one before. One after the other they
	// are larger, and most of what a batch costs does not depend on its size; where
	// commits take longer than this, waiting costs more than that.
	patience = 10 * time.Millisecond
	// batchTimeout bounds the storing of one batch, its second try included.
	batchTimeout = 15 * time.Second
)

// writer lets calls that arrive at the same time share a transaction, so that a
// hundred recordings cost one commit. It takes whatever is waiting and never waits for
// more, so that a lone recording is stored at once.
type writer struct {
	decide func(ctx context.Context, submissions []*submission) ([]verdict, error)
	log    *slog.Logger
	queue  chan *call
	queued atomic.Int64  // events in queue
	turn   chan struct{} // holds a token while a batch is stored that nobody overtook
	// observe is told of each batch (see Deps); nil is not.
	observe func(accepted, duplicate, overQuota, failed int)

	mu      sync.RWMutex
	stopped bool
}

// call has the submissions of one caller, who waits for the verdicts. They are decided
// in their order, in one transaction unless that fails.
type call struct {
	submissions []*submission
	ctx         context.Context //nolint:containedctx // the caller's, checked once more before storing
	done        chan []verdict  // has room for the one answer: a verdict of each submission
}

func newWriter(decide func(context.Context, []*submission) ([]verdict, error), log *slog.Logger, callers int) *writer {
	return &writer{decide: decide, log: log, queue: make(chan *call, callers), turn: make(chan struct{}, 1)}
}

// submit queues submissions and waits until each is stored or refused. An error means
// that none was looked at, or that ctx ended first: then each may be stored or not.
func (w *writer) submit(ctx context.Context, submissions ...*submission) ([]verdict, error) {
	one := &call{submissions: submissions, ctx: ctx, done: make(chan []verdict, 1)}
	if !w.enqueue(one) {
		return nil, ErrBusy
	}
	select {
	case verdicts := <-one.done:
		return verdicts, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enqueue reports whether there was room for a call.
func (w *writer) enqueue(one *call) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	events := int64(len(one.submissions))
	if w.stopped || w.queued.Add(events) > maxQueued {
		w.queued.Add(-events)
		return false
	}
	select {
	case w.queue <- one:
		return true
	default:
		w.queued.Add(-events)
		return false
	}
}

// run writes until ctx ends, then refuses new calls and writes those that wait.
func (w *writer) run(ctx context.Context) {
	for {
		select {
		case one := <-w.queue:
			w.next(ctx, one)
		case <-ctx.Done():
			w.mu.Lock()
			w.stopped = true
			w.mu.Unlock()
			w.drain(ctx)
			return
		}
	}
}

func (w *writer) drain(ctx context.Context) {
	for {
		select {
		case one := <-w.queue:
			w.write(ctx, w.batch(one))
		default:
			return
		}
	}
}

// next writes a batch that begins with first, once the one before is stored or patience
// has run out. What comes meanwhile is in it.
func (w *writer) next(ctx context.Context, first *call) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	default:
		impatient := time.NewTimer(patience)
		defer impatient.Stop()
		select {
		case w.turn <- struct{}{}:
			defer func() { <-w.turn }()
		case <-impatient.C:
		}
	}
	w.write(ctx, w.batch(first))
}

// batch collects first and what else waits until there are maxBatch events; the
// submissions of one call stay together. Calls whose caller has given up are left out.
func (w *writer) batch(first *call) []*call {
	batch := make([]*call, 0, 1+min(len(w.queue), maxBatch-1))
	events := 0
	for one := first; ; {
		w.queued.Add(-int64(len(one.submissions)))
		if one.ctx.Err() == nil {
			batch = append(batch, one)
			events += len(one.submissions)
		}
		if events >= maxBatch {
			return batch
		}
		select {
		case one = <-w.queue:
		default:
			return batch
		}
	}
}

// write stores a batch and answers each of its calls. A batch that fails is stored
// event by event, so that what is wrong with one event fails that event alone. Only the
// values of ctx are used: a batch that was begun is finished after ctx has ended.
func (w *writer) write(ctx context.Context, batch []*call) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	submissions := batch[0].submissions
	if len(batch) > 1 {
		submissions = make([]*submission, 0, maxBatch)
		for _, one := range batch {
			submissions = append(submissions, one.submissions...)
		}
	}
	verdicts, err := w.try(ctx, submissions)
	if err != nil {
		verdicts = w.oneByOne(ctx, submissions, err)
	}
	w.tell(verdicts)
	for _, one := range batch {
		n := len(one.submissions)
		one.done <- verdicts[:n:n]
		verdicts = verdicts[n:]
	}
}

// tell counts the verdicts of a batch.
func (w *writer) tell(verdicts []verdict) {
	if w.observe == nil {
		return
	}
	var accepted, duplicate, overQuota, failed int
	for i := range verdicts {
		switch err := verdicts[i].err; {
		case err == nil:
			accepted++
		case errors.Is(err, ErrDuplicate):
			duplicate++
		case errors.Is(err, ErrQuotaExceeded):
			overQuota++
		default:
			failed++
		}
	}
	w.observe(accepted, duplicate, overQuota, failed)
}

// oneByOne stores each submission in its own transaction, since storing them together
// failed because of cause.
func (w *writer) oneByOne(ctx context.Context, submissions []*submission, cause error) []verdict {
	if len(submissions) == 1 {
		return []verdict{{err: cause}}
	}
	w.log.WarnContext(ctx, "usage is stored one by one: a batch failed", "events", len(submissions), "error", cause)
	verdicts := make([]verdict, len(submissions))
	for i := range submissions {
		alone, err := w.try(ctx, submissions[i:i+1])
		if err != nil {
			alone = []verdict{{err: err}}
		}
		verdicts[i] = alone[0]
	}
	return verdicts
}

// try stores submissions together. It turns a panic into an error, since no HTTP
// handler is below to recover it and the process would end.
func (w *writer) try(ctx context.Context, submissions []*submission) (verdicts []verdict, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return w.decide(ctx, submissions)
}
