package usage

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of the writer, in events.
const (
	// maxBatch is from how many events on a transaction takes no more callers.
	maxBatch = 256
	// maxQueued is how many events may wait.
	maxQueued = 256 * maxBatch
	// maxWaiting is how many callers may wait.
	maxWaiting = 16 * maxBatch
	// batchTimeout bounds the storing of one batch, its second try included.
	batchTimeout = 15 * time.Second
)

// writer lets recordings that arrive at the same time share a transaction, so
// that a hundred of them cost one commit. Who runs it takes what waits, never
// waiting for more, so that a lone request is stored at once.
type writer struct {
	decide func(ctx context.Context, requests []*request) ([]verdict, error)
	log    *slog.Logger
	queue  chan *waiting
	queued atomic.Int64 // events in queue

	mu      sync.RWMutex
	stopped bool
}

// waiting are the requests of a caller, who waits for their verdicts. They are
// decided in their order, in one transaction unless that fails.
type waiting struct {
	requests []*request
	ctx      context.Context //nolint:containedctx // the caller's, looked at once more before storing
	done     chan []verdict  // has room for the one answer: a verdict of each request
}

func newWriter(decide func(context.Context, []*request) ([]verdict, error), log *slog.Logger, callers int) *writer {
	return &writer{decide: decide, log: log, queue: make(chan *waiting, callers)}
}

// submit hands requests to the writer and waits until each is stored or refused.
// An error means that none was looked at, or that ctx ended first: then each may
// be stored or not.
func (w *writer) submit(ctx context.Context, requests ...*request) ([]verdict, error) {
	one := &waiting{requests: requests, ctx: ctx, done: make(chan []verdict, 1)}
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

func (w *writer) enqueue(one *waiting) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	events := int64(len(one.requests))
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

// run writes until ctx ends, then refuses new requests and writes those that
// wait.
func (w *writer) run(ctx context.Context) {
	for {
		select {
		case one := <-w.queue:
			w.write(ctx, w.batch(one))
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

// batch adds to first what else waits, until there are maxBatch events; what one
// caller submitted stays together. Who has given up waiting is left out.
func (w *writer) batch(first *waiting) []*waiting {
	batch := make([]*waiting, 0, 1+min(len(w.queue), maxBatch-1))
	events := 0
	for one := first; ; {
		w.queued.Add(-int64(len(one.requests)))
		if one.ctx.Err() == nil {
			batch = append(batch, one)
			events += len(one.requests)
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

// write stores a batch and answers each of it. A batch that fails is stored
// event by event, so that what is wrong with one fails that one alone. ctx only
// lends its values: a batch that was begun is finished.
func (w *writer) write(ctx context.Context, batch []*waiting) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	requests := batch[0].requests
	if len(batch) > 1 {
		requests = make([]*request, 0, maxBatch)
		for _, one := range batch {
			requests = append(requests, one.requests...)
		}
	}
	verdicts, err := w.try(ctx, requests)
	if err != nil {
		verdicts = w.oneByOne(ctx, requests, err)
	}
	for _, one := range batch {
		n := len(one.requests)
		one.done <- verdicts[:n:n]
		verdicts = verdicts[n:]
	}
}

// oneByOne stores requests that could not be stored together because of cause.
func (w *writer) oneByOne(ctx context.Context, requests []*request, cause error) []verdict {
	if len(requests) == 1 {
		return []verdict{{err: cause}}
	}
	w.log.WarnContext(ctx, "usage is stored one by one: a batch failed", "events", len(requests), "error", cause)
	verdicts := make([]verdict, len(requests))
	for i := range requests {
		alone, err := w.try(ctx, requests[i:i+1])
		if err != nil {
			alone = []verdict{{err: err}}
		}
		verdicts[i] = alone[0]
	}
	return verdicts
}

// try stores requests together. A panic is an error, since here it would end the
// process and not a request.
func (w *writer) try(ctx context.Context, requests []*request) (verdicts []verdict, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("usage: panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return w.decide(ctx, requests)
}
