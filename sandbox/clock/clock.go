// Package clock implements the sandbox's time: the system time plus an offset that only grows.
package clock

import (
	"sync"
	"time"
)

// Clock returns the current time in UTC, truncated to microseconds.
type Clock interface {
	Now() time.Time
}

// System returns the system clock.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Adjustable is a clock that is ahead of another clock by an offset. The offset only grows. It is
// safe for concurrent use.
type Adjustable struct {
	base Clock

	mu        sync.RWMutex
	offset    time.Duration
	listeners []func(now time.Time)
}

// NewAdjustable returns a clock that is ahead of base by offset.
func NewAdjustable(base Clock, offset time.Duration) *Adjustable {
	return &Adjustable{base: base, offset: offset}
}

// Now returns the time of the base plus the offset.
func (a *Adjustable) Now() time.Time {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.base.Now().Add(a.offset)
}

// Offset returns the difference between the clock and its base.
func (a *Adjustable) Offset() time.Duration {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.offset
}

// Advance moves the clock forward by d and ignores a negative d. It then calls all listeners and
// returns the new time.
func (a *Adjustable) Advance(d time.Duration) time.Time {
	if d > 0 {
		a.mu.Lock()
		a.offset += d
		a.mu.Unlock()
	}
	now := a.Now()
	a.mu.RLock()
	listeners := a.listeners
	a.mu.RUnlock()
	for _, f := range listeners {
		f(now)
	}
	return now
}

// OnAdvance registers f. Each Advance calls f synchronously with the new time.
func (a *Adjustable) OnAdvance(f func(now time.Time)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listeners = append(a.listeners, f)
}
