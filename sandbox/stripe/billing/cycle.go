// Package billing computes the periods of subscriptions and the price of a part of a period. It has
// no state and no clock.
//
// Times are in seconds since the epoch. Days are UTC days, as in Stripe's API.
package billing

import "time"

// Interval is a billing interval of Count units. Unit is day, week, month or year.
type Interval struct {
	Unit  string
	Count int64
}

// Cycle divides time into periods of one interval. The boundaries are whole numbers of intervals
// away from the anchor, so each period ends where the next one begins. In a month without the
// anchor's day, the boundary is on the last day. Later months are not affected: 31 January is
// followed by 28 February and 31 March.
type Cycle struct {
	Anchor int64
	Every  Interval
}

// Boundary returns the time n intervals after the anchor, or before it if n is negative.
func (c Cycle) Boundary(n int64) int64 {
	at := time.Unix(c.Anchor, 0).UTC()
	n *= c.Every.Count
	switch c.Every.Unit {
	case "day":
		return at.AddDate(0, 0, int(n)).Unix()
	case "week":
		return at.AddDate(0, 0, 7*int(n)).Unix()
	case "year":
		n *= 12
	}
	first := at.AddDate(0, int(n), 1-at.Day()) // the first day of the target month
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(at.Day(), last)-1).Unix()
}

// Period returns the period that contains the time at. start is part of the period, end is not.
func (c Cycle) Period(at int64) (start, end int64) {
	n := (at - c.Anchor) / c.Every.maxSeconds()
	for c.Boundary(n) > at {
		n--
	}
	for c.Boundary(n+1) <= at {
		n++
	}
	return c.Boundary(n), c.Boundary(n + 1)
}

// maxSeconds is the maximum length of one interval, in seconds.
func (i Interval) maxSeconds() int64 {
	days := map[string]int64{"day": 1, "week": 7, "month": 31, "year": 366}[i.Unit]
	return max(1, days*i.Count) * 24 * 60 * 60
}
