package stats

import (
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// Calls remembers the last call to the payment provider, of this instance. It is safe for
// concurrent use.
type Calls struct {
	machine clock.Clock

	mu       sync.Mutex
	outage   bool
	answered bool
	latency  time.Duration // of the last call that was answered
}

// NewCalls returns a memory of no call. machine measures how long calls take.
func NewCalls(machine clock.Clock) *Calls { return &Calls{machine: machine} }

// Begin is called when a call begins. The function that it returns is called when the call
// is over, with its outcome as psp names it: "answered", "outage" or "abandoned". A call
// that was given up tells nothing.
func (c *Calls) Begin() func(outcome string) {
	begun := c.machine.Now()
	return func(outcome string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		switch outcome {
		case "answered":
			c.outage, c.answered, c.latency = false, true, c.machine.Now().Sub(begun)
		case "outage":
			c.outage = true
		}
	}
}

// last reports whether the provider answered when it was called last, and how many
// milliseconds its last answer took: nil before the first. Before the first call it is taken
// to be reachable.
func (c *Calls) last() (reachable bool, latency *float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		latency = milliseconds(c.latency)
	}
	return !c.outage, latency
}

// milliseconds returns a duration with two decimals.
func milliseconds(d time.Duration) *float64 {
	ms := float64(d.Round(10*time.Microsecond).Microseconds()) / 1000
	return &ms
}
