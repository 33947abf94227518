// Package clock is the only source of the current time. Everything else in the
// project is forbidden to call time.Now, so that the sandbox and the tests can
// move the time of the whole service.
package clock

import (
	"sync"
	"time"
)

// Clock returns the current time in UTC, truncated to microseconds, which is the
// precision of both databases and of the API.
type Clock interface {
	Now() time.Time
}

// System returns the clock of the machine.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Fixed is a clock that stands still until it is set, for tests. It is safe for
// concurrent use.
type Fixed struct {
	mu  sync.Mutex
	now time.Time
}

// NewFixed returns a clock that stands at now.
func NewFixed(now time.Time) *Fixed {
	return &Fixed{now: now.UTC().Truncate(time.Microsecond)}
}

// Now returns the time that the clock was set to.
func (f *Fixed) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Set sets the clock to now, which may be in the past.
func (f *Fixed) Set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now.UTC().Truncate(time.Microsecond)
}
