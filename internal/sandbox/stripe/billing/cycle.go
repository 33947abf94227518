// Package billing is the arithmetic of subscriptions: when their periods begin
// and end, and what a part of a period costs. It has neither state nor clock.
//
// Moments are seconds since the epoch and days are those of UTC, as Stripe has
// them.
package billing

import "time"

// Interval is how often something is due: Count times Unit, which is day, week,
// month or year.
type Interval struct {
	Unit  string
	Count int64
}

// Cycle divides all of time into periods of one interval. Its boundaries lie a
// whole number of intervals from the anchor, so that each period ends where the
// next one begins. A month without the anchor's day has its boundary on its last
// day, and the months after it are not moved by that: 31 January is followed by
// 28 February and 31 March.
type Cycle struct {
	Anchor int64
	Every  Interval
}

// Boundary is the moment n intervals after the anchor, or before it for a
// negative n.
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
	first := at.AddDate(0, int(n), 1-at.Day()) // the first day of the month it falls in
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(at.Day(), last)-1).Unix()
}

// Period is the period that a moment belongs to: from start, which belongs to
// it, to end, which belongs to the next one.
func (c Cycle) Period(at int64) (start, end int64) {
	n := (at - c.Anchor) / c.Every.longest()
	for c.Boundary(n) > at {
		n--
	}
	for c.Boundary(n+1) <= at {
		n++
	}
	return c.Boundary(n), c.Boundary(n + 1)
}

// longest is the most seconds that one interval can last.
func (i Interval) longest() int64 {
	days := map[string]int64{"day": 1, "week": 7, "month": 31, "year": 366}[i.Unit]
	return max(1, days*i.Count) * 24 * 60 * 60
}
