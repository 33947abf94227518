package querycache

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Limits of a loader.
const (
	maxBatch    = 256 // keys per load
	loadTimeout = 10 * time.Second
)

// loader loads the keys of concurrent calls together: on PostgreSQL a round trip costs more
// than the query, and many keys cost little more than one.
//
// Invariant: a load begins after all calls that share it, so a result is never older than the
// call that asked for it.
type loader[K comparable, V any] struct {
	load func(ctx context.Context, keys []K) (map[K]V, error)

	mu      sync.Mutex
	running int
	waiting []*call[K, V]
}

// call waits for the value of a key.
type call[K comparable, V any] struct {
	key   K
	done  chan struct{} // closed once the fields below are set
	value V
	found bool
	err   error
}

// get returns the value of a key once it is loaded, or the error of ctx once it has ended.
func (l *loader[K, V]) get(ctx context.Context, key K) (value V, found bool, err error) {
	c := &call[K, V]{key: key, done: make(chan struct{})}
	l.mu.Lock()
	l.waiting = append(l.waiting, c)
	if l.running < runtime.GOMAXPROCS(0) {
		l.running++
		go l.run(context.WithoutCancel(ctx)) // other calls share the load
	}
	l.mu.Unlock()
	select {
	case <-c.done:
		return c.value, c.found, c.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// run loads batches until no call is waiting.
func (l *loader[K, V]) run(ctx context.Context) {
	for {
		// Requests that are ready to run may be about to call get. On busy cores most batches
		// would otherwise have a single key.
		runtime.Gosched()
		batch := l.take()
		if batch == nil {
			return
		}
		keys := make([]K, len(batch))
		for i, c := range batch {
			keys[i] = c.key
		}
		values, err := l.loadBatch(ctx, keys)
		for _, c := range batch {
			c.value, c.found = values[c.key]
			c.err = err
			close(c.done)
		}
	}
}

// take removes the first waiting calls. If no call is waiting, it returns nil and ends the run.
func (l *loader[K, V]) take() []*call[K, V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), maxBatch)
	if n == 0 {
		l.running--
		return nil
	}
	batch := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return batch
}

// loadBatch loads keys. It turns a panic into an error: the goroutine is outside the HTTP handlers,
// which recover panics, so the panic would end the process.
func (l *loader[K, V]) loadBatch(ctx context.Context, keys []K) (values map[K]V, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("querycache: panic: %v\n%s", reason, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	return l.load(ctx, keys)
}
