package account

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Bounds of a look-up for many.
const (
	maxGathered   = 256
	gatherTimeout = 10 * time.Second
)

// gather makes one look-up of those that are wanted at the same time. A question
// that comes while look-ups run waits for one that begins afterwards: what is
// found is never older than the question.
type gather[V any] struct {
	// find looks up any number of keys; those without a value are left out.
	find func(ctx context.Context, keys []string) (map[string]V, error)
	// most is how many look-ups may run at once.
	most int

	mu      sync.Mutex
	running int
	waiting []asker[V]
}

// asker is somebody who waits for an answer.
type asker[V any] struct {
	key  string
	done chan answer[V] // has room for the one answer
}

type answer[V any] struct {
	value V
	found bool
	err   error
}

// get looks a key up; found is false when it has no value.
func (g *gather[V]) get(ctx context.Context, key string) (value V, found bool, err error) {
	done := make(chan answer[V], 1)
	g.mu.Lock()
	g.waiting = append(g.waiting, asker[V]{key, done})
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
func (g *gather[V]) work(ctx context.Context) {
	for {
		g.mu.Lock()
		batch := g.waiting[:min(len(g.waiting), maxGathered)]
		if g.waiting = g.waiting[len(batch):]; len(batch) == 0 {
			g.running--
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		keys := make([]string, len(batch))
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
func (g *gather[V]) try(ctx context.Context, keys []string) (values map[string]V, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("account: panic: %v\n%s", reason, debug.Stack())
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	return g.find(ctx, keys)
}
