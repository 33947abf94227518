package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// countedPeriods lists the additional periods in which an entry of a tenant with interrupted
// windows counts. It is nil for all other entries.
type countedPeriods struct {
	// parts are the interrupted windows whose usage is added to the entry's period when the entry
	// is judged.
	parts []Period
	// later is set if the entry is recorded for an interrupted window that counts now. It contains
	// all windows that count now, including the current period. The entry must fit into them as
	// well, so that recording for the past cannot open a new quota.
	later []Period
}

// countedPeriods returns the additional periods in which an entry of the stream counts.
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

// level returns the combined value of the counters of the periods.
func level(aggregation Aggregation, counters []*Counter, periods ...Period) Counter {
	var sum Counter
	for _, p := range periods {
		if c := find(counters, p); c != nil {
			sum.join(aggregation, *c)
		}
	}
	return sum
}

// join adds the value of a counter of the same meter for another period.
func (c *Counter) join(aggregation Aggregation, o Counter) {
	c.Rejected += o.Rejected
	switch aggregation {
	case Sum, Count:
		c.Value, _ = c.Value.Add(o.Value)
		c.Granted, _ = c.Granted.Add(o.Granted)
	case Max:
		c.Value = maxTotal(c.Value, o.Value)
	case LastValue:
		if c.LastRecordedAt == nil || o.LastRecordedAt != nil && o.LastRecordedAt.After(*c.LastRecordedAt) {
			c.Value, c.LastRecordedAt = o.Value, o.LastRecordedAt
		}
	}
}

// currentValue returns the value of the meter when an entry is judged: the value of the entry's
// period plus the interrupted windows that count in it.
func (s *stream) currentValue(e *entry, counters []*Counter) Counter {
	own := find(counters, e.period)
	if e.countedPeriods == nil {
		return *own
	}
	sum := level(s.meter.Aggregation, counters, e.countedPeriods.parts...)
	sum.join(s.meter.Aggregation, *own)
	return sum
}

// addInterrupted adds to counters the counters of interrupted windows that count now.
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

// addCounters reads the counters of streams whose periods overlap p, and adds the missing ones to
// counters. It does nothing if keys is empty.
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
