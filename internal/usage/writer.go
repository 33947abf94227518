package usage

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// Sizes of the writer.
const (
	maxBatch  = 256
	maxQueued = 16 * maxBatch
	// batchTimeout bounds the storing of one batch, its second try included.
	batchTimeout = 15 * time.Second
)

// writer lets recordings that arrive at the same time share a transaction, so
// that a hundred of them cost one commit. One goroutine writes: it takes what
// waits, never waiting for more, so that a lone request is stored at once.
type writer struct {
	decide func(ctx context.Context, requests []*request) ([]verdict, error)
	log    *slog.Logger
	queue  chan *waiting

	mu      sync.RWMutex
	stopped bool
}

// waiting is a request and the caller who waits for its verdict.
type waiting struct {
	*request
	ctx  context.Context //nolint:containedctx // the caller's, looked at once more before storing
	done chan verdict    // has room for the one verdict
}

func newWriter(decide func(context.Context, []*request) ([]verdict, error), log *slog.Logger, queued int) *writer {
	return &writer{decide: decide, log: log, queue: make(chan *waiting, queued)}
}

// submit hands a request to the writer and waits until it is stored or refused.
// When ctx ends first the request may be stored or not.
func (w *writer) submit(ctx context.Context, r *request) (Event, error) {
	one := &waiting{request: r, ctx: ctx, done: make(chan verdict, 1)}
	if !w.enqueue(one) {
		return Event{}, ErrBusy
	}
	select {
	case v := <-one.done:
		return v.event, v.err
	case <-ctx.Done():
		return Event{}, ctx.Err()
	}
}

func (w *writer) enqueue(one *waiting) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.stopped {
		return false
	}
	select {
	case w.queue <- one:
		return true
	default:
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

// batch adds to first what else waits. Who has given up waiting is left out.
func (w *writer) batch(first *waiting) []*waiting {
	batch := make([]*waiting, 0, maxBatch)
	for one := first; ; {
		if one.ctx.Err() == nil {
			batch = append(batch, one)
		}
		if len(batch) == maxBatch {
			return batch
		}
		select {
		case one = <-w.queue:
		default:
			return batch
		}
	}
}

// write stores a batch and answers each of it. A batch that fails is stored one
// by one, so that what is wrong with one request fails that one alone. ctx only
// lends its values: a batch that was begun is finished.
func (w *writer) write(ctx context.Context, batch []*waiting) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	err := w.try(ctx, batch)
	if err == nil {
		return
	}
	if len(batch) == 1 {
		batch[0].done <- verdict{err: err}
		return
	}
	w.log.WarnContext(ctx, "usage is stored one by one: a batch failed", "events", len(batch), "error", err)
	for _, one := range batch {
		if err := w.try(ctx, []*waiting{one}); err != nil {
			one.done <- verdict{err: err}
		}
	}
}

// try stores a batch and, unless it returns an error, answers each of it. A
// panic is an error, since here it would end the process and not a request.
func (w *writer) try(ctx context.Context, batch []*waiting) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("usage: panic: %v\n%s", reason, debug.Stack())
		}
	}()
	requests := make([]*request, len(batch))
	for i, one := range batch {
		requests[i] = one.request
	}
	verdicts, err := w.decide(ctx, requests)
	if err != nil {
		return err
	}
	for i, one := range batch {
		one.done <- verdicts[i]
	}
	return nil
}
