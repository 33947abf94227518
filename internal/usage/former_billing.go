package usage

import "time"

// FormerBilling holds billing terms that applied to a subscription until it was changed or ended.
type FormerBilling struct {
	Billing
	Until time.Time
}

// InterruptedWindows returns the interrupted windows whose usage counts at the given time, in
// addition to the period that contains this time. They are in chronological order. An interrupted
// window is the elapsed part of a monthly window that ended early because the billing terms
// changed. It counts until the end of the original window (rules: usage#interrupted-windows). The
// parts do not overlap, so no event counts twice.
func (b *Billing) InterruptedWindows(at time.Time) []Period {
	if b == nil {
		return nil
	}
	var parts []Period
	var since time.Time
	for i := range b.Former {
		f := &b.Former[i]
		if f.Until.After(at) {
			break
		}
		window := f.period(f.Until.Add(-time.Microsecond))
		if window.Start.Before(since) {
			window.Start = since
		}
		if window.End.After(f.Until) && window.End.After(at) && window.Start.Before(f.Until) {
			parts = append(parts, Period{window.Start, f.Until.UTC()})
		}
		since = f.Until.UTC()
	}
	if b.ByCalendar {
		return cutPeriods(parts, monthly(b, at.UTC()).Start)
	}
	return parts
}

// cutPeriods returns the parts of periods before end.
func cutPeriods(periods []Period, end time.Time) []Period {
	var cut []Period
	for _, p := range periods {
		if p = p.Intersect(Period{p.Start, end}); p.Start.Before(p.End) {
			cut = append(cut, p)
		}
	}
	return cut
}

// formerPeriod returns the monthly period that contains a time, by the terms that applied at that
// time. b holds the current terms.
func (b *Billing) formerPeriod(at time.Time) Period {
	var since time.Time
	for i := range b.Former {
		f := &b.Former[i]
		if at.Before(f.Until) {
			return f.period(at).Intersect(Period{since, f.Until.UTC()})
		}
		since = f.Until.UTC()
	}
	return b.period(at).Intersect(Period{since, AllTime().End})
}
