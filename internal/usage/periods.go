package usage

import "time"

// ResetInterval defines when a meter resets (rules: usage#periods).
type ResetInterval string

// The reset intervals.
const (
	ResetMonthly ResetInterval = "monthly" // the tenant's billing period, see PeriodOf
	ResetWeekly  ResetInterval = "weekly"  // the ISO week, from Monday 00:00 UTC
	ResetDaily   ResetInterval = "daily"   // the UTC day
	ResetNever   ResetInterval = "none"    // accumulates forever
)

// Period is the time from Start (inclusive) to End (exclusive).
type Period struct{ Start, End time.Time }

// Contains reports whether t is in the period.
func (p Period) Contains(t time.Time) bool { return !t.Before(p.Start) && t.Before(p.End) }

// Unbounded reports whether the period is all of time.
func (p Period) Unbounded() bool { return p.Equal(AllTime()) }

// Equal reports whether both periods begin and end at the same instants.
func (p Period) Equal(q Period) bool { return p.Start.Equal(q.Start) && p.End.Equal(q.End) }

// Intersect returns the part of p that lies in q.
func (p Period) Intersect(q Period) Period {
	if p.Start.Before(q.Start) {
		p.Start = q.Start
	}
	if p.End.After(q.End) {
		p.End = q.End
	}
	return p
}

// AllTime returns the range of times that both databases and the API support.
func AllTime() Period {
	return Period{Start: time.Time{}, End: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}
}

// IntervalUnit is the unit of a billing interval (rules: usage#periods).
type IntervalUnit string

// The interval units.
const (
	Day   IntervalUnit = "day"
	Week  IntervalUnit = "week"
	Month IntervalUnit = "month"
	Year  IntervalUnit = "year"
)

// Billing holds the billing terms of a subscription.
type Billing struct {
	// ByCalendar is set without a subscription. Months are then calendar months in UTC, and the other
	// fields except Former are unused.
	ByCalendar bool
	// Anchor is the start of any one billing period. The interval determines the starts of the
	// others.
	Anchor        time.Time
	IntervalUnit  IntervalUnit
	IntervalCount int
	// Current is the billing period that the provider last reported. It can be over before the next
	// one is known, and during a trial its length differs from the interval.
	Current Period
	// Former holds the terms that were replaced in the last month, ordered by their end.
	Former []FormerBilling
}

// isOfNoSubscription reports whether no subscription sets the billing periods.
func (b *Billing) isOfNoSubscription() bool { return b == nil || b.ByCalendar }

const day = 24 * time.Hour

// longestMonth is the longest billing period that counts as monthly or shorter.
const longestMonth = 31 * day

// PeriodOf returns the period in which an event recorded for the time at counts. For one meter and
// unchanged billing terms, every time belongs to exactly one period.
//
// Weekly meters count by ISO week and daily meters by day, in UTC. Monthly meters follow the
// billing period if it is a month or shorter. If it is longer, they use windows of one month from
// the billing anchor, which may span the end of a billing period that is not a number of whole
// months. An anchor on the 29th to the 31st falls on the last day of shorter months and returns to
// its own day afterwards. Without a subscription (b is nil), a month is the UTC calendar month.
func PeriodOf(reset ResetInterval, b *Billing, at time.Time) Period {
	at = at.UTC()
	midnight := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	var p Period
	switch reset {
	case ResetDaily:
		p = Period{midnight, midnight.AddDate(0, 0, 1)}
	case ResetWeekly:
		sinceMonday := (int(at.Weekday()) + 6) % 7
		monday := midnight.AddDate(0, 0, -sinceMonday)
		p = Period{monday, monday.AddDate(0, 0, 7)}
	case ResetMonthly:
		p = monthly(b, at)
	default:
		return AllTime()
	}
	return p.Intersect(AllTime())
}

func monthly(b *Billing, at time.Time) Period {
	if b == nil || b.ByCalendar {
		first := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
		return Period{first, first.AddDate(0, 1, 0)}
	}
	if len(b.Former) > 0 {
		return b.formerPeriod(at)
	}
	return b.period(at)
}

// period returns the monthly period of a time under these terms.
func (b *Billing) period(at time.Time) Period {
	p := b.window(at)
	current := Period{b.Current.Start.UTC(), b.Current.End.UTC()}
	if anchor := b.Anchor.UTC(); b.spansWindows() {
		if !at.Before(anchor) {
			return p
		}
		current = current.Intersect(Period{current.Start, anchor}) // a trial
	}
	switch {
	case !current.Start.Before(current.End): // the current period is unknown
		return p
	case at.Before(current.Start):
		return p.Intersect(Period{p.Start, current.Start})
	case !at.Before(current.End):
		return p.Intersect(Period{current.End, p.End})
	case current.End.Sub(current.Start) <= longestMonth:
		return current
	default:
		return p.Intersect(current)
	}
}

// window returns the window that contains at. Windows follow each other from the anchor in both
// directions. A window is as long as the billing interval, or one month if the interval is longer.
func (b *Billing) window(at time.Time) Period {
	anchor := b.Anchor.UTC()
	if days := b.days(); days > 0 && !b.spansWindows() {
		step := int64(days) * day.Microseconds()
		n := floorDiv(at.UnixMicro()-anchor.UnixMicro(), step)
		start := anchor.UnixMicro() + n*step
		return Period{time.UnixMicro(start).UTC(), time.UnixMicro(start + step).UTC()}
	}
	n := 12*(at.Year()-anchor.Year()) + int(at.Month()) - int(anchor.Month())
	if addMonths(anchor, n).After(at) {
		n--
	}
	return Period{addMonths(anchor, n), addMonths(anchor, n+1)}
}

// days returns the length of a billing interval of days or weeks, otherwise 0.
func (b *Billing) days() int {
	switch b.IntervalUnit {
	case Day:
		return b.IntervalCount
	case Week:
		return 7 * b.IntervalCount
	case Month, Year:
	}
	return 0
}

// spansWindows reports whether a billing period is longer than a month but not a number of whole
// months, such as six weeks. Its end then lies inside a window, which continues in the next billing
// period.
func (b *Billing) spansWindows() bool { return b.days() > int(longestMonth/day) }

// addMonths adds n months to t. If the month is too short for the day of t, the result is its last
// day.
func addMonths(t time.Time, n int) time.Time {
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
