package history

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history/historysql"
)

type store struct{ db *sqldb.DB }

// exportPage selects a page of an export: the events after a position.
const exportPage = `SELECT id, quantity, recorded_at, idempotency_key, metadata FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2
    AND recorded_at >= $3 AND recorded_at < $4
    AND (recorded_at > $3 OR id > $5)
ORDER BY recorded_at, id
LIMIT $6`

func (s store) q(ctx context.Context) *historysql.Queries { return historysql.New(s.db.Conn(ctx)) }

// state is the state of a stream. A zero time means that no event is summed, or that none is
// deleted.
type state struct{ summedBefore, prunedBefore time.Time }

// complete returns the time from which on no event is deleted.
func (s state) complete() time.Time { return s.prunedBefore }

// state reads the state of a stream. It is zero for a stream without a row, on which nothing was
// recorded.
func (s store) state(ctx context.Context, k usage.StreamKey) (state, error) {
	row, err := s.q(ctx).StreamState(ctx, historysql.StreamStateParams{TenantID: k.TenantID, MeterID: k.MeterID})
	if errors.Is(err, sqldb.ErrNoRows) {
		return state{}, nil
	}
	var found state
	if row.SummedBefore != nil {
		found.summedBefore = row.SummedBefore.UTC()
	}
	if row.PrunedBefore != nil {
		found.prunedBefore = row.PrunedBefore.UTC()
	}
	return found, sqldb.Wrap(err, "read state of stream")
}

func (s store) setSummed(ctx context.Context, k usage.StreamKey, before time.Time) error {
	err := s.q(ctx).SetSummed(ctx, historysql.SetSummedParams{TenantID: k.TenantID, MeterID: k.MeterID, SummedBefore: &before})
	return sqldb.Wrap(err, "store the end of summed events")
}

// listUnsummed lists streams after the given one, in order, that have unsummed events before a
// time.
func (s store) listUnsummed(ctx context.Context, after usage.StreamKey, until time.Time, most int32) ([]usage.StreamKey, error) {
	rows, err := s.q(ctx).UnsummedStreams(ctx, historysql.UnsummedStreamsParams{
		TenantID: after.TenantID, MeterID: after.MeterID, Earliest: usage.AllTime().Start, Until: &until, Most: most,
	})
	keys := make([]usage.StreamKey, len(rows))
	for i, row := range rows {
		keys[i] = usage.StreamKey{TenantID: row.TenantID, MeterID: row.MeterID}
	}
	return keys, sqldb.Wrap(err, "list streams to sum")
}

// events returns at most n events of a period, oldest first.
func (s store) events(ctx context.Context, k usage.StreamKey, p usage.Period, n int) ([]usage.CountedEvent, error) {
	return s.eventsAfter(ctx, k, p, uuid.Nil, n)
}

// eventsAfter is like events, but skips events at the start of the period with an ID up to after.
func (s store) eventsAfter(ctx context.Context, k usage.StreamKey, p usage.Period, after uuid.UUID, n int) ([]usage.CountedEvent, error) {
	rows, err := s.q(ctx).EventsToSum(ctx, historysql.EventsToSumParams{
		TenantID: k.TenantID, MeterID: k.MeterID, Since: p.Start, After: after, Until: p.End, Most: int32(n),
	})
	events := make([]usage.CountedEvent, len(rows))
	for i, row := range rows {
		events[i] = usage.CountedEvent{Stream: k, ID: row.ID, Quantity: money.Quantity(row.Quantity), At: row.RecordedAt.UTC()}
	}
	return events, sqldb.Wrap(err, "read events to sum")
}

// walk calls f for all events of a period, in order, and reads them in batches.
func (s store) walk(ctx context.Context, k usage.StreamKey, p usage.Period, f func(usage.CountedEvent)) error {
	for after := uuid.Nil; p.Start.Before(p.End); {
		events, err := s.eventsAfter(ctx, k, p, after, eventsAtOnce)
		if err != nil {
			return err
		}
		for _, e := range events {
			f(e)
		}
		if len(events) < eventsAtOnce {
			return nil
		}
		p.Start, after = events[len(events)-1].At, events[len(events)-1].ID
	}
	return nil
}

// tally aggregates the events of a period of any length. Events is 0 for a period without events.
func (s store) tally(ctx context.Context, k usage.StreamKey, p usage.Period) (usage.Hour, error) {
	row, err := s.q(ctx).Tally(ctx, historysql.TallyParams{TenantID: k.TenantID, MeterID: k.MeterID, Since: p.Start, Until: p.End})
	h := usage.Hour{Stream: k, Events: row.Events, Units: row.Units, Millionths: row.Millionths, Highest: money.Quantity(row.Highest)}
	if err != nil || row.Events == 0 {
		return h, sqldb.Wrap(err, "tally events")
	}
	last, _, err := s.lastEvent(ctx, k, p)
	h.Last, h.LastAt = last.Quantity, last.At
	return h, err
}

// lastEvent returns the last event of a period and whether there is one.
func (s store) lastEvent(ctx context.Context, k usage.StreamKey, p usage.Period) (usage.CountedEvent, bool, error) {
	row, err := s.q(ctx).LastEvent(ctx, historysql.LastEventParams{TenantID: k.TenantID, MeterID: k.MeterID, Since: p.Start, Until: p.End})
	if errors.Is(err, sqldb.ErrNoRows) {
		return usage.CountedEvent{}, false, nil
	}
	return usage.CountedEvent{Stream: k, Quantity: money.Quantity(row.Quantity), At: row.RecordedAt.UTC()}, err == nil, sqldb.Wrap(err, "read last event")
}

// nextEvent returns the time of the first event of a period and whether there is one.
func (s store) nextEvent(ctx context.Context, k usage.StreamKey, p usage.Period) (time.Time, bool, error) {
	at, err := s.q(ctx).NextEvent(ctx, historysql.NextEventParams{TenantID: k.TenantID, MeterID: k.MeterID, Since: p.Start, Until: p.End})
	if errors.Is(err, sqldb.ErrNoRows) {
		return time.Time{}, false, nil
	}
	return at.UTC(), err == nil, sqldb.Wrap(err, "find the next event")
}

func hourOf(k usage.StreamKey, row historysql.UsageHour) usage.Hour {
	return usage.Hour{
		Stream: k, Hour: row.Hour, Events: row.Events, Units: row.Units, Millionths: row.Millionths,
		Highest: money.Quantity(row.Highest), Last: money.Quantity(row.Last), LastAt: row.LastAt.UTC(),
	}
}

// hours lists the hours of a stream, starting with from.
func (s store) hours(ctx context.Context, k usage.StreamKey, from int64) ([]usage.Hour, error) {
	rows, err := s.q(ctx).Hours(ctx, historysql.HoursParams{TenantID: k.TenantID, MeterID: k.MeterID, Earliest: from})
	hours := make([]usage.Hour, len(rows))
	for i, row := range rows {
		hours[i] = hourOf(k, row)
	}
	return hours, sqldb.Wrap(err, "list hours")
}

// lastHour returns the last hour before the given one and whether there is one.
func (s store) lastHour(ctx context.Context, k usage.StreamKey, before int64) (usage.Hour, bool, error) {
	row, err := s.q(ctx).LastHour(ctx, historysql.LastHourParams{TenantID: k.TenantID, MeterID: k.MeterID, Before: before})
	if errors.Is(err, sqldb.ErrNoRows) {
		return usage.Hour{}, false, nil
	}
	return hourOf(k, row), err == nil, sqldb.Wrap(err, "read last hour")
}

func (s store) deleteHour(ctx context.Context, k usage.StreamKey, hour int64) error {
	err := s.q(ctx).DeleteHour(ctx, historysql.DeleteHourParams{TenantID: k.TenantID, MeterID: k.MeterID, Hour: hour})
	return sqldb.Wrap(err, "delete hour")
}

// shift makes every possible hour positive, so that division rounds down. It is a multiple of a
// day.
const shift = 24 * 1_000_000

// readGroups reads the hours between from (inclusive) and to (exclusive), aggregated in groups of
// size hours. The Hour of a result is the first hour of its group. CROSS JOIN makes SQLite look up
// the last hour of each group. Otherwise, if most tenants have a single hour, it would scan all
// groups for each hour.
func (s store) readGroups(ctx context.Context, k usage.StreamKey, from, to, size int64) ([]usage.Hour, error) {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `SELECT g.part, g.events, g.units, g.millionths, g.highest, h.last, h.last_at
FROM (
    SELECT (u.hour + $5::bigint) / $6::bigint AS part, sum(u.events)::bigint AS events, sum(u.units)::bigint AS units,
        sum(u.millionths)::bigint AS millionths, max(u.highest) AS highest, max(u.hour) AS latest
    FROM usage_hours u
    WHERE u.tenant_id = $1 AND u.meter_id = $2 AND u.hour >= $3::bigint AND u.hour < $4::bigint
    GROUP BY (u.hour + $5::bigint) / $6::bigint
) g
CROSS JOIN usage_hours h
WHERE h.tenant_id = $1 AND h.meter_id = $2 AND h.hour = g.latest
ORDER BY g.part`, k.TenantID, k.MeterID, from, to, int64(shift), size)
	if err != nil {
		return nil, sqldb.Wrap(err, "read hours")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	var groups []usage.Hour
	for rows.Next() {
		h := usage.Hour{Stream: k}
		if err := rows.Scan(&h.Hour, &h.Events, &h.Units, &h.Millionths, (*int64)(&h.Highest), (*int64)(&h.Last), &h.LastAt); err != nil {
			return nil, sqldb.Wrap(err, "read hours")
		}
		h.Hour, h.LastAt = h.Hour*size-shift, h.LastAt.UTC()
		groups = append(groups, h)
	}
	return groups, sqldb.Wrap(rows.Err(), "read hours")
}

// exportPage calls f for the events of a period, in order, until f returns false or n events are
// read. Events at the start of the period with an ID up to after are skipped. It reports whether
// there may be more events. Rows after the last event are not loaded into memory.
func (s store) exportPage(
	ctx context.Context, k usage.StreamKey, p usage.Period, after uuid.UUID, n int, f func(exportedEvent) (more bool, err error),
) (more bool, err error) {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, exportPage, k.TenantID, k.MeterID, p.Start, p.End, after, n)
	if err != nil {
		return false, sqldb.Wrap(err, "read events to export")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for read := 1; rows.Next(); read++ {
		var e exportedEvent
		if err := rows.Scan(&e.id, (*int64)(&e.quantity), &e.recordedAt, &e.key, &e.metadata); err != nil {
			return false, sqldb.Wrap(err, "read events to export")
		}
		e.recordedAt = e.recordedAt.UTC()
		if more, err := f(e); !more || read == n || err != nil {
			return true, err
		}
	}
	return false, sqldb.Wrap(rows.Err(), "read events to export")
}

// meter returns a meter, active or not, by its code. It returns errNoMeter if there is no such
// meter.
func (s store) meter(ctx context.Context, code string) (usage.Meter, error) {
	row, err := s.q(ctx).MeterOfHistory(ctx, code)
	return usage.Meter{
		ID: row.ID, Code: row.Code, Aggregation: usage.Aggregation(row.AggregationType), UnitLabel: row.UnitLabel,
	}, sqldb.WrapAbsent(err, "read meter", errNoMeter)
}
