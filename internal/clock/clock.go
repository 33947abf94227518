// Package clock gives every part of the service its time. Nothing else in the
// project reads the system's clock: a lint rule forbids time.Now elsewhere, so
// that the sandbox and the tests can move time for the whole service at once.
package clock

import (
	"sync"
	"time"
)

// Clock tells the time in UTC, truncated to microseconds: the precision that
// both databases keep and that the API shows.
type Clock interface {
	Now() time.Time
}

// System returns the clock of the machine.
func System() Clock { return system{} }

type system struct{}

func (system) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// Adjustable runs on top of another clock, ahead of it by an offset. It never
// goes backwards, except by its base doing so. It is safe for concurrent use.
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

// Now tells the moved time.
func (a *Adjustable) Now() time.Time {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.base.Now().Add(a.offset)
}

// Offset tells how far the clock is ahead of its base.
func (a *Adjustable) Offset() time.Duration {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.offset
}

// Advance moves the time forward by d; a negative d is ignored. It returns the
// new time after every listener has been told.
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

// OnAdvance registers f to be called, in the caller's goroutine, each time that
// the clock was moved.
func (a *Adjustable) OnAdvance(f func(now time.Time)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listeners = append(a.listeners, f)
}

// Fixed is a clock that stands still until it is moved; for tests of pure rules.
type Fixed struct {
	mu  sync.Mutex
	now time.Time
}

// NewFixed returns a clock that stands at now.
func NewFixed(now time.Time) *Fixed {
	return &Fixed{now: now.UTC().Truncate(time.Microsecond)}
}

// Now tells where the clock stands.
func (f *Fixed) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

// Set moves the clock to now, in either direction.
func (f *Fixed) Set(now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now.UTC().Truncate(time.Microsecond)
}
