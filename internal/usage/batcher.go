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

// Sizes of a batcher, in submissions.
const (
	// maxBatch closes a batch: one with this many takes no further calls.
	maxBatch = 256
	// maxQueued is how many may wait.
	maxQueued = 256 * maxBatch
	// maxWaiting is how many calls may wait.
	maxWaiting = 16 * maxBatch
	// gathering is how long a batch waits, at most, for two fifths of as many calls as were in the two
	// before it: whoever was answered with these mostly comes again. Larger batches cost less, and many
	// would otherwise find a queue that is nearly empty, since all but a few callers were in the one before.
	gathering = 500 * time.Microsecond
	// maxBatchWait is how long the next batch waits for the one before. One after the other
	// they are larger, and most of what a batch costs does not depend on its size; but one
	// that waits for a lock, or for a slow disk, must not keep all others waiting.
	maxBatchWait = 10 * time.Millisecond
	// batchTimeout bounds the storing of one batch, its second try included.
	batchTimeout = 15 * time.Second
)

// batcherConfig says what a batcher writes, S, and what becomes of it, V.
type batcherConfig[S, V any] struct {
	// Decide stores submissions in one transaction and returns what became of each. An
	// error means that none was stored.
	Decide func(ctx context.Context, submissions []S) ([]V, error)
	// Failed is what became of a submission that could not be decided.
	Failed func(err error) V
	// Observe is told of each batch; nil is not.
	Observe func(verdicts []V)
	// Busy is the error of Submit where too much is waiting, and after Run has ended.
	Busy error
	Log  *slog.Logger
	// Calls is how many calls may wait, and Batches how many batches may be stored at once.
	Calls, Batches int
}

// batcher stores submissions in batches, so that calls that arrive at the same time share a
// transaction. It stores a lone call at once; under steady load a batch waits briefly for more
// calls.
type batcher[S, V any] struct {
	batcherConfig[S, V]
	queue  chan *batchCall[S, V]
	queued atomic.Int64  // submissions in queue
	wanted atomic.Int64  // how many calls in queue the next batch waits for; 0 while it does not
	enough chan struct{} // is told of them
	most   time.Duration // that it waits
	slots  chan struct{} // one is taken for each batch that is stored

	mu      sync.RWMutex
	stopped bool
}

// batchCall has the submissions of one caller, who waits for the verdicts. They are decided
// in their order, in one transaction unless that fails.
type batchCall[S, V any] struct {
	submissions []S
	ctx         context.Context //nolint:containedctx // the caller's, checked once more before storing
	done        chan []V        // has room for the one answer: a verdict of each submission
}

// newBatcher returns a batcher, which writes once Run is called.
func newBatcher[S, V any](c batcherConfig[S, V]) *batcher[S, V] {
	return &batcher[S, V]{
		batcherConfig: c, queue: make(chan *batchCall[S, V], c.Calls), slots: make(chan struct{}, c.Batches), enough: make(chan struct{}, 1), most: gathering,
	}
}

// Submit queues submissions and waits until each is stored or refused. An error means
// that none was looked at, or that ctx ended first: then each may be stored or not.
func (w *batcher[S, V]) Submit(ctx context.Context, submissions ...S) ([]V, error) {
	one := &batchCall[S, V]{submissions: submissions, ctx: ctx, done: make(chan []V, 1)}
	if !w.enqueue(one) {
		return nil, w.Busy
	}
	select {
	case verdicts := <-one.done:
		return verdicts, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enqueue reports whether there was room for a call.
func (w *batcher[S, V]) enqueue(one *batchCall[S, V]) bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	n := int64(len(one.submissions))
	if w.stopped || w.queued.Add(n) > maxQueued {
		w.queued.Add(-n)
		return false
	}
	select {
	case w.queue <- one:
		if wanted := w.wanted.Load(); wanted > 0 && int64(len(w.queue)) >= wanted {
			signal(w.enough)
		}
		return true
	default:
		w.queued.Add(-n)
		return false
	}
}

// signal leaves a token in a channel with room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// storing is a batch, and what is closed when it is stored.
type storing[S, V any] struct {
	batch  []*batchCall[S, V]
	stored chan struct{}
}

// Run writes until ctx ends, then refuses new calls and writes those that wait. It
// returns when all are answered.
//
// The goroutines that store live as long as Run: SQLite needs a large stack, which a new one
// would grow for each batch.
func (w *batcher[S, V]) Run(ctx context.Context) {
	var running sync.WaitGroup
	batches := make(chan storing[S, V])
	for range cap(w.slots) {
		running.Go(func() {
			for one := range batches {
				w.write(ctx, one.batch)
				<-w.slots
				close(one.stored)
			}
		})
	}
	defer running.Wait()
	defer close(batches)
	last, before := 0, 0 // calls in the two batches before
	for {
		w.slots <- struct{}{}
		select {
		case one := <-w.queue:
			w.waitForCalls(2*(last+before)/5 - 1)
			next := storing[S, V]{w.batch(one), make(chan struct{})}
			last, before = len(next.batch), last
			batches <- next
			waitFor(next.stored, maxBatchWait)
		case <-ctx.Done():
			w.mu.Lock()
			w.stopped = true
			w.mu.Unlock()
			w.drain(ctx)
			return
		}
	}
}

// waitForCalls waits until there are so many calls in queue, or for as long as it may.
func (w *batcher[S, V]) waitForCalls(calls int) {
	if len(w.queue) >= calls {
		return
	}
	select {
	case <-w.enough: // of an earlier batch
	default:
	}
	w.wanted.Store(int64(calls))
	if len(w.queue) < calls { // those that came before would not tell
		waitFor(w.enough, w.most)
	}
	w.wanted.Store(0)
}

// waitFor returns when done is closed, or has a token, or at most some time later.
func waitFor(done <-chan struct{}, most time.Duration) {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

func (w *batcher[S, V]) drain(ctx context.Context) {
	for {
		select {
		case one := <-w.queue:
			w.write(ctx, w.batch(one))
		default:
			return
		}
	}
}

// batch collects first and what else waits until there are maxBatch submissions;
// those of one call stay together. Calls whose caller has given up are left out.
func (w *batcher[S, V]) batch(first *batchCall[S, V]) []*batchCall[S, V] {
	batch := make([]*batchCall[S, V], 0, 1+min(len(w.queue), maxBatch-1))
	n := 0
	for one := first; ; {
		w.queued.Add(-int64(len(one.submissions)))
		if one.ctx.Err() == nil {
			batch = append(batch, one)
			n += len(one.submissions)
		}
		if n >= maxBatch {
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
// one by one, so that what is wrong with one submission fails that one alone. Only the
// values of ctx are used: a batch that was begun is finished after ctx has ended.
func (w *batcher[S, V]) write(ctx context.Context, batch []*batchCall[S, V]) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTimeout)
	defer cancel()
	submissions := batch[0].submissions
	if len(batch) > 1 {
		submissions = make([]S, 0, maxBatch)
		for _, one := range batch {
			submissions = append(submissions, one.submissions...)
		}
	}
	verdicts, err := w.tryStore(ctx, submissions)
	if err != nil {
		verdicts = w.oneByOne(ctx, submissions, err)
	}
	if w.Observe != nil {
		w.Observe(verdicts)
	}
	for _, one := range batch {
		n := len(one.submissions)
		one.done <- verdicts[:n:n]
		verdicts = verdicts[n:]
	}
}

// oneByOne stores each submission in its own transaction, since storing them together
// failed because of cause.
func (w *batcher[S, V]) oneByOne(ctx context.Context, submissions []S, cause error) []V {
	if len(submissions) == 1 {
		return []V{w.Failed(cause)}
	}
	w.Log.WarnContext(ctx, "usage is stored one by one: a batch failed", "events", len(submissions), "error", cause)
	verdicts := make([]V, len(submissions))
	for i := range submissions {
		alone, err := w.tryStore(ctx, submissions[i:i+1])
		if err != nil {
			alone = []V{w.Failed(err)}
		}
		verdicts[i] = alone[0]
	}
	return verdicts
}

// tryStore stores submissions together. It turns a panic into an error, since no HTTP
// handler is below to recover it and the process would end.
func (w *batcher[S, V]) tryStore(ctx context.Context, submissions []S) (verdicts []V, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return w.Decide(ctx, submissions)
}
