// Package limit implements rate limits: a number of requests per minute for each group and key,
// over a sliding window (rules: http#rate-limits).
//
// Windows follow the machine's clock, not the service's, so that moving the sandbox's clock does
// not affect them.
package limit

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// Window is the period that a group's limit applies to.
const Window = time.Minute

// warnEvery is the minimum interval between warnings about a failing counter.
const warnEvery = 10 * time.Second

// Counter counts the hits of each key. It must be safe for concurrent use, and Take must be atomic:
// if two hits compete for the last slot, only one is taken.
type Counter interface {
	// Take counts hits of key, from 1 to limit, unless they would exceed limit in the sliding
	// window. Rejected hits are not counted. Windows are aligned to the minute.
	Take(ctx context.Context, key string, limit, hits int) (Count, error)
}

// Count is the state of a key after Take.
type Count struct {
	Taken    bool
	Current  int           // hits since the start of the current window, including this one if taken
	Previous int           // hits in the previous window
	Elapsed  time.Duration // time since the start of the current window
}

// Decision is the decision about a request.
type Decision struct {
	Allowed    bool
	Limit      int           // per minute; 0 if the request was not counted
	Remaining  int           // number of further requests allowed now
	RetryAfter time.Duration // for a rejected request: whole seconds, at least one
}

// Config configures a Limiter.
type Config struct {
	Groups  map[string]int // requests per minute; 0 or absent disables the limit
	Counter Counter        // nil counts in memory
	Log     *slog.Logger
}

// Limiter enforces the limits of the groups. It is safe for concurrent use.
type Limiter struct {
	groups  map[string]int
	counter Counter
	log     *slog.Logger
	started time.Time
	warned  atomic.Int64 // time of the last warning since started; 0 if never
}

// New returns a Limiter.
func New(c Config) *Limiter {
	if c.Counter == nil {
		c.Counter = NewMemory(clock.System())
	}
	return &Limiter{groups: c.Groups, counter: c.Counter, log: c.Log, started: clock.System().Now()}
}

// Allow counts a request of group under key and returns whether to allow it. If the counter fails,
// Allow allows the request and logs a warning: the service does not depend on its rate limits.
func (l *Limiter) Allow(ctx context.Context, group, key string) Decision {
	return l.AllowMany(ctx, group, key, 1, 1)
}

// AllowMany counts several requests of group under key, and allows either all of them or none.
// share multiplies the group's limit, for a key that represents several callers. hits is capped at
// the limit.
func (l *Limiter) AllowMany(ctx context.Context, group, key string, hits, share int) Decision {
	limit := l.groups[group] * share
	if limit <= 0 {
		return Decision{Allowed: true}
	}
	hits = min(hits, limit)
	count, err := l.counter.Take(ctx, group+":"+key, limit, hits)
	if err != nil {
		l.warn(ctx, group, err)
		return Decision{Allowed: true}
	}
	d := Decision{Allowed: count.Taken, Limit: limit, Remaining: count.remaining(limit)}
	if !d.Allowed {
		d.RetryAfter = count.retryAfter(limit - hits + 1) // if one hit fits under this limit, all hits fit under limit
	}
	return d
}

func (l *Limiter) warn(ctx context.Context, group string, err error) {
	if ctx.Err() != nil {
		return // the caller canceled, so the error does not come from the counter
	}
	now := int64(clock.System().Now().Sub(l.started)) + 1
	last := l.warned.Load()
	if (last != 0 && now-last < int64(warnEvery)) || !l.warned.CompareAndSwap(last, now) {
		return
	}
	l.log.WarnContext(ctx, "failed to count rate limit; request allowed", "group", group, "error", err)
}
