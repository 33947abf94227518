package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// countedPeriods lists the periods to which an entry of a tenant with interrupted windows counts.
// It is nil for all other entries.
type countedPeriods struct {
	// parts are the interrupted windows that count together with the period of the entry when the
	// entry is judged.
	parts []Period
	// later are the periods that count now, if the period of the entry is one of the interrupted
	// windows among them. Recording for the past must not open a new quota.
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

// currentValue returns the value of the meter in the period of an entry, including the interrupted
// windows that count there.
func (s *stream) currentValue(e *entry, counters []*Counter) Counter {
	own := find(counters, e.period)
	if e.countedPeriods == nil {
		return *own
	}
	sum := level(s.meter.Aggregation, counters, e.countedPeriods.parts...)
	sum.join(s.meter.Aggregation, *own)
	return sum
}

// addInterrupted adds the counters of the interrupted windows that count now to counters, for
// tenants that have such windows.
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

// addCounters adds the missing counters of streams whose periods overlap p. It does nothing for an
// empty list of streams.
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
