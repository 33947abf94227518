// Package journal keeps what each change of a subscription did to the revenue that recurs
// (rules: stats#recurring-revenue), and sums of it by the day.
package journal

import (
	"math/big"
	"time"

	"github.com/google/uuid"
)

// Kind is what a change did.
type Kind string

// The kinds.
const (
	KindNew         Kind = "new"         // it began to count
	KindExpansion   Kind = "expansion"   // it counts for more
	KindContraction Kind = "contraction" // it counts for less
	KindEnded       Kind = "ended"       // it counts no more
)

// isPaying reports whether a subscription in a state pays what recurs.
func isPaying(status string) bool { return status == "active" || status == "past_due" }

// most bounds what one subscription counts, so that sums fit.
const most = 1_000_000_000_000_000

// MonthlyAmount returns what a price comes to in a month, in minor units, rounded half up: a year
// has 12 months, 52 weeks or 365 days.
func MonthlyAmount(priceCents, quantity int64, unit string, count int32) int64 {
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
	sum.Mul(sum, big.NewInt(2*times))
	per *= int64(max(count, 1))
	sum.Add(sum, big.NewInt(per))
	sum.Quo(sum, big.NewInt(2*per))
	if bound := big.NewInt(most); sum.Cmp(bound) > 0 {
		return most
	}
	return sum.Int64()
}

// level is what a subscription counts: nothing, or an amount, which may be 0.
type level struct {
	active bool
	amount int64
}

// subscription is what the journal needs of a subscription.
type subscription struct {
	id, tenantID         uuid.UUID
	status, currency     string
	priceCents, quantity int64
	intervalUnit         string
	intervalCount        int32
	trialEndsAt          *time.Time
	createdAt, updatedAt time.Time
	version              int64 // of the state
	noted                int64 // the version that was noted last; 0 for none
	before               level // what the journal has of it
}

// level returns what the state of the subscription counts.
func (s subscription) level() level {
	if !isPaying(s.status) {
		return level{}
	}
	return s.paidLevel()
}

func (s subscription) paidLevel() level {
	return level{true, MonthlyAmount(s.priceCents, s.quantity, s.intervalUnit, s.intervalCount)}
}

// entry is a line of the journal.
type entry struct {
	tenantID      uuid.UUID
	at            time.Time
	currency      string
	kind          Kind
	before, after int64
}

// entries returns what leads from what the journal has of a subscription to its state.
//
// One that is older than the journal has counted since it began. If it has ended by now, it
// did so when its last state was stored.
func (s subscription) entries() []entry {
	now := s.level()
	if s.noted > 0 {
		return s.step(s.updatedAt, s.before, now)
	}
	began := s.createdAt
	if t := s.trialEndsAt; t != nil && t.After(began) {
		began = *t
	}
	if began.After(s.updatedAt) { // a trial that was ended early, or never came to its end
		began = s.updatedAt
	}
	if now.active {
		return s.step(began, level{}, now)
	}
	if (s.status == "canceled" || s.status == "unpaid") && began.Before(s.updatedAt) {
		return append(s.step(began, level{}, s.paidLevel()), s.step(s.updatedAt, s.paidLevel(), level{})...)
	}
	return nil
}

// step returns the entry that leads from one level to another, none where they are equal.
func (s subscription) step(at time.Time, before, after level) []entry {
	e := entry{s.tenantID, at.UTC(), s.currency, "", before.amount, after.amount}
	switch {
	case before == after:
		return nil
	case !before.active:
		e.kind = KindNew
	case !after.active:
		e.kind = KindEnded
	case after.amount > before.amount:
		e.kind = KindExpansion
	default:
		e.kind = KindContraction
	}
	return []entry{e}
}

// secondsOfDay is how many seconds a day of UTC has.
const secondsOfDay = 24 * 60 * 60

// DayOf returns the number of the day of UTC that a time is in, since 1970.
func DayOf(at time.Time) int64 {
	s := at.Unix()
	if s < 0 {
		s -= secondsOfDay - 1
	}
	return s / secondsOfDay
}

// StartOf is when a day begins.
func StartOf(day int64) time.Time { return time.Unix(day*secondsOfDay, 0).UTC() }
