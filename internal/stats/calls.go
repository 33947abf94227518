package stats

import (
	"sync"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// CallMonitor records the last call of this instance to the payment provider. It is safe for concurrent
// use.
type CallMonitor struct {
	machine clock.Clock

	mu       sync.Mutex
	outage   bool
	answered bool
	latency  time.Duration // of the last call with a response
}

// NewCalls returns a CallMonitor without a recorded call. machine measures the duration of calls.
func NewCalls(machine clock.Clock) *CallMonitor { return &CallMonitor{machine: machine} }

// Begin must be called when a call begins. The returned function must be called when the call ends,
// with an outcome of package psp: "answered", "outage" or "abandoned". An abandoned call is
// ignored.
func (c *CallMonitor) Begin() func(outcome string) {
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

// lastCall reports whether the provider responded to the last call, and the latency of its last
// response in milliseconds, or nil if it never responded. Before the first call, the provider
// counts as reachable.
func (c *CallMonitor) lastCall() (reachable bool, latency *float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		latency = milliseconds(c.latency)
	}
	return !c.outage, latency
}

// milliseconds returns a duration in milliseconds with two decimals.
func milliseconds(d time.Duration) *float64 {
	ms := float64(d.Round(10*time.Microsecond).Microseconds()) / 1000
	return &ms
}
