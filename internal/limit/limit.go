// Package limit decides whether a request of a group may pass: a number per minute
// and key, over a sliding window (rules: http#rate-limits).
//
// Its windows follow the machine's clock, not the service's, so that moving the
// sandbox's clock neither ends nor prolongs them.
package limit

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// Window is the time that a group's figure applies to.
const Window = time.Minute

// warnEvery is the least time between two warnings that counting fails.
const warnEvery = 10 * time.Second

// Counter keeps the hits of every key. It must be safe for concurrent use, and
// Take must be atomic: of two hits that compete for the last place one gets it.
type Counter interface {
	// Take counts hits of key, from 1 to limit, unless more than limit would be in the sliding
	// window: hits that are refused are not counted. Its windows are aligned to the minute.
	Take(ctx context.Context, key string, limit, hits int) (Count, error)
}

// Count is what a counter has for a key once it has taken or refused a hit.
type Count struct {
	Taken    bool
	Current  int           // hits since the current window began, this one included if taken
	Previous int           // hits in the window before
	Elapsed  time.Duration // since the current window began
}

// Decision is the answer to one request.
type Decision struct {
	Allowed    bool
	Limit      int           // per minute; 0 when the request was not counted
	Remaining  int           // how many more would pass right now
	RetryAfter time.Duration // of a refused one: whole seconds, at least one
}

// Config is what a Limiter works with.
type Config struct {
	Groups  map[string]int // requests per minute; 0 or absent is off
	Counter Counter        // nil counts in memory
	Log     *slog.Logger
}

// Limiter holds the groups' limits. It is safe for concurrent use.
type Limiter struct {
	groups  map[string]int
	counter Counter
	log     *slog.Logger
	started time.Time
	warned  atomic.Int64 // when, since started; 0 is never
}

// New makes a limiter.
func New(c Config) *Limiter {
	if c.Counter == nil {
		c.Counter = NewMemory(clock.System())
	}
	return &Limiter{groups: c.Groups, counter: c.Counter, log: c.Log, started: clock.System().Now()}
}

// Allow counts a request of group under key and returns whether it may pass. When
// the counter fails, the request passes and a warning is logged: the service does not
// depend on its rate limits.
func (l *Limiter) Allow(ctx context.Context, group, key string) Decision {
	return l.AllowMany(ctx, group, key, 1, 1)
}

// AllowMany counts several requests of group under key together: all of them pass or none. The
// limit is the group's figure times share, for a key that stands for several callers. More hits
// than the limit count as the limit.
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
		d.RetryAfter = count.retryAfter(limit - hits + 1) // Room for all hits is room for one under this limit.
	}
	return d
}

func (l *Limiter) warn(ctx context.Context, group string, err error) {
	if ctx.Err() != nil {
		return // the caller is gone, which says nothing about the counter
	}
	now := int64(clock.System().Now().Sub(l.started)) + 1
	last := l.warned.Load()
	if (last != 0 && now-last < int64(warnEvery)) || !l.warned.CompareAndSwap(last, now) {
		return
	}
	l.log.WarnContext(ctx, "rate limits are not counted: requests pass", "group", group, "error", err)
}
