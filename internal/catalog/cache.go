package catalog

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// PublicMaxAge is how long the public catalog may be kept
// (rules: catalog#public-catalog).
const PublicMaxAge = 60 * time.Second

// cache keeps the public catalog of one process. When many readers find it outdated,
// one of them reads it again while the others wait.
type cache struct {
	clock      clock.Clock
	read       func(ctx context.Context) (*Public, error)
	current    atomic.Pointer[kept]
	generation atomic.Uint64 // the number of changes so far
	reading    chan struct{} // holds one token while somebody reads
}

// kept is a public catalog, when it was read, and the number of changes before that.
type kept struct {
	public     *Public
	at         time.Time
	generation uint64
}

func newCache(c clock.Clock, read func(ctx context.Context) (*Public, error)) *cache {
	return &cache{clock: c, read: read, reading: make(chan struct{}, 1)}
}

func (c *cache) get(ctx context.Context) (*Public, error) {
	if p := c.fresh(); p != nil {
		return p, nil
	}
	select {
	case c.reading <- struct{}{}:
		defer func() { <-c.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if p := c.fresh(); p != nil {
		return p, nil // somebody read it while this caller waited
	}
	// Time and generation are taken before reading, so that a change that commits
	// while reading makes the result outdated, and its age counts from its oldest row.
	next := &kept{at: c.clock.Now(), generation: c.generation.Load()}
	var err error
	if next.public, err = c.read(ctx); err != nil {
		return nil, err
	}
	c.current.Store(next)
	return next.public, nil
}

func (c *cache) fresh() *Public {
	k := c.current.Load()
	if k == nil || k.generation != c.generation.Load() {
		return nil
	}
	if age := c.clock.Now().Sub(k.at); age < 0 || age >= PublicMaxAge {
		return nil
	}
	return k.public
}

func (c *cache) drop() { c.generation.Add(1) }
