package usage

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// The statements of recording, the hot path, each for many rows at once, which sqlc
// cannot generate. Where none of the rows is there they return empty maps.

// streamState is what a stream's row says besides its key.
type streamState struct {
	pruned       bool       // events of the stream were deleted
	summedBefore *time.Time // the hours contain the events recorded before; nil: no events
}

// lockStreams lets nobody else record on the streams until the transaction ends, and
// returns their states. keys must be sorted: everybody locks in that order.
func (s store) lockStreams(ctx context.Context, keys []StreamKey) (map[StreamKey]streamState, error) {
	states, err := s.lock(ctx, keys)
	if err != nil || len(states) == len(keys) {
		return states, err
	}
	// Some are new. Inserting their rows locks them; where another transaction inserts
	// the same row, this waits until it has committed.
	if err := s.insertStreams(ctx, keys); err != nil {
		return nil, err
	}
	return s.lock(ctx, keys)
}

// insertStreams inserts the streams that do not exist.
func (s store) insertStreams(ctx context.Context, keys []StreamKey) error {
	rows := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		rows = append(rows, k.TenantID, k.MeterID)
	}
	streams, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid")
	err := s.exec(ctx, `INSERT INTO usage_streams (tenant_id, meter_id) `+streams+` ON CONFLICT DO NOTHING`, args)
	return sqldb.Wrap(err, "insert streams")
}

// lock locks those of the streams that exist and returns their states.
func (s store) lock(ctx context.Context, keys []StreamKey) (map[StreamKey]streamState, error) {
	states := make(map[StreamKey]streamState, len(keys))
	return states, s.db.Each(ctx, s.lockQuery(keys, states))
}

// lockQuery locks those of the streams that exist and reads their states into found.
func (s store) lockQuery(keys []StreamKey, found map[StreamKey]streamState) sqldb.Query {
	among, args := s.amongStreams(1, keys)
	return sqldb.Query{
		Doing: "lock streams",
		Text: `SELECT tenant_id, meter_id, pruned_before IS NOT NULL, summed_before FROM usage_streams WHERE (tenant_id, meter_id) ` +
			among + ` ORDER BY tenant_id, meter_id FOR UPDATE`,
		Args: args,
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var state streamState
			err := scan(&k.TenantID, &k.MeterID, &state.pruned, &state.summedBefore)
			found[k] = state
			return err
		},
	}
}

// counters reads the counters of streams whose periods overlap a time, its end included.
func (s store) counters(ctx context.Context, keys []StreamKey, in Period) (map[StreamKey][]*Counter, error) {
	found := make(map[StreamKey][]*Counter, len(keys))
	return found, s.db.Each(ctx, s.countersQuery(keys, in, found))
}

// countersQuery is counters, into found.
func (s store) countersQuery(keys []StreamKey, in Period, found map[StreamKey][]*Counter) sqldb.Query {
	among, args := s.amongStreams(3, keys)
	return sqldb.Query{
		Doing: "read counters",
		Text: `SELECT c.tenant_id, c.meter_id, c.period_start, c.period_end, c.units, c.millionths, c.last_recorded_at
FROM usage_counters c
WHERE c.period_end > $1::timestamptz AND c.period_start <= $2::timestamptz
    AND (c.tenant_id, c.meter_id) ` + among,
		Args: append([]any{in.Start, in.End}, args...),
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var c Counter
			err := scan(&k.TenantID, &k.MeterID, &c.Period.Start, &c.Period.End, &c.Value.Units, &c.Value.Millionths, &c.LastRecordedAt)
			found[k] = append(found[k], &c)
			return err
		},
	}
}

// countersAtQuery reads the counters of tenants whose periods contain now into found, which gets
// every stream of the tenants, with an empty list where no such counter is stored.
func (s store) countersAtQuery(tenantIDs []uuid.UUID, now time.Time, found map[StreamKey][]*Counter) sqldb.Query {
	among, args := sqldb.Among(s.db, 3, "uuid", tenantIDs)
	return sqldb.Query{
		Doing: "read counters",
		Text: `SELECT s.tenant_id, s.meter_id, c.period_start, c.period_end, c.units, c.millionths, c.last_recorded_at
FROM usage_streams s
LEFT JOIN usage_counters c ON c.tenant_id = s.tenant_id AND c.meter_id = s.meter_id
    AND c.period_end > $1::timestamptz AND c.period_start <= $2::timestamptz
WHERE s.tenant_id ` + among,
		Args: append([]any{now, now}, args...),
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var start, end, last *time.Time
			var units, millionths *int64
			err := scan(&k.TenantID, &k.MeterID, &start, &end, &units, &millionths, &last)
			known := found[k]
			if units != nil {
				known = append(known, &Counter{
					Period: Period{Start: *start, End: *end}, Value: money.Total{Units: *units, Millionths: *millionths}, LastRecordedAt: last,
				})
			}
			found[k] = known
			return err
		},
	}
}

// changedCounter is a counter of a stream, to be stored.
type changedCounter struct {
	StreamKey
	*Counter
}

// putCounters stores new and changed counters.
func (s store) putCounters(ctx context.Context, counters []changedCounter, now time.Time) error {
	if len(counters) == 0 {
		return nil
	}
	rows := make([]any, 0, 8*len(counters))
	for _, c := range counters {
		rows = append(rows, c.TenantID, c.MeterID, c.Period.Start, c.Period.End, c.Value.Units, c.Value.Millionths, c.LastRecordedAt, now)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "timestamptz", "timestamptz", "bigint", "bigint", "timestamptz", "timestamptz")
	err := s.exec(ctx, `INSERT INTO usage_counters (tenant_id, meter_id, period_start, period_end, units, millionths, last_recorded_at, updated_at)
SELECT * FROM (`+values+`) AS changed
WHERE true
ON CONFLICT (tenant_id, period_end, meter_id, period_start) DO UPDATE
SET units = excluded.units, millionths = excluded.millionths, last_recorded_at = excluded.last_recorded_at, updated_at = excluded.updated_at`, args)
	if err != nil {
		return sqldb.Wrap(err, "store counters")
	}
	return nil
}

func (s store) exec(ctx context.Context, query string, args []any) error {
	_, err := s.db.Conn(ctx).ExecContext(ctx, query, args...)
	return err
}

// amongStreams returns the condition that (tenant_id, meter_id) is one of the streams, of which
// there is at least one, with placeholders from first on.
func (s store) amongStreams(first int, keys []StreamKey) (condition string, args []any) {
	rows := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		rows = append(rows, k.TenantID, k.MeterID)
	}
	values, args := sqldb.Values(s.db, first, rows, "uuid", "uuid")
	return "IN (" + values + ")", args
}
