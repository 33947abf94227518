package history

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// Interval is the length of the periods of a series, in UTC.
type Interval string

// The intervals.
const (
	Hour  Interval = "hour"
	Day   Interval = "day"
	Month Interval = "month"
)

// days returns the length of the default time range, in days, which suits a chart.
func (i Interval) days() int {
	switch i {
	case Hour:
		return 7
	case Month:
		return 365
	default:
		return defaultDays
	}
}

// maxPoints is the maximum number of points of a series.
const maxPoints = 400

// start returns the start of the period that contains a time.
func (i Interval) start(at time.Time) time.Time {
	at = at.UTC()
	switch i {
	case Month:
		return time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	case Day:
		return time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	default:
		return at.Truncate(time.Hour)
	}
}

// next returns the start of the period that follows the period at start.
func (i Interval) next(start time.Time) time.Time {
	switch i {
	case Month:
		return start.AddDate(0, 1, 0)
	case Day:
		return start.AddDate(0, 0, 1)
	default:
		return start.Add(time.Hour)
	}
}

// Point is the value of a meter in one period.
type Point struct {
	At    time.Time // start of the period
	Value money.Total
}

// Reader reads the usage of tenants over time.
type Reader struct {
	store   store
	records usage.Records
	clock   clock.Clock
}

// NewReader returns a Reader.
func NewReader(db *sqldb.DB, c clock.Clock) *Reader {
	return &Reader{store: store{db}, records: usage.NewRecords(db), clock: c}
}

// Series returns the value of a meter in each period that overlaps p. The first and last period
// only count the part inside p. It returns errPoints for more than maxPoints periods.
func (r *Reader) Series(ctx context.Context, tenantID uuid.UUID, m usage.Meter, i Interval, p usage.Period) ([]Point, error) {
	var points []Point
	for at := i.start(p.Start); at.Before(p.End); at = i.next(at) {
		if len(points) == maxPoints {
			return nil, errPoints
		}
		points = append(points, Point{At: at})
	}
	k := usage.StreamKey{TenantID: tenantID, MeterID: m.ID}
	parts, before, err := r.read(ctx, k, i, p, m.Aggregation == usage.LastValue)
	if err != nil {
		return nil, err
	}
	fillPoints(points, parts, i, m.Aggregation, before)
	return points, nil
}

// readTries is how often a series is read without locking the stream.
const readTries = 4

// read returns the aggregates of the events in p as parts, each within one period, in any order. If
// carried is set, it also returns the last quantity before p.
//
// Invariant: all data is read at one summed_before, so that no event is missed or read twice. If
// summed_before advances during the read, everything is read again.
func (r *Reader) read(ctx context.Context, k usage.StreamKey, i Interval, p usage.Period, carried bool) (parts []usage.Hour, before money.Quantity, err error) {
	for range readTries {
		var same bool
		if parts, before, same, err = r.tryRead(ctx, k, i, p, carried); err != nil || same {
			return parts, before, err
		}
	}
	err = r.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := r.records.LockStreams(ctx, []usage.StreamKey{k}); err != nil {
			return err
		}
		parts, before, _, err = r.tryRead(ctx, k, i, p, carried)
		return err
	})
	return parts, before, err
}

func (r *Reader) tryRead(ctx context.Context, k usage.StreamKey, i Interval, p usage.Period, carried bool) (parts []usage.Hour, before money.Quantity, same bool, err error) {
	s, err := r.store.state(ctx, k)
	if err != nil {
		return nil, 0, false, err
	}
	if p.Start.Before(s.prunedBefore) { // the events are deleted; only the hours remain
		p.Start = p.Start.Truncate(time.Hour)
	}
	if p.End.Before(s.prunedBefore) {
		p.End = p.End.Add(time.Hour - time.Microsecond).Truncate(time.Hour)
	}
	summed, scanned := split(p, s.summedBefore)
	if summed.from < summed.to {
		size := int64(1)
		if i != Hour {
			size = 24
		}
		if parts, err = r.store.readGroups(ctx, k, summed.from, summed.to, size); err != nil {
			return nil, 0, false, err
		}
	}
	for _, part := range scanned {
		if parts, err = r.scan(ctx, k, i, part, parts); err != nil {
			return nil, 0, false, err
		}
	}
	if carried {
		if before, err = r.valueBefore(ctx, k, p.Start); err != nil {
			return nil, 0, false, err
		}
	}
	now, err := r.store.state(ctx, k)
	return parts, before, now.summedBefore.Equal(s.summedBefore) && now.prunedBefore.Equal(s.prunedBefore), err
}

// hours is a range of hours. from is inclusive, to is exclusive.
type hours struct{ from, to int64 }

// split splits a period into the hours that are completely summed, and the parts whose events must
// be read.
func split(p usage.Period, summedBefore time.Time) (summed hours, scanned []usage.Period) {
	first := usage.HourOf(p.Start.Add(time.Hour - time.Microsecond)) // the first hour that starts in p
	last := usage.HourOf(p.End)                                      // the hour after the last that ends in p
	if !p.End.Before(summedBefore) {
		last = usage.HourOf(summedBefore.Add(time.Hour - time.Microsecond)) // includes the partly summed hour
	}
	if first >= last || summedBefore.IsZero() {
		return hours{}, []usage.Period{p}
	}
	begin, end := usage.StartOfHour(first), usage.StartOfHour(last)
	if end.After(summedBefore) {
		end = summedBefore
	}
	for _, part := range []usage.Period{{Start: p.Start, End: begin}, {Start: end, End: p.End}} {
		if part.Start.Before(part.End) {
			scanned = append(scanned, part)
		}
	}
	return hours{first, last}, scanned
}

// scan appends the aggregates of the events in p to parts, one for each period with events.
func (r *Reader) scan(ctx context.Context, k usage.StreamKey, i Interval, p usage.Period, parts []usage.Hour) ([]usage.Hour, error) {
	for p.Start.Before(p.End) {
		at, found, err := r.store.nextEvent(ctx, k, p)
		if err != nil || !found {
			return parts, err
		}
		end := i.next(i.start(at))
		if end.After(p.End) {
			end = p.End
		}
		part, err := r.store.tally(ctx, k, usage.Period{Start: at, End: end})
		if err != nil {
			return nil, err
		}
		if part.Events > 0 { // it may have been deleted concurrently
			part.Hour = usage.HourOf(at)
			parts = append(parts, part)
		}
		p.Start = end
	}
	return parts, nil
}

// valueBefore returns the last quantity recorded before a time, or 0. For deleted events it uses
// the last value of the hours.
func (r *Reader) valueBefore(ctx context.Context, k usage.StreamKey, at time.Time) (money.Quantity, error) {
	last, found, err := r.store.lastEvent(ctx, k, usage.Period{Start: usage.AllTime().Start, End: at})
	if err != nil {
		return 0, err
	}
	hour, summed, err := r.store.lastHour(ctx, k, usage.HourOf(at))
	if err != nil {
		return 0, err
	}
	if summed && (!found || hour.LastAt.After(last.At)) {
		last.Quantity = hour.Last
	}
	return last.Quantity, nil
}

// fillPoints sets the values of the points.
func fillPoints(points []Point, parts []usage.Hour, i Interval, a usage.Aggregation, before money.Quantity) {
	index := make(map[int64]int, len(points))
	for n, p := range points {
		index[p.At.Unix()] = n
	}
	sums := make([]usage.Hour, len(points))
	for _, part := range parts {
		n, ok := index[i.start(usage.StartOfHour(part.Hour)).Unix()]
		if !ok {
			continue
		}
		s := &sums[n]
		s.Events, s.Units, s.Millionths = s.Events+part.Events, s.Units+part.Units, s.Millionths+part.Millionths
		s.Highest = max(s.Highest, part.Highest)
		if !part.LastAt.Before(s.LastAt) {
			s.Last, s.LastAt = part.Last, part.LastAt
		}
	}
	for n, s := range sums {
		switch {
		case a == usage.LastValue && s.Events > 0:
			before = s.Last
			points[n].Value = money.TotalOf(before)
		case a == usage.LastValue:
			points[n].Value = money.TotalOf(before)
		case a == usage.Count:
			points[n].Value = money.NewTotal(s.Events, 0)
		case a == usage.Max:
			points[n].Value = money.TotalOf(s.Highest)
		default:
			points[n].Value = money.NewTotal(s.Units, s.Millionths)
		}
	}
}
