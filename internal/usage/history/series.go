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

// Interval is the length of the periods of a series, all in UTC.
type Interval string

// The intervals.
const (
	Hour  Interval = "hour"
	Day   Interval = "day"
	Month Interval = "month"
)

// days returns how long a series is without a beginning, in days: what fits on a picture.
func (i Interval) days() int {
	switch i {
	case Hour:
		return 7
	case Month:
		return 365
	default:
		return byDefault
	}
}

// maxPoints is how many points a series has at most.
const maxPoints = 400

// start is the beginning of the period that a time is in.
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

// next is the beginning of the period after the one that begins at a time.
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

// Point is what a meter comes to in one period.
type Point struct {
	At    time.Time // its beginning
	Value money.Total
}

// Reader reads what tenants have used.
type Reader struct {
	store   store
	records usage.Records
	clock   clock.Clock
}

// NewReader returns a reader.
func NewReader(db *sqldb.DB, c clock.Clock) *Reader {
	return &Reader{store: store{db}, records: usage.NewRecords(db), clock: c}
}

// Series returns what a meter comes to in each period that has a part of a time. Of the
// first and the last period that part alone counts. errPoints refuses more than 400.
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

// readTries is how often a series is read before the stream is locked for it.
const readTries = 4

// read returns what the events of a time come to in parts that each belong to one period,
// in any order, and the quantity before that time where it is wanted.
//
// Invariant: all of it is read at one summed_before, so that no event is read twice or not
// at all: where that has moved on meanwhile, everything is read again.
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
	if p.Start.Before(s.prunedBefore) { // the events are gone: the hours are all there is
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

// hours are those from one (inclusive) to another (exclusive).
type hours struct{ from, to int64 }

// split says of which parts of a time the hours tell everything, and of which the events
// have to be read.
func split(p usage.Period, summedBefore time.Time) (summed hours, scanned []usage.Period) {
	first := usage.HourOf(p.Start.Add(time.Hour - time.Microsecond)) // that begins in it
	last := usage.HourOf(p.End)                                      // the one after those that end in it
	if !p.End.Before(summedBefore) {
		last = usage.HourOf(summedBefore.Add(time.Hour - time.Microsecond)) // with the one that is summed in part
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

// scan adds what the events of a time come to, period by period, of those that have any.
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
		if part.Events > 0 { // it may have been deleted meanwhile
			part.Hour = usage.HourOf(at)
			parts = append(parts, part)
		}
		p.Start = end
	}
	return parts, nil
}

// valueBefore returns the last quantity recorded before a time, 0 if there is none. The hours
// contain the last value of deleted events.
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

// fillPoints gives each point its value.
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
