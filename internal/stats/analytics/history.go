// Package analytics computes the development of recurring revenue from the history of subscriptions
// (rules: stats#analytics). It stores nothing: a past month is computed from the same entries each
// time.
package analytics

import (
	"sort"
	"time"

	"github.com/google/uuid"
)

// History is everything that happened to subscriptions until a time.
type History struct {
	Plans         []uuid.UUID
	Currencies    []string
	Subscriptions []Subscription // grouped by customer
	Milestones    []Milestone
}

// Subscription is the history of a subscription.
type Subscription struct {
	ID       uuid.UUID
	Customer int64 // number of the tenant
	Currency int   // index in Currencies
	Steps    []Step
}

// Step is the state of a subscription from a time until the next step.
type Step struct {
	At     int64 // in microseconds since 1970
	Plan   int   // index in Plans
	Active bool  // whether the subscription counts; an active one can have an amount of 0
	Amount int64 // per month, in minor units of the currency
}

// Milestone is the end of a trial, or the first payment of a subscription for a plan.
type Milestone struct {
	Subscription uuid.UUID
	Customer     int64
	Currency     int // index in Currencies
	Plan         int // index in Plans
	IsPayment    bool
	At           time.Time
	// isOther marks a payment for a plan that the filter excludes. It still converts a trial.
	isOther bool
}

// Moment is a point in time for which figures are computed. Earlier events count. Events at exactly
// this time count only if Inclusive is set.
type Moment struct {
	At        time.Time
	Inclusive bool
}

// limit returns the first microsecond that is not included.
func (m Moment) limit() int64 {
	if m.Inclusive {
		return m.At.UnixMicro() + 1
	}
	return m.At.UnixMicro()
}

// day returns a time of the day whose exchange rates apply.
func (m Moment) day() time.Time {
	if m.Inclusive {
		return m.At
	}
	return m.At.Add(-time.Microsecond)
}

// stepAt returns the step that applies at a moment, or an inactive one.
func (s Subscription) stepAt(m Moment) Step {
	limit := m.limit()
	i := sort.Search(len(s.Steps), func(i int) bool { return s.Steps[i].At >= limit })
	if i == 0 {
		return Step{}
	}
	return s.Steps[i-1]
}

// Filter selects the subscriptions that count.
type Filter struct {
	Plans      map[uuid.UUID]bool // nil for all
	Currencies map[string]bool    // nil for all
}

func (f Filter) hasPlan(id uuid.UUID) bool    { return f.Plans == nil || f.Plans[id] }
func (f Filter) hasCurrency(code string) bool { return f.Currencies == nil || f.Currencies[code] }

// apply returns the history with only the subscriptions that the filter selects. While a
// subscription is on another plan, it does not count.
func (h History) apply(f Filter) History {
	out := History{Plans: h.Plans, Currencies: h.Currencies}
	for _, s := range h.Subscriptions {
		if !f.hasCurrency(h.Currencies[s.Currency]) {
			continue
		}
		if f.Plans != nil {
			s.Steps = h.onPlans(s.Steps, f)
		}
		out.Subscriptions = append(out.Subscriptions, s)
	}
	for _, m := range h.Milestones {
		isOther := !f.hasPlan(h.Plans[m.Plan])
		if !f.hasCurrency(h.Currencies[m.Currency]) || isOther && !m.IsPayment {
			continue
		}
		m.isOther = m.isOther || isOther
		out.Milestones = append(out.Milestones, m)
	}
	return out
}

// onPlans returns the steps. Steps on plans outside the filter become inactive.
func (h History) onPlans(steps []Step, f Filter) []Step {
	out := make([]Step, len(steps))
	for i, step := range steps {
		if out[i] = step; !f.hasPlan(h.Plans[step.Plan]) {
			out[i].Active, out[i].Amount = false, 0
		}
	}
	return out
}
