package clock

import (
	"sync"
	"time"
)

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
