// Package gather lets requests that want the same kind of thing at the same time
// share one look-up, which costs little more for many than for one.
package gather

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// Bounds of a look-up for many.
const (
	maxGathered   = 256
	lookUpTimeout = 10 * time.Second
)

// Find looks up any number of keys, some perhaps more than once; those without a
// value are left out. What it returns is shared by everybody who asked and is not
// changed.
type Find[K comparable, V any] func(ctx context.Context, keys []K) (map[K]V, error)

// Gather makes one look-up of those that are wanted at the same time. A question
// that comes while look-ups run waits for one that begins afterwards: what is
// found is never older than the question, and nothing is kept for the next.
type Gather[K comparable, V any] struct {
	find Find[K, V]
	most int

	mu      sync.Mutex
	running int
	waiting []asker[K, V]
}

// asker is somebody who waits for an answer.
type asker[K comparable, V any] struct {
	key  K
	done chan answer[V] // has room for the one answer
}

type answer[V any] struct {
	value V
	found bool
	err   error
}

// New returns a Gather of which at most so many look-ups run at once.
func New[K comparable, V any](find Find[K, V], most int) *Gather[K, V] {
	return &Gather[K, V]{find: find, most: most}
}

// Get looks a key up; found is false when it has no value. The look-up has the
// values of the context of whoever asked first, so it must not be asked for in a
// transaction.
func (g *Gather[K, V]) Get(ctx context.Context, key K) (value V, found bool, err error) {
	done := make(chan answer[V], 1)
	g.mu.Lock()
	g.waiting = append(g.waiting, asker[K, V]{key, done})
	if g.running < g.most {
		g.running++
		go g.work(context.WithoutCancel(ctx)) // others come to wait for it as well
	}
	g.mu.Unlock()
	select {
	case a := <-done:
		return a.value, a.found, a.err
	case <-ctx.Done():
		return value, false, ctx.Err()
	}
}

// work looks up until nobody waits.
func (g *Gather[K, V]) work(ctx context.Context) {
	for {
		// Whoever can run now may be about to ask: on busy cores most look-ups
		// would else be for one. On idle ones this takes no time.
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

// try is find within bounds. A panic is an error, since here it would end the
// process and not a request.
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
