package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// countedPeriods is where an entry of a tenant with interrupted windows counts. It is nil for
// all others.
type countedPeriods struct {
	// parts are the interrupted windows that count besides the entry's period when it
	// is judged.
	parts []Period
	// later are the periods that count now, where the entry's is among them as an
	// interrupted one: recording for the past gives no fresh quota either.
	later []Period
}

// countedPeriods finds where an entry of the stream counts besides its own period.
func (s *stream) countedPeriods(e *entry, now time.Time) *countedPeriods {
	b := s.allowance.Billing
	if s.meter.Reset != ResetMonthly || b == nil || len(b.Former) == 0 {
		return nil
	}
	r := countedPeriods{parts: b.InterruptedWindows(e.at)}
	if parts := b.InterruptedWindows(now); slices.ContainsFunc(parts, func(p Period) bool { return p.Contains(e.at) }) {
		r.later = slices.Concat(parts, []Period{PeriodOf(ResetMonthly, b, now)})
	}
	if r.parts == nil && r.later == nil {
		return nil
	}
	return &r
}

// level is what the counters of periods come to together.
func level(aggregation Aggregation, counters []*Counter, periods ...Period) Counter {
	var sum Counter
	for _, p := range periods {
		if c := find(counters, p); c != nil {
			sum.join(aggregation, *c)
		}
	}
	return sum
}

// join adds what another counter of the same meter, of another time, shows.
func (c *Counter) join(aggregation Aggregation, o Counter) {
	switch aggregation {
	case Sum, Count:
		c.Value, _ = c.Value.Add(o.Value)
	case Max:
		c.Value = maxTotal(c.Value, o.Value)
	case LastValue:
		if c.LastRecordedAt == nil || o.LastRecordedAt != nil && o.LastRecordedAt.After(*c.LastRecordedAt) {
			c.Value, c.LastRecordedAt = o.Value, o.LastRecordedAt
		}
	}
}

// current is what the meter shows for an entry's period, with the interrupted windows
// that count in it.
func (s *stream) current(e *entry, counters []*Counter) Counter {
	own := find(counters, e.period)
	if e.countedPeriods == nil {
		return *own
	}
	sum := level(s.meter.Aggregation, counters, e.countedPeriods.parts...)
	sum.join(s.meter.Aggregation, *own)
	return sum
}

// addInterrupted reads the counters of the interrupted windows that count now, of the
// tenants that have any, into counters.
func (s store) addInterrupted(
	ctx context.Context, allowances map[uuid.UUID]Allowance, meters []Meter, now time.Time, counters map[StreamKey][]*Counter,
) error {
	var keys []StreamKey
	since := now
	for k := range counters {
		parts := allowances[k.TenantID].Billing.InterruptedWindows(now)
		if len(parts) == 0 || !slices.ContainsFunc(meters, func(m Meter) bool { return m.ID == k.MeterID && m.Reset == ResetMonthly }) {
			continue
		}
		keys = append(keys, k)
		if parts[0].Start.Before(since) {
			since = parts[0].Start
		}
	}
	return s.addCounters(ctx, keys, Period{Start: since, End: now}, counters)
}

// addCounters reads the counters of streams whose periods overlap a time, if there are
// any streams, and adds those that are missing.
func (s store) addCounters(ctx context.Context, keys []StreamKey, p Period, counters map[StreamKey][]*Counter) error {
	if len(keys) == 0 {
		return nil
	}
	found, err := s.counters(ctx, keys, p)
	for k, more := range found {
		for _, c := range more {
			if find(counters[k], c.Period) == nil {
				counters[k] = append(counters[k], c)
			}
		}
	}
	return err
}
