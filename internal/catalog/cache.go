package catalog

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// cache keeps a value in one process until it is too old or dropped. When many readers
// find it outdated, one of them reads it again while the others wait. It is safe for
// concurrent use.
type cache[T any] struct {
	clock      clock.Clock
	maxAge     time.Duration
	read       func(ctx context.Context) (*T, error)
	passing    func(err error) bool
	current    atomic.Pointer[cacheEntry[T]]
	generation atomic.Uint64 // how often the value was dropped so far
	reading    chan struct{} // holds one token while somebody reads
}

// cacheEntry is a value, when it was read, and how often it had been dropped before that.
type cacheEntry[T any] struct {
	value      *T
	at         time.Time
	generation uint64
}

// newCache returns an empty cache of what read returns. While read fails with an error that is
// passing, such as that of a database that is away, the last value is kept.
func newCache[T any](c clock.Clock, maxAge time.Duration, read func(ctx context.Context) (*T, error), passing func(err error) bool) *cache[T] {
	return &cache[T]{clock: c, maxAge: maxAge, read: read, passing: passing, reading: make(chan struct{}, 1)}
}

// Get returns the value, read after the last Drop and at most the maximum age old unless
// reading fails for a while. It is shared: nobody may change it. The error is that of
// reading, or of ctx.
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
		return value, nil // somebody read it while this caller waited
	}
	// Time and generation are taken before reading, so that a change that commits
	// while reading makes the result outdated, and its age counts from its oldest row.
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

// Drop makes the next Get read the value again.
func (c *cache[T]) Drop() { c.generation.Add(1) }
