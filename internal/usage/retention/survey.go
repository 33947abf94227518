package retention

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/usage"
)

// surveyedStream is a stream whose events are counted once for all of its counters.
type surveyedStream struct {
	meter    usage.Meter
	deleted  prunedTotals
	counters []*countedPeriod
	skipped  int // counters whose period may have deleted events
}

// countedPeriod aggregates the events of a counter's period.
type countedPeriod struct {
	stored            usage.Counter
	events            int64
	units, millionths int64
	granted           money.Total
	highest, last     money.Quantity
	lastAt            time.Time
	lastID            uuid.UUID
}

// survey counts the events of streams in one pass. streams must be all streams between the first
// and the last of them. It returns the counts and the streams that seem wrong. It takes no locks:
// equal values prove that a stream is correct, but different values do not prove that it is wrong.
func (r *Recounter) survey(ctx context.Context, streams []stream) (seen RecountResult, doubtful []usage.StreamKey, err error) {
	found := make(map[usage.StreamKey]*surveyedStream, len(streams))
	meters := map[uuid.UUID]usage.Meter{}
	for _, s := range streams {
		m, ok := meters[s.key.MeterID]
		if !ok {
			if m, err = r.records.MeterOf(ctx, s.key); err != nil {
				return seen, nil, err
			}
			meters[s.key.MeterID] = m
		}
		found[s.key] = &surveyedStream{meter: m, deleted: s.deleted}
	}
	first, last := streams[0].key, streams[len(streams)-1].key
	if err := r.store.countersBetween(ctx, first.TenantID, last.TenantID, func(k usage.StreamKey, c usage.Counter) {
		if s := found[k]; s != nil {
			s.addCounter(c)
		}
	}); err != nil {
		return seen, nil, err
	}
	wrongHours, err := r.sums.Survey(ctx, first, last, func(e usage.CountedEvent) {
		seen.Events++
		if s := found[e.Stream]; s != nil {
			s.add(e)
		}
	})
	if err != nil {
		return seen, nil, err
	}
	seen.Streams = len(streams)
	for _, s := range streams {
		of := found[s.key]
		if wrongHours[s.key] || of.isWrong() {
			doubtful = append(doubtful, s.key)
			continue
		}
		seen.Counters += len(of.counters) + of.skipped
		seen.Skipped += of.skipped
	}
	return seen, doubtful, nil
}

// addCounter adds a counter whose events are to be counted.
func (s *surveyedStream) addCounter(c usage.Counter) {
	if !s.deleted.complete(c.Period) {
		s.skipped++
		return
	}
	counted := &countedPeriod{stored: c}
	if d := s.deleted; c.Period.Unbounded() {
		counted.events, counted.units, counted.millionths, counted.highest = d.events, d.units, d.millionths, d.highest
		counted.granted = d.granted
		if d.lastAt != nil {
			counted.last, counted.lastAt = d.last, *d.lastAt
		}
	}
	s.counters = append(s.counters, counted)
}

func (s *surveyedStream) add(e usage.CountedEvent) {
	for _, c := range s.counters {
		if !e.At.Before(c.stored.Period.Start) && e.At.Before(c.stored.Period.End) {
			c.add(e)
		}
	}
}

// add counts an event. Events can be added in any order. Of events with the same time, the one with
// the highest ID was stored last.
func (c *countedPeriod) add(e usage.CountedEvent) {
	if order := e.At.Compare(c.lastAt); c.events == 0 || order > 0 || order == 0 && bytes.Compare(e.ID[:], c.lastID[:]) > 0 {
		c.last, c.lastAt, c.lastID = e.Quantity, e.At, e.ID
	}
	if c.events == 0 {
		c.highest = e.Quantity
	}
	c.events++
	c.units += int64(e.Quantity / money.One)
	c.millionths += int64(e.Quantity % money.One)
	c.highest = max(c.highest, e.Quantity)
	c.granted, _ = c.granted.Add(money.TotalOf(e.Granted))
}

// isWrong reports whether a counter differs from its counted events.
func (s *surveyedStream) isWrong() bool {
	for _, c := range s.counters {
		var value, granted money.Total
		var lastAt *time.Time
		switch s.meter.Aggregation {
		case usage.Sum:
			value, granted = money.NewTotal(c.units, c.millionths), c.granted
		case usage.Count:
			value, granted = money.NewTotal(c.events, 0), c.granted
		case usage.Max:
			value = money.TotalOf(c.highest)
		case usage.LastValue:
			if value = money.TotalOf(c.last); c.events > 0 {
				lastAt = &c.lastAt
			}
		}
		if value != c.stored.Value || granted != c.stored.Granted || !sameTime(lastAt, c.stored.LastRecordedAt) {
			return true
		}
	}
	return false
}
