// Package journal records how each change of a subscription affects recurring revenue
// (rules: stats#recurring-revenue), and keeps daily sums of these changes. It also keeps the history of
// each subscription for analytics.
package journal

import (
	"math/big"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Kind is the kind of a revenue change.
type Kind string

// The kinds of changes.
const (
	KindNew         Kind = "new"         // the subscription starts to count
	KindExpansion   Kind = "expansion"   // its amount rises
	KindContraction Kind = "contraction" // its amount falls
	KindEnded       Kind = "ended"       // it no longer counts
)

const statusTrialing = "trialing"

// isPaying reports whether a subscription with this status counts as recurring revenue.
func isPaying(status string) bool { return status == "active" || status == "past_due" }

// most caps the amount of one subscription so that sums do not overflow.
const most = 1_000_000_000_000_000

// MonthlyAmount converts price × quantity less a discount to an amount per month, in minor units,
// rounded half up. A year has 12 months, 52 weeks or 365 days.
func MonthlyAmount(priceCents, quantity, discountCents int64, unit string, count int32) int64 {
	times, per := int64(1), int64(1)
	switch unit {
	case "day":
		times, per = 365, 12
	case "week":
		times, per = 52, 12
	case "year":
		per = 12
	}
	sum := new(big.Int).Mul(big.NewInt(priceCents), big.NewInt(quantity))
	sum.Sub(sum, big.NewInt(discountCents))
	sum.Mul(sum, big.NewInt(2*times))
	per *= int64(max(count, 1))
	sum.Add(sum, big.NewInt(per))
	sum.Quo(sum, big.NewInt(2*per))
	if bound := big.NewInt(most); sum.Cmp(bound) > 0 {
		return most
	}
	return sum.Int64()
}

// level is the recurring revenue of a subscription. An active subscription can have an amount of 0.
type level struct {
	active bool
	amount int64
	planID uuid.UUID // Nil if not active
}

// period is the billing period of a subscription.
type period struct {
	unit       string
	count      int32
	anchor     time.Time
	start, end time.Time
}

// subscription has the fields of a subscription that the journal uses.
type subscription struct {
	id, tenantID, planID uuid.UUID
	status, currency     string
	priceCents, quantity int64
	discountCents        int64 // the amount that a lasting discount takes off price × quantity
	discountEndsAt       *time.Time
	period               period
	trialEndsAt          *time.Time
	createdAt, updatedAt time.Time
	version              int64 // of the current state
	noted                recordedState
}

// recordedState is the state that the journal has recorded.
type recordedState struct {
	version   int64     // 0 before the first entry
	at        time.Time // of the last entry that has taken effect
	level     level
	until     *time.Time // when a discount ends; nil if nothing is known to change
	next      int64      // the amount from then on
	trialPlan *uuid.UUID // the plan on trial, or nil
}

// levelBefore returns the recorded level just before the given time.
func (n recordedState) levelBefore(at time.Time) level {
	l := n.level
	if n.until != nil && at.After(*n.until) {
		l.amount = n.next
	}
	return l
}

// amount returns the monthly amount of the current state, with or without its discount.
func (s subscription) amount(discounted bool) int64 {
	off := s.discountCents
	if !discounted {
		off = 0
	}
	return MonthlyAmount(s.priceCents, s.quantity, off, s.period.unit, s.period.count)
}

// discountUntil returns the end of the last period that is discounted, or nil if the discount does
// not end.
func (s subscription) discountUntil() *time.Time {
	if s.discountCents == 0 || s.discountEndsAt == nil {
		return nil
	}
	until := s.period.start
	if until.Before(*s.discountEndsAt) {
		until = s.period.endAfter(*s.discountEndsAt)
	} else if first := s.period.boundaryAfter(*s.discountEndsAt); first.Before(until) {
		until = first
	}
	return &until
}

// endAfter returns the first end of the current or a later period that is not before the given time.
func (p period) endAfter(at time.Time) time.Time {
	if !p.end.Before(at) {
		return p.end
	}
	return p.boundaryAfter(at)
}

// boundaryAfter returns the first boundary of a period from the billing anchor on that is not before
// the given time.
func (p period) boundaryAfter(at time.Time) time.Time {
	n := 0
	for p.nth(n).Before(at) {
		n++
	}
	return p.nth(n)
}

// nth returns the billing anchor after n periods. If the target month is too short, it returns the
// last day of that month, as the provider does.
func (p period) nth(n int) time.Time {
	n *= int(max(p.count, 1))
	switch p.unit {
	case "day":
		return p.anchor.AddDate(0, 0, n)
	case "week":
		return p.anchor.AddDate(0, 0, 7*n)
	case "year":
		n *= 12
	}
	next := p.anchor.AddDate(0, n, 0)
	if next.Day() != p.anchor.Day() {
		next = next.AddDate(0, 0, -next.Day())
	}
	return next
}

// entry is one change of the level of a subscription.
type entry struct {
	at            time.Time
	before, after level
}

// kind returns the kind of the change, or "" if only the plan changes.
func (e entry) kind() Kind {
	switch {
	case !e.before.active:
		return KindNew
	case !e.after.active:
		return KindEnded
	case e.after.amount > e.before.amount:
		return KindExpansion
	case e.after.amount < e.before.amount:
		return KindContraction
	default:
		return ""
	}
}

// change is the result of comparing a state with the recorded one.
type change struct {
	entries []entry
	noted   recordedState
	// trialEnd is the end of a recorded trial, or nil if it did not end.
	trialEnd *time.Time
}

// entryTime returns the time of the entry for a state that took effect at the given time.
//
// Invariant: an entry has the time at which the change took effect, but never a time before the
// previous entry of the subscription. So the amount of a subscription is never negative, even if
// the provider's states are read late.
func (s subscription) entryTime(at time.Time) time.Time {
	switch {
	case s.noted.version == 0:
		return s.updatedAt
	case at.Before(s.noted.at):
		return s.noted.at
	default:
		return at
	}
}

// change returns the entries that lead from the recorded state of a subscription to its current state,
// whose entry has the given time.
func (s subscription) change(at time.Time) change {
	c := change{noted: recordedState{version: s.version, at: s.noted.at}}
	if s.status == statusTrialing {
		c.noted.trialPlan = &s.planID
	}
	before, began := s.noted.levelBefore(at), s.countsSince(at)
	if s.noted.trialPlan != nil && c.noted.trialPlan == nil {
		c.trialEnd = &began
	}
	if isPaying(s.status) {
		s.count(&c, before, began)
		return c
	}
	if s.countedSince(began, at) && !before.active {
		s.count(&c, before, began)
		before = c.noted.levelBefore(at)
		c.entries = slices.DeleteFunc(c.entries, func(e entry) bool { return !e.at.Before(at) })
	}
	c.noted.level, c.noted.until, c.noted.next = level{}, nil, 0
	c.add(at, before, level{})
	return c
}

// keeps reports whether a change at the given time keeps the recorded level and the recorded end of its
// discount, which may have passed.
func (c change) keeps(n recordedState, at time.Time) bool {
	if at.After(*n.until) {
		return len(c.entries) == 0
	}
	return c.noted.level == n.level && c.noted.next == n.next && c.noted.until != nil && c.noted.until.Equal(*n.until)
}

// countedSince reports whether a subscription that has stopped counting did count from began until at,
// although no state from that time was read. This happens if the subscription is older than the
// journal, or if its trial ended in the meantime.
func (s subscription) countedSince(began, at time.Time) bool {
	isNew := s.noted.version == 0 || s.noted.trialPlan != nil
	return isNew && (s.status == "canceled" || s.status == "unpaid") && began.Before(at)
}

// countsSince returns when the current state started to count, or its trial ended. A subscription that is
// older than the journal counts from its start; a trial ends at its end date or, if it ended early,
// with the change at the given time.
func (s subscription) countsSince(at time.Time) time.Time {
	began := at
	switch {
	case s.noted.version == 0:
		began = s.createdAt
		if t := s.trialEndsAt; t != nil && t.After(began) {
			began = *t
		}
	case s.noted.trialPlan != nil && s.trialEndsAt != nil:
		began = *s.trialEndsAt
		if began.Before(s.noted.at) {
			began = s.noted.at
		}
	}
	if began.After(at) {
		return at
	}
	return began
}

// count adds the entries of a state that counts since the given time: one for its current amount, and
// one for the amount after its discount.
func (s subscription) count(c *change, before level, at time.Time) {
	l := level{true, s.amount(true), s.planID}
	until := s.discountUntil()
	if until != nil && !at.Before(*until) {
		l.amount, until = s.amount(false), nil
	}
	c.add(at, before, l)
	c.noted.level = l
	after := level{true, s.amount(false), s.planID}
	if until == nil || after == l { // a discount of less than half a unit per month changes nothing
		return
	}
	reached := c.noted.at
	c.add(*until, l, after)
	c.noted.at, c.noted.until, c.noted.next = reached, until, after.amount
}

// add adds the entry for a change between two levels, unless they are equal.
func (c *change) add(at time.Time, before, after level) {
	if before == after {
		return
	}
	c.entries = append(c.entries, entry{at.UTC(), before, after})
	c.noted.at = at
}

// secondsOfDay is the number of seconds in a UTC day.
const secondsOfDay = 24 * 60 * 60

// DayOf returns the UTC day of a time, counted from 1970-01-01.
func DayOf(at time.Time) int64 {
	s := at.Unix()
	if s < 0 {
		s -= secondsOfDay - 1
	}
	return s / secondsOfDay
}

// StartOf returns the start of a day.
func StartOf(day int64) time.Time { return time.Unix(day*secondsOfDay, 0).UTC() }
