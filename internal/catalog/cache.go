package catalog

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// cache holds a value in memory until it expires or is dropped. When concurrent callers find it
// outdated, one of them reads it again while the others wait. It is safe for concurrent use.
type cache[T any] struct {
	clock      clock.Clock
	maxAge     time.Duration
	read       func(ctx context.Context) (*T, error)
	passing    func(err error) bool
	current    atomic.Pointer[cacheEntry[T]]
	generation atomic.Uint64 // number of drops so far
	reading    chan struct{} // semaphore: holds one token during a read
}

// cacheEntry is a cached value with its read time and the generation before the read.
type cacheEntry[T any] struct {
	value      *T
	at         time.Time
	generation uint64
}

// newCache returns an empty cache that loads its value with read. If read fails and passing reports
// that the error is temporary, such as an unavailable database, the cache keeps the last value.
func newCache[T any](c clock.Clock, maxAge time.Duration, read func(ctx context.Context) (*T, error), passing func(err error) bool) *cache[T] {
	return &cache[T]{clock: c, maxAge: maxAge, read: read, passing: passing, reading: make(chan struct{}, 1)}
}

// Get returns the cached value. The value was read after the last Drop and is at most maxAge old,
// unless reads fail temporarily. Callers share it and must not modify it. Get returns the error of
// the read or of ctx.
func (c *cache[T]) Get(ctx context.Context) (*T, error) {
	if value := c.freshValue(); value != nil {
		return value, nil
	}
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if value := c.freshValue(); value != nil {
		return value, nil // another caller read it during the wait
	}
	// Take the time and the generation before the read: a change that commits during the read then
	// makes the result outdated, and its age counts from the start of the read.
	next := &cacheEntry[T]{at: c.clock.Now(), generation: c.generation.Load()}
	var err error
	if next.value, err = c.read(ctx); err != nil {
		if last := c.current.Load(); last != nil && last.generation == next.generation && c.passing(err) {
			return last.value, nil
		}
		return nil, err
	}
	c.current.Store(next)
	return next.value, nil
}

func (c *cache[T]) freshValue() *T {
	k := c.current.Load()
	if k == nil || k.generation != c.generation.Load() {
		return nil
	}
	if age := c.clock.Now().Sub(k.at); age < 0 || age >= c.maxAge {
		return nil
	}
	return k.value
}

// Drop discards the value, so the next Get reads it again.
func (c *cache[T]) Drop() { c.generation.Add(1) }
