// Package breaker implements circuit breakers. A breaker stops calls to another service while that
// service is down, so that callers fail fast and the service can recover.
package breaker

import (
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// ErrOpen is the error of a call that an open breaker rejects.
var ErrOpen = errors.New("circuit breaker open")

// Config configures a Breaker.
type Config struct {
	Failures int           // consecutive failures that open the breaker
	Pause    time.Duration // how long it stays open before it allows a trial call
	Jitter   float64       // share of Pause by which each pause varies randomly, in both directions
	OnOpen   func()        // called whenever the breaker opens; nil does nothing
	OnClose  func()        // called when the breaker closes again; nil does nothing
}

// Breaker is a circuit breaker. It is safe for concurrent use. Every call that Allow allows must
// end with Succeed, Fail or Abandon.
type Breaker struct {
	config Config
	clock  clock.Clock

	mu       sync.Mutex
	failures int       // consecutive failures while closed
	open     bool      // from the last failure until a trial call succeeds
	until    time.Time // end of the pause while open
	trial    bool      // a trial call is running
}

// New returns a closed Breaker. It follows the machine's clock, not the service's, so that moving
// the sandbox's clock does not affect it.
func New(c Config) *Breaker { return &Breaker{config: c, clock: clock.System()} }

// Allow reports whether a call may be made. After the pause it allows one trial call at a time.
func (b *Breaker) Allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	if b.trial || b.clock.Now().Before(b.until) {
		return false
	}
	b.trial = true
	return true
}

// Succeed records a call that reached the service. It closes the breaker after a trial call.
func (b *Breaker) Succeed() {
	b.mu.Lock()
	closes := b.open && b.trial
	if closes {
		b.open, b.trial = false, false
	}
	if !b.open {
		b.failures = 0
	}
	b.mu.Unlock()
	if closes && b.config.OnClose != nil {
		b.config.OnClose()
	}
}

// Fail records a call that did not reach the service.
func (b *Breaker) Fail() {
	b.mu.Lock()
	b.failures++
	opens := b.open && b.trial || !b.open && b.failures >= b.config.Failures
	if opens {
		b.open, b.trial = true, false
		b.until = b.clock.Now().Add(b.pause())
	}
	b.mu.Unlock()
	if opens && b.config.OnOpen != nil {
		b.config.OnOpen()
	}
}

// Abandon records a call whose caller gave up, which proves nothing about the service. After an
// abandoned trial call, the next call is the trial.
func (b *Breaker) Abandon() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trial = false
}

func (b *Breaker) pause() time.Duration {
	vary := b.config.Jitter * (2*rand.Float64() - 1) //nolint:gosec // It only spreads load.
	return b.config.Pause + time.Duration(vary*float64(b.config.Pause))
}
