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
	// maxBatch is the number of submissions at which a batch accepts no further calls.
	maxBatch = 256
	// maxQueued limits the submissions in the queue.
	maxQueued = 256 * maxBatch
	// maxWaiting limits the calls in the queue.
	maxWaiting = 16 * maxBatch
	// maxGatherTime is the maximum time that a batch waits for further calls. It waits until it has
	// two fifths of the calls of the previous two batches, because callers that receive a response
	// often submit again. Larger batches cost less per call. Without the wait, many batches would find
	// the queue almost empty, since most callers were in the previous batch.
	maxGatherTime = 500 * time.Microsecond
	// maxBatchWait is how long a batch waits for the previous one. Batches that run one after another
	// are larger, and most of the cost of a batch does not depend on its size. But a batch that waits
	// for a lock or a slow disk must not delay the next batches.
	maxBatchWait = 10 * time.Millisecond
)

// batcherConfig configures a batcher of submissions S with verdicts V.
type batcherConfig[S, V any] struct {
	// Decide stores submissions in one transaction and returns their verdicts. If it returns an
	// error, no submission is stored.
	Decide func(ctx context.Context, submissions []S) ([]V, error)
	// Split, if not nil, divides the submissions into groups and returns the indexes of each group.
	// Each group is stored in a separate transaction.
	Split func(ctx context.Context, submissions []S) ([][]int, error)
	// Failed returns the verdict of a submission that was not stored because of err. After the
	// Timeout, err wraps Busy.
	Failed func(err error) V
	// Observe, if not nil, is called with the verdicts of each batch.
	Observe func(verdicts []V)
	// Busy is the error of Submit when the queue is full or Run has ended, and of submissions whose
	// batch reached the Timeout.
	Busy error
	Log  *slog.Logger
	// Timeout limits the time to store one batch, including the retry of its events one by one.
	Timeout time.Duration
	// Calls limits the calls in the queue, and Batches the batches that are stored concurrently.
	Calls, Batches int
}

// batcher stores submissions in batches, so that concurrent calls share a transaction. A single
// call is stored immediately. Under steady load, a batch waits briefly for more calls.
type batcher[S, V any] struct {
	batcherConfig[S, V]
	queue  chan *batchCall[S, V]
	queued atomic.Int64  // submissions in queue
	wanted atomic.Int64  // number of queued calls that the next batch waits for; 0 while it does not wait
	enough chan struct{} // signals that wanted is reached
	most   time.Duration // maximum wait for further calls; see maxGatherTime
	slots  chan struct{} // one is taken for each batch being stored

	mu      sync.RWMutex
	stopped bool
}

// batchCall holds the submissions of one caller, which waits for the verdicts. The submissions are
// decided in order, in one transaction unless that transaction fails.
type batchCall[S, V any] struct {
	submissions []S
	ctx         context.Context //nolint:containedctx // the caller's, checked once more before storing
	done        chan []V        // buffered; receives one verdict per submission
}

// newBatcher returns a batcher. It stores nothing until Run is called.
func newBatcher[S, V any](c batcherConfig[S, V]) *batcher[S, V] {
	return &batcher[S, V]{
		batcherConfig: c, queue: make(chan *batchCall[S, V], c.Calls), slots: make(chan struct{}, c.Batches), enough: make(chan struct{}, 1), most: maxGatherTime,
	}
}

// Submit queues submissions and waits for their verdicts. It returns Busy if the queue rejects
// them. If ctx ends first, each submission may or may not be stored.
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

// enqueue queues a call and reports whether there was room.
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

// signal sends a token without blocking. The channel has a buffer of one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// storing is a batch with a channel that is closed once the batch is stored.
type storing[S, V any] struct {
	batch  []*batchCall[S, V]
	stored chan struct{}
}

// Run stores batches until ctx ends. It then rejects new calls, stores the queued ones, and returns
// once all calls have their verdicts.
//
// The goroutines that store batches live as long as Run. SQLite needs a large stack, which a new
// goroutine would have to grow for each batch.
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
	last, before := 0, 0 // calls in the previous two batches
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

// waitForCalls waits until the queue holds the given number of calls, at most for the time w.most.
func (w *batcher[S, V]) waitForCalls(calls int) {
	if len(w.queue) >= calls {
		return
	}
	select {
	case <-w.enough: // discard the token of an earlier batch
	default:
	}
	w.wanted.Store(int64(calls))
	if len(w.queue) < calls { // calls that were queued before Store have not signaled
		waitFor(w.enough, w.most)
	}
	w.wanted.Store(0)
}

// waitFor returns when done is closed or receives a token, or when the time is over.
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

// batch returns first and further queued calls, up to about maxBatch submissions. The submissions
// of one call stay together. Calls whose context has ended are dropped.
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

// write stores a batch and sends the verdicts to its calls. If storing fails, the submissions are
// stored one by one, so that only the invalid ones fail. The cancellation of ctx is ignored: a
// batch that has begun is always finished.
func (w *batcher[S, V]) write(ctx context.Context, batch []*batchCall[S, V]) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Timeout)
	defer cancel()
	submissions := batch[0].submissions
	if len(batch) > 1 {
		submissions = make([]S, 0, maxBatch)
		for _, one := range batch {
			submissions = append(submissions, one.submissions...)
		}
	}
	verdicts := w.storeGroups(ctx, submissions)
	if w.Observe != nil {
		w.Observe(verdicts)
	}
	for _, one := range batch {
		n := len(one.submissions)
		one.done <- verdicts[:n:n]
		verdicts = verdicts[n:]
	}
}

// storeGroups stores the groups of submissions concurrently, each in a transaction.
func (w *batcher[S, V]) storeGroups(ctx context.Context, submissions []S) []V {
	if w.Split == nil {
		return w.store(ctx, submissions)
	}
	verdicts := make([]V, len(submissions))
	groups, err := w.Split(ctx, submissions)
	if err != nil {
		for i := range verdicts {
			verdicts[i] = w.failed(ctx, err)
		}
		return verdicts
	}
	var running sync.WaitGroup
	for _, group := range groups {
		running.Go(func() {
			some := make([]S, len(group))
			for n, i := range group {
				some[n] = submissions[i]
			}
			for n, v := range w.store(ctx, some) {
				verdicts[group[n]] = v
			}
		})
	}
	running.Wait()
	return verdicts
}

// store stores submissions together, or one by one if that fails.
func (w *batcher[S, V]) store(ctx context.Context, submissions []S) []V {
	verdicts, err := w.tryStore(ctx, submissions)
	if err != nil {
		verdicts = w.oneByOne(ctx, submissions, err)
	}
	return verdicts
}

// oneByOne stores each submission in a separate transaction, after the common transaction failed
// with cause.
func (w *batcher[S, V]) oneByOne(ctx context.Context, submissions []S, cause error) []V {
	if len(submissions) == 1 {
		return []V{w.failed(ctx, cause)}
	}
	w.Log.WarnContext(ctx, "failed to store usage batch; storing events one by one", "events", len(submissions), "error", cause)
	verdicts := make([]V, len(submissions))
	for i := range submissions {
		alone, err := w.tryStore(ctx, submissions[i:i+1])
		if err != nil {
			alone = []V{w.failed(ctx, err)}
		}
		verdicts[i] = alone[0]
	}
	return verdicts
}

// failed returns the verdict of a submission that was not stored because of err, or because ctx
// reached the Timeout. If ctx ends during a commit on PostgreSQL, the submission may be stored.
func (w *batcher[S, V]) failed(ctx context.Context, err error) V {
	if ctx.Err() != nil {
		err = fmt.Errorf("%w: %w", w.Busy, err)
	}
	return w.Failed(err)
}

// tryStore stores submissions together. It converts a panic into an error, because outside an HTTP
// handler a panic would end the process.
func (w *batcher[S, V]) tryStore(ctx context.Context, submissions []S) (verdicts []V, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("panic: %v\n%s", reason, debug.Stack())
		}
	}()
	return w.Decide(ctx, submissions)
}
