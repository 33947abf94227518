package retention

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/retention/retentionsql"
)

// store has the SQL of the package. Its methods take part in the transaction of their context.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *retentionsql.Queries { return retentionsql.New(s.db.Conn(ctx)) }

// streamsWithEvents lists at most n streams, starting at from, that have events in a period.
func (s store) streamsWithEvents(ctx context.Context, from usage.StreamKey, p usage.Period, n int32) ([]usage.StreamKey, error) {
	rows, err := s.q(ctx).StreamsWithEvents(ctx, retentionsql.StreamsWithEventsParams{
		TenantID: from.TenantID, MeterID: from.MeterID, Since: p.Start, Until: p.End, MaxStreams: n,
	})
	keys := make([]usage.StreamKey, len(rows))
	for i, row := range rows {
		keys[i] = usage.StreamKey(row)
	}
	return keys, sqldb.Wrap(err, "list streams with events")
}

// stream is a pair of a tenant and a meter with events.
type stream struct {
	key     usage.StreamKey
	deleted prunedTotals
}

// streamsAfter lists at most n streams after a position, of one tenant unless tenantID is nil.
func (s store) streamsAfter(ctx context.Context, after usage.StreamKey, tenantID *uuid.UUID, n int32) ([]stream, error) {
	rows, err := s.q(ctx).StreamsFrom(ctx, retentionsql.StreamsFromParams{
		TenantID: after.TenantID, MeterID: after.MeterID, OnlyTenant: tenantID, MaxStreams: n,
	})
	streams := make([]stream, len(rows))
	for i, row := range rows {
		streams[i] = stream{usage.StreamKey{TenantID: row.TenantID, MeterID: row.MeterID}, prunedTotalsOf(row)}
	}
	return streams, sqldb.Wrap(err, "list streams")
}

// oldestEvents lists at most n events of a stream in a period, oldest first.
func (s store) oldestEvents(ctx context.Context, k usage.StreamKey, p usage.Period, n int32) ([]event, error) {
	rows, err := s.q(ctx).OldestEvents(ctx, retentionsql.OldestEventsParams{
		TenantID: k.TenantID, MeterID: k.MeterID, Since: p.Start, Until: p.End, MaxEvents: n,
	})
	events := make([]event, len(rows))
	for i, row := range rows {
		events[i] = event{
			stream: k, id: row.ID, quantity: money.Quantity(row.Quantity), idempotencyKey: row.IdempotencyKey,
			recordedAt: row.RecordedAt, metadata: row.Metadata, storedAt: row.CreatedAt, granted: grantedOf(row.Granted),
		}
	}
	return events, sqldb.Wrap(err, "list oldest events")
}

func grantedOf(stored *int64) money.Quantity {
	if stored == nil {
		return 0
	}
	return money.Quantity(*stored)
}

// insertKeys stores the idempotency keys of events that are about to be deleted.
func (s store) insertKeys(ctx context.Context, keys []retiredKey) error {
	if len(keys) == 0 {
		return nil
	}
	rows := make([]any, 0, 4*len(keys))
	for _, k := range keys {
		rows = append(rows, k.stream.TenantID, k.stream.MeterID, k.key, k.expires)
	}
	values, args := sqldb.InsertRows(s.db, rows, "uuid", "uuid", "text", "timestamptz")
	_, err := s.db.Conn(ctx).ExecContext(ctx, `INSERT INTO usage_keys (tenant_id, meter_id, idempotency_key, expires_at) `+
		values+` ON CONFLICT DO NOTHING`, args...)
	return sqldb.Wrap(err, "store keys of deleted events")
}

// expireKeys deletes at most n expired keys and returns their number.
func (s store) expireKeys(ctx context.Context, now time.Time, n int32) (int64, error) {
	expired, err := s.q(ctx).ExpireKeys(ctx, retentionsql.ExpireKeysParams{Now: now, MaxKeys: n})
	return expired, sqldb.Wrap(err, "delete expired keys")
}

// deleteEvents deletes events and returns the events that it found, without their keys and
// metadata.
//
// It deletes stream by stream and limits the time range, because SQLite would scan the table for a
// list of complete primary keys.
func (s store) deleteEvents(ctx context.Context, events []event) (deleted []event, err error) {
	byStream := map[usage.StreamKey][]event{}
	for _, e := range events {
		byStream[e.stream] = append(byStream[e.stream], e)
	}
	for _, k := range slices.SortedFunc(maps.Keys(byStream), usage.StreamKey.Compare) {
		some, err := s.deleteOfStream(ctx, k, byStream[k])
		if err != nil {
			return nil, err
		}
		deleted = append(deleted, some...)
	}
	return deleted, nil
}

// deleteOfStream deletes events of one locked stream.
func (s store) deleteOfStream(ctx context.Context, k usage.StreamKey, events []event) (deleted []event, err error) {
	byTime := func(a, b event) int { return a.recordedAt.Compare(b.recordedAt) }
	ids := make([]uuid.UUID, len(events))
	for i, e := range events {
		ids[i] = e.id
	}
	among, more := sqldb.InCondition(s.db, 5, "uuid", ids)
	args := []any{k.TenantID, k.MeterID, slices.MinFunc(events, byTime).recordedAt, slices.MaxFunc(events, byTime).recordedAt}
	rows, err := s.db.Conn(ctx).QueryContext(ctx, `DELETE FROM usage_events
WHERE tenant_id = $1 AND meter_id = $2 AND recorded_at >= $3 AND recorded_at <= $4 AND id `+among+`
RETURNING recorded_at, id, quantity, coalesce(granted, 0)`, append(args, more...)...)
	if err != nil {
		return nil, sqldb.Wrap(err, "delete events")
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		e := event{stream: k}
		if err := rows.Scan(&e.recordedAt, &e.id, (*int64)(&e.quantity), (*int64)(&e.granted)); err != nil {
			return nil, sqldb.Wrap(err, "delete events")
		}
		deleted = append(deleted, e)
	}
	return deleted, sqldb.Wrap(rows.Err(), "delete events")
}

// prunedTotals returns the totals of the deleted events of a stream. They are zero if no event was
// deleted or recorded.
func (s store) prunedTotals(ctx context.Context, k usage.StreamKey) (prunedTotals, error) {
	row, err := s.q(ctx).Stream(ctx, retentionsql.StreamParams{TenantID: k.TenantID, MeterID: k.MeterID})
	if errors.Is(err, sqldb.ErrNoRows) {
		return prunedTotals{}, nil
	}
	return prunedTotalsOf(row), sqldb.Wrap(err, "read stream")
}

func prunedTotalsOf(row retentionsql.UsageStream) prunedTotals {
	return prunedTotals{
		granted: money.NewTotal(row.PrunedGrantedUnits, row.PrunedGrantedMillionths),
		before:  row.PrunedBefore, events: row.PrunedEvents, units: row.PrunedUnits, millionths: row.PrunedMillionths,
		highest: money.Quantity(row.PrunedHighest), last: money.Quantity(row.PrunedLast), lastAt: row.PrunedLastAt,
	}
}

// putPrunedTotals stores the totals of the deleted events of a locked stream.
func (s store) putPrunedTotals(ctx context.Context, k usage.StreamKey, p prunedTotals) error {
	err := s.q(ctx).MarkPruned(ctx, retentionsql.MarkPrunedParams{
		TenantID: k.TenantID, MeterID: k.MeterID, PrunedBefore: p.before, PrunedEvents: p.events, PrunedUnits: p.units,
		PrunedMillionths: p.millionths, PrunedHighest: int64(p.highest), PrunedLast: int64(p.last), PrunedLastAt: p.lastAt,
		PrunedGrantedUnits: p.granted.Units, PrunedGrantedMillionths: p.granted.Millionths,
	})
	return sqldb.Wrap(err, "store totals of deleted events")
}

// countersOf lists the counters of a stream.
func (s store) countersOf(ctx context.Context, k usage.StreamKey) ([]usage.Counter, error) {
	rows, err := s.q(ctx).CountersOfStream(ctx, retentionsql.CountersOfStreamParams{TenantID: k.TenantID, MeterID: k.MeterID})
	counters := make([]usage.Counter, len(rows))
	for i, row := range rows {
		counters[i] = counterOf(row)
	}
	return counters, sqldb.Wrap(err, "list counters of a stream")
}
