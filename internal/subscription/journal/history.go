package journal

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// History is everything that analytics need to know about a subscription.
type History struct {
	SubscriptionID uuid.UUID
	Customer       int64 // random number of the tenant
	Currency       string
	Levels         []Level // oldest first; each applies until the next one
	TrialEnds      []Milestone
	Payments       []Milestone // the first payment for each plan
}

// Level is the recurring revenue of a subscription from At on. At can be in the future, for the end of
// a discount.
type Level struct {
	At     int64 // in microseconds since 1970
	PlanID uuid.UUID
	Active bool // whether the subscription counts; an active one can have an amount of 0
	Amount int64
}

// Milestone is the end of a trial, or a payment, with the plan at that time.
type Milestone struct {
	At     int64 // in microseconds since 1970
	PlanID uuid.UUID
}

// The kinds of events in the text of a history. An event is its kind and its fields, separated by
// commas, and ends with a semicolon.
const (
	eventLevel    = "l" // time, amount, plan; the plan is empty if it is the same as before
	eventEnd      = "e" // time
	eventTrialEnd = "t" // time, plan
	eventPayment  = "p" // time, plan
)

// text returns the event of a change.
func (e entry) text() string {
	if !e.after.active {
		return eventText(eventEnd, e.at)
	}
	plan := ""
	if !e.before.active || e.before.planID != e.after.planID {
		plan = e.after.planID.String()
	}
	return eventText(eventLevel, e.at, strconv.FormatInt(e.after.amount, 10), plan)
}

func milestoneText(kind string, plan uuid.UUID, at time.Time) string {
	return eventText(kind, at, plan.String())
}

func eventText(kind string, at time.Time, fields ...string) string {
	return strings.Join(append([]string{kind, strconv.FormatInt(at.UnixMicro(), 10)}, fields...), ",") + ";"
}

// readEvents adds the events in a text. An event replaces the level at its time and the planned
// levels after it. Only this package writes the text, so it is always valid.
func (h *History) readEvents(text string) {
	var plan uuid.UUID
	for event := range strings.SplitSeq(strings.TrimSuffix(text, ";"), ";") {
		kind, rest, _ := strings.Cut(event, ",")
		first, rest, _ := strings.Cut(rest, ",")
		at, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			continue
		}
		switch kind {
		case eventLevel:
			amount, of, _ := strings.Cut(rest, ",")
			if of != "" {
				plan, _ = uuid.Parse(of)
			}
			l := Level{At: at, PlanID: plan, Active: true}
			l.Amount, _ = strconv.ParseInt(amount, 10, 64)
			h.addLevel(l)
		case eventEnd:
			h.addLevel(Level{At: at, PlanID: plan})
		case eventTrialEnd, eventPayment:
			m := Milestone{At: at}
			m.PlanID, _ = uuid.Parse(rest)
			if kind == eventTrialEnd {
				h.TrialEnds = append(h.TrialEnds, m)
			} else {
				h.Payments = append(h.Payments, m)
			}
		}
	}
}

func (h *History) addLevel(l Level) {
	for len(h.Levels) > 0 && h.Levels[len(h.Levels)-1].At >= l.At {
		h.Levels = h.Levels[:len(h.Levels)-1]
	}
	h.Levels = append(h.Levels, l)
}

// planAt returns the plan at the given time, and the time of the next change to another plan, or the
// zero time. known is false before the first level.
func (h *History) planAt(at time.Time) (plan uuid.UUID, known bool, changedAt time.Time) {
	for _, l := range h.Levels {
		switch {
		case l.At <= at.UnixMicro():
			plan, known = l.PlanID, true
		case known && l.PlanID != plan:
			return plan, known, time.UnixMicro(l.At)
		}
	}
	return plan, known, time.Time{}
}

// hasPaid reports whether the history has a payment for a plan at or before the given time.
func (h *History) hasPaid(plan uuid.UUID, at time.Time) bool {
	for _, p := range h.Payments {
		if p.PlanID == plan && p.At <= at.UnixMicro() {
			return true
		}
	}
	return false
}
