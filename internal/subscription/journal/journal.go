// Package journal records how each change of a subscription affects recurring revenue
// (rules: stats#recurring-revenue), and keeps daily sums of these changes.
package journal

import (
	"math/big"
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

// isPaying reports whether a subscription with this status counts as recurring revenue.
func isPaying(status string) bool { return status == "active" || status == "past_due" }

// most caps the amount of one subscription so that sums do not overflow.
const most = 1_000_000_000_000_000

// MonthlyAmount converts price × quantity less a discount to an amount per month, in minor units, rounded half up. A year
// has 12 months, 52 weeks or 365 days.
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
}

// subscription has the fields of a subscription that the journal uses.
type subscription struct {
	id, tenantID         uuid.UUID
	status, currency     string
	priceCents, quantity int64
	discountCents        int64 // that a lasting discount takes off price × quantity
	intervalUnit         string
	intervalCount        int32
	trialEndsAt          *time.Time
	createdAt, updatedAt time.Time
	version              int64 // of the current state
	noted                int64 // the version that is in the journal; 0 if there is none
	before               level // the level that the journal has recorded
}

// level returns the level of the current state.
func (s subscription) level() level {
	if !isPaying(s.status) {
		return level{}
	}
	return s.paidLevel()
}

func (s subscription) paidLevel() level {
	return level{true, MonthlyAmount(s.priceCents, s.quantity, s.discountCents, s.intervalUnit, s.intervalCount)}
}

// entry is one entry of the journal.
type entry struct {
	tenantID      uuid.UUID
	at            time.Time
	currency      string
	kind          Kind
	before, after int64
}

// entries returns the entries that lead from the recorded level of a subscription to its current
// state.
//
// A subscription that is older than the journal counts from its start. If it has ended since, the
// end is dated to the update of its last state.
func (s subscription) entries() []entry {
	now := s.level()
	if s.noted > 0 {
		return s.step(s.updatedAt, s.before, now)
	}
	began := s.createdAt
	if t := s.trialEndsAt; t != nil && t.After(began) {
		began = *t
	}
	if began.After(s.updatedAt) { // a trial that ended early or was never finished
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

// step returns the entry for a change between two levels, or nil if they are equal.
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
