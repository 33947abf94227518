package chaos

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tenantry/tenantry/sandbox/stripe/kernel"
)

// settings configures the fault injection. Shares are between 0 and 1. If all shares are 0, no
// faults are injected.
type settings struct {
	Webhooks webhookSettings `json:"webhooks"`
	API      apiSettings     `json:"api"`
	// Seed determines which calls and events are affected. The same seed affects the same calls and
	// events, counted from the time the settings were stored or the server was started.
	Seed int64 `json:"seed"`
}

type webhookSettings struct {
	Drop       float64 `json:"drop"`      // never sent
	Duplicate  float64 `json:"duplicate"` // sent Copies times
	Copies     int64   `json:"copies"`
	Reorder    float64 `json:"reorder"` // sent in any order, up to MaxDelayMS late
	Delay      float64 `json:"delay"`   // sent up to MaxDelayMS late, in order
	MaxDelayMS int64   `json:"max_delay_ms"`
}

type apiSettings struct {
	FailBefore    float64 `json:"fail_before"`    // responds with Status, without effect
	FailAfter     float64 `json:"fail_after"`     // responds with Status, after the call took effect
	TimeoutBefore float64 `json:"timeout_before"` // no response, without effect
	TimeoutAfter  float64 `json:"timeout_after"`  // no response, after the call took effect
	RateLimit     float64 `json:"rate_limit"`     // responds with 429, without effect
	Status        int64   `json:"status"`         // 0 closes the connection
	TimeoutMS     int64   `json:"timeout_ms"`     // how long the connection of a call without a response stays open
}

// defaultSettings returns settings that inject no faults. They are also the defaults of omitted
// values.
func defaultSettings() settings {
	return settings{
		Webhooks: webhookSettings{Copies: 2, MaxDelayMS: 1000},
		API:      apiSettings{Status: 503, TimeoutMS: 30_000},
	}
}

// field describes one setting: a share, or a whole number between Low and High.
type field struct {
	Name, Label, Hint string
	Share             *float64
	Whole             *int64
	Low, High         int64
}

// fields returns all settings, for code that handles them uniformly.
func (c *settings) fields() []field {
	w, a := &c.Webhooks, &c.API
	return []field{
		{Name: "webhooks.drop", Label: "Drop", Hint: "share of events that are not sent", Share: &w.Drop},
		{Name: "webhooks.duplicate", Label: "Duplicate", Hint: "share of events that are sent several times", Share: &w.Duplicate},
		{Name: "webhooks.copies", Label: "Copies", Hint: "how many times", Whole: &w.Copies, Low: 2, High: 10},
		{Name: "webhooks.reorder", Label: "Reorder", Hint: "share that is sent out of order", Share: &w.Reorder},
		{Name: "webhooks.delay", Label: "Delay", Hint: "share that is sent late, in order", Share: &w.Delay},
		{Name: "webhooks.max_delay_ms", Label: "Longest delay", Hint: "in milliseconds, for delayed and reordered notifications", Whole: &w.MaxDelayMS, Low: 0, High: 3_600_000},
		{Name: "api.fail_before", Label: "Fail before", Hint: "share of calls that fail without effect", Share: &a.FailBefore},
		{Name: "api.fail_after", Label: "Fail after", Hint: "share of calls that take effect but return an error", Share: &a.FailAfter},
		{Name: "api.timeout_before", Label: "Time out before", Hint: "share of calls without effect that time out", Share: &a.TimeoutBefore},
		{Name: "api.timeout_after", Label: "Time out after", Hint: "share of calls that take effect but time out", Share: &a.TimeoutAfter},
		{Name: "api.rate_limit", Label: "Rate limit", Hint: "share of calls rejected with 429, without effect", Share: &a.RateLimit},
		{Name: "api.status", Label: "Status", Hint: "of failed calls, from 500 to 599; 0 closes the connection", Whole: &a.Status, Low: 0, High: 599},
		{Name: "api.timeout_ms", Label: "Timeout", Hint: "time until a timed-out call is closed, in milliseconds", Whole: &a.TimeoutMS, Low: 0, High: 120_000},
		{Name: "seed", Label: "Seed", Hint: "determines the affected events and calls", Whole: &c.Seed, Low: 0, High: 1<<53 - 1},
	}
}

// check returns the validation errors by field name.
func (c *settings) check() map[string]string {
	wrong := map[string]string{}
	for _, f := range c.fields() {
		switch {
		case f.Share != nil && (*f.Share < 0 || *f.Share > 1):
			wrong[f.Name] = "The " + f.Name + " must be a share from 0 to 1."
		case f.Whole != nil && (*f.Whole < f.Low || *f.Whole > f.High):
			wrong[f.Name] = fmt.Sprintf("The %s must be from %d to %d.", f.Name, f.Low, f.High)
		}
	}
	a := c.API
	if a.Status > 0 && a.Status < 500 {
		wrong["api.status"] = "The api.status must be 0 or from 500 to 599."
	}
	if sum := a.FailBefore + a.FailAfter + a.TimeoutBefore + a.TimeoutAfter + a.RateLimit; len(wrong) == 0 && sum > 1 {
		wrong["api"] = "The sum of the shares of calls must not exceed 1."
	}
	return wrong
}

var records = kernel.Kind[record]{Name: "sandbox.chaos"}

// record is the stored form of the settings.
type record struct {
	kernel.Header
	Settings settings `json:"settings"`
}

// Dice decides at random which fault is injected into each event and call. It is safe for
// concurrent use.
type Dice struct {
	mu            sync.Mutex
	settings      settings
	events, calls uint64 // numbers of events and calls since the settings were changed
}

// NewDice returns Dice with settings that inject no faults.
func NewDice() *Dice { return &Dice{settings: defaultSettings()} }

// currentSettings returns the settings.
func (d *Dice) currentSettings() settings {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.settings
}

// use changes the settings and resets the counters of events and calls.
func (d *Dice) use(settings settings) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settings, d.events, d.calls = settings, 0, 0
}

// The purposes of random numbers. The purpose is part of the seed.
const (
	drawEvent = iota
	drawCall
	drawReplay
)

// newRand returns the random number generator for the n-th event or call.
func newRand(seed int64, purpose, n uint64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), n<<2|purpose)) //nolint:gosec // it must be repeatable
}

// NextEvent returns the deliveries of the next event, which can be empty.
func (d *Dice) NextEvent() []kernel.Delivery {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events++
	w := d.settings.Webhooks
	r := newRand(d.settings.Seed, drawEvent, d.events)
	if r.Float64() < w.Drop {
		return nil
	}
	copies := int64(1)
	if r.Float64() < w.Duplicate {
		copies = w.Copies
	}
	ways := make([]kernel.Delivery, copies)
	for i := range ways {
		ways[i].Ordered = r.Float64() >= w.Reorder
		if r.Float64() < w.Delay || !ways[i].Ordered {
			ways[i].Late = time.Duration(r.Int64N(w.MaxDelayMS+1)) * time.Millisecond
		}
	}
	return ways
}

// mishap is a fault injected into an API call.
type mishap struct {
	name    string // the name of the setting; empty if no fault is injected
	lost    bool   // whether the call takes effect
	status  int    // the status of the response; 0 closes the connection
	timeout bool   // whether there is no response
	tooMany bool   // whether the call is rate limited
	held    time.Duration
}

// nextFault returns the fault to inject into the next call.
func (d *Dice) nextFault() mishap {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	a := d.settings.API
	at := newRand(d.settings.Seed, drawCall, d.calls).Float64()
	for _, m := range []struct {
		mishap
		share float64
	}{
		{mishap{name: "fail_before", status: int(a.Status)}, a.FailBefore},
		{mishap{name: "fail_after", status: int(a.Status), lost: true}, a.FailAfter},
		{mishap{name: "timeout_before", timeout: true}, a.TimeoutBefore},
		{mishap{name: "timeout_after", timeout: true, lost: true}, a.TimeoutAfter},
		{mishap{name: "rate_limit", tooMany: true}, a.RateLimit},
	} {
		if at < m.share {
			m.held = time.Duration(a.TimeoutMS) * time.Millisecond
			return m.mishap
		}
		at -= m.share
	}
	return mishap{}
}
