// Package gather batches look-ups: requests that need the same kind of record at
// the same time share one query, which costs little more for many keys than for
// one. What was found is kept where the database tells for how long it is true (see Kept).
package gather

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// The limits of one batch, in keys and in time.
const (
	maxGathered   = 256
	lookUpTimeout = 10 * time.Second
)

// Find looks up keys, of which some may repeat, and returns the values of those
// that have one. All callers of a batch share the values and must not change them.
type Find[K comparable, V any] func(ctx context.Context, keys []K) (map[K]V, error)

// Gather batches concurrent calls of Get. A call that comes while batches run joins
// one that starts later, so a value is never older than the call. Nothing is
// cached.
type Gather[K comparable, V any] struct {
	find Find[K, V]
	most int

	mu      sync.Mutex
	running int
	waiting []asker[K, V]
}

// asker is one call of Get that waits for its answer.
type asker[K comparable, V any] struct {
	key  K
	done chan answer[V] // buffered, so that work never blocks on it
}

type answer[V any] struct {
	value V
	found bool
	err   error
}

// New returns a Gather that runs at most `most` batches at once.
func New[K comparable, V any](find Find[K, V], most int) *Gather[K, V] {
	return &Gather[K, V]{find: find, most: most}
}

// Get looks up a key. found reports whether it has a value. The batch runs with the
// context values of whichever call started it, so Get must not be called inside a
// transaction.
func (g *Gather[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	done := make(chan answer[V], 1)
	g.mu.Lock()
	g.waiting = append(g.waiting, asker[K, V]{key, done})
	if g.running < g.most {
		g.running++
		go g.work(context.WithoutCancel(ctx)) // other callers will wait for it too
	}
	g.mu.Unlock()
	select {
	case a := <-done:
		return a.value, a.found, a.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// work runs batches until no call waits.
func (g *Gather[K, V]) work(ctx context.Context) {
	for {
		// Goroutines that are ready to run may be about to call Get: without this
		// most batches would hold a single key when the cores are busy. When they are
		// idle it takes no time.
		runtime.Gosched()
		g.mu.Lock()
		batch := g.waiting[:min(len(g.waiting), maxGathered)]
		if g.waiting = g.waiting[len(batch):]; len(batch) == 0 {
			g.running--
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		keys := make([]K, len(batch))
		for i, one := range batch {
			keys[i] = one.key
		}
		values, err := g.try(ctx, keys)
		for _, one := range batch {
			value, found := values[one.key]
			one.done <- answer[V]{value, found, err}
		}
	}
}

// try calls find with a time limit. It turns a panic into an error, because in this
// goroutine a panic would end the process instead of one request.
func (g *Gather[K, V]) try(ctx context.Context, keys []K) (values map[K]V, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("gather: panic: %v\n%s", reason, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	return g.find(ctx, keys)
}
