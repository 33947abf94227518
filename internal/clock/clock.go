// Package clock is the only source of the current time. No other package may call time.Now, so that
// the sandbox and tests can move the time of the whole service.
package clock

import (
	"context"
	"sync"
	"time"
)

// Clock returns the current time in UTC, truncated to microseconds, which is the precision of both
// databases and the API.
type Clock interface {
	Now() time.Time
}

// System returns the system clock.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Pause waits for d of real time. It reports false if ctx is done first.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Fixed is a clock for tests that stands still until it is set. It is safe for concurrent use.
type Fixed struct {
	mu  sync.Mutex
	now time.Time
}

// NewFixed returns a Fixed clock that is set to now.
func NewFixed(now time.Time) *Fixed {
	return &Fixed{now: now.UTC().Truncate(time.Microsecond)}
}

// Now returns the time that the clock is set to.
func (f *Fixed) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Set sets the clock to now, which can be in the past.
func (f *Fixed) Set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now.UTC().Truncate(time.Microsecond)
}
