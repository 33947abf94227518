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
	pruned       bool       // it had events deleted
	summedBefore *time.Time // the hours have its events that were recorded before; nil: none
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
	padded := sqldb.Padded(keys)
	err = s.exec(ctx, `INSERT INTO usage_streams (tenant_id, meter_id) VALUES `+
		sqldb.Tuples(1, len(padded), "uuid", "uuid")+` ON CONFLICT DO NOTHING`, keyArgs(padded))
	if err != nil {
		return nil, sqldb.Wrap(err, "insert streams")
	}
	return s.lock(ctx, keys)
}

// lock locks those of the streams that exist and returns their states.
func (s store) lock(ctx context.Context, keys []StreamKey) (map[StreamKey]streamState, error) {
	states := make(map[StreamKey]streamState, len(keys))
	return states, s.db.Each(ctx, lockQuery(keys, states))
}

// lockQuery locks those of the streams that exist and reads their states into found.
func lockQuery(keys []StreamKey, found map[StreamKey]streamState) sqldb.Query {
	keys = sqldb.Padded(keys)
	return sqldb.Query{
		Doing: "lock streams",
		Text: `SELECT tenant_id, meter_id, pruned_before IS NOT NULL, summed_before FROM usage_streams WHERE (tenant_id, meter_id) IN (VALUES ` +
			sqldb.Tuples(1, len(keys), "uuid", "uuid") + `) ORDER BY tenant_id, meter_id FOR UPDATE`,
		Args: keyArgs(keys),
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var state streamState
			err := scan(&k.TenantID, &k.MeterID, &state.pruned, &state.summedBefore)
			found[k] = state
			return err
		},
	}
}

// counters reads the counters of streams whose periods overlap the time from earliest
// to latest.
func (s store) counters(ctx context.Context, keys []StreamKey, earliest, latest time.Time) (map[StreamKey][]*Counter, error) {
	found := make(map[StreamKey][]*Counter, len(keys))
	return found, s.db.Each(ctx, countersQuery(keys, earliest, latest, found))
}

// countersQuery is counters, into found.
func countersQuery(keys []StreamKey, earliest, latest time.Time, found map[StreamKey][]*Counter) sqldb.Query {
	keys = sqldb.Padded(keys)
	// The first two parameters are the times.
	return sqldb.Query{
		Doing: "read counters",
		Text: `SELECT c.tenant_id, c.meter_id, c.period_start, c.period_end, c.units, c.millionths, c.last_recorded_at
FROM usage_counters c
WHERE c.period_end > $1::timestamptz AND c.period_start <= $2::timestamptz
    AND (c.tenant_id, c.meter_id) IN (VALUES ` + sqldb.Tuples(3, len(keys), "uuid", "uuid") + `)`,
		Args: append([]any{earliest, latest}, keyArgs(keys)...),
		Row: func(scan func(...any) error) error {
			var k StreamKey
			var c Counter
			err := scan(&k.TenantID, &k.MeterID, &c.Period.Start, &c.Period.End, &c.Value.Units, &c.Value.Millionths, &c.LastRecordedAt)
			found[k] = append(found[k], &c)
			return err
		},
	}
}

// countersAt reads the counters of tenants whose periods contain now. The map has every
// stream of the tenants, with an empty list where no such counter is stored.
func (s store) countersAt(ctx context.Context, tenantIDs []uuid.UUID, now time.Time) (map[StreamKey][]*Counter, error) {
	found := map[StreamKey][]*Counter{}
	return found, s.db.Each(ctx, countersAtQuery(tenantIDs, now, found))
}

// countersAtQuery is countersAt, into found.
func countersAtQuery(tenantIDs []uuid.UUID, now time.Time, found map[StreamKey][]*Counter) sqldb.Query {
	tenantIDs = sqldb.Padded(tenantIDs)
	args := make([]any, 0, 2+len(tenantIDs))
	args = append(args, now, now)
	for _, id := range tenantIDs {
		args = append(args, id)
	}
	return sqldb.Query{
		Doing: "read counters",
		Text: `SELECT s.tenant_id, s.meter_id, c.period_start, c.period_end, c.units, c.millionths, c.last_recorded_at
FROM usage_streams s
LEFT JOIN usage_counters c ON c.tenant_id = s.tenant_id AND c.meter_id = s.meter_id
    AND c.period_end > $1::timestamptz AND c.period_start <= $2::timestamptz
WHERE s.tenant_id IN ` + sqldb.List(3, len(tenantIDs), "uuid"),
		Args: args,
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

// putCounters stores new and changed counters. The DISTINCT removes the repetitions
// that Padded adds: an upsert must not write a row twice.
func (s store) putCounters(ctx context.Context, counters []changedCounter, now time.Time) error {
	if len(counters) == 0 {
		return nil
	}
	counters = sqldb.Padded(counters)
	args := make([]any, 0, 8*len(counters))
	for _, c := range counters {
		args = append(args, c.TenantID, c.MeterID, c.Period.Start, c.Period.End, c.Value.Units, c.Value.Millionths, c.LastRecordedAt, now)
	}
	err := s.exec(ctx, `INSERT INTO usage_counters (tenant_id, meter_id, period_start, period_end, units, millionths, last_recorded_at, updated_at)
SELECT DISTINCT * FROM (VALUES `+sqldb.Tuples(1, len(counters), "uuid", "uuid", "timestamptz", "timestamptz", "bigint", "bigint", "timestamptz", "timestamptz")+`) AS changed
WHERE true
ON CONFLICT (tenant_id, period_end, meter_id, period_start) DO UPDATE
SET units = excluded.units, millionths = excluded.millionths, last_recorded_at = excluded.last_recorded_at, updated_at = excluded.updated_at`, args)
	if err != nil {
		return sqldb.Wrap(err, "store counters")
	}
	return nil
}

// eventKey is an idempotency key of a stream.
type eventKey struct {
	StreamKey
	key string
}

// keysOfStored returns those of the keys that belong to stored events.
func (s store) keysOfStored(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	return s.keysOf(ctx, `SELECT tenant_id, meter_id, idempotency_key FROM usage_events
WHERE idempotency_key IS NOT NULL AND (tenant_id, meter_id, idempotency_key) IN (VALUES `, keys)
}

// keysOfDeleted returns those of the keys that belong to deleted events. The streams
// must be locked.
func (s store) keysOfDeleted(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	return s.keysOf(ctx, `SELECT tenant_id, meter_id, idempotency_key FROM usage_keys
WHERE (tenant_id, meter_id, idempotency_key) IN (VALUES `, keys)
}

// keysOf runs a query that ends in a list of keys and returns those that it found.
func (s store) keysOf(ctx context.Context, query string, keys []eventKey) (map[eventKey]bool, error) {
	found := map[eventKey]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	keys = sqldb.Padded(keys)
	args := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		args = append(args, k.TenantID, k.MeterID, k.key)
	}
	return found, s.db.Each(ctx, sqldb.Query{
		Doing: "look up idempotency keys",
		Text:  query + sqldb.Tuples(1, len(keys), "uuid", "uuid", "text") + `)`,
		Args:  args,
		Row: func(scan func(...any) error) error {
			var k eventKey
			err := scan(&k.TenantID, &k.MeterID, &k.key)
			found[k] = true
			return err
		},
	})
}

// insertEvents stores events and returns the ids of those that it stored: not of those
// whose idempotency key a stored event or an earlier one of events has.
func (s store) insertEvents(ctx context.Context, events []storedEvent) (map[uuid.UUID]bool, error) {
	stored := make(map[uuid.UUID]bool, len(events))
	if len(events) == 0 {
		return stored, nil
	}
	events = sqldb.Padded(events) // a repeated row is in conflict with itself
	args := make([]any, 0, 8*len(events))
	for _, e := range events {
		args = append(args, e.stream.TenantID, e.id, e.stream.MeterID, int64(e.quantity), e.idempotencyKey, e.recordedAt, e.metadata, e.storedAt)
	}
	return stored, s.db.Each(ctx, sqldb.Query{
		Doing: "insert events",
		Text: `INSERT INTO usage_events (tenant_id, id, meter_id, quantity, idempotency_key, recorded_at, metadata, created_at)
VALUES ` + sqldb.Tuples(1, len(events), "uuid", "uuid", "uuid", "bigint", "text", "timestamptz", "jsonb", "timestamptz") + `
ON CONFLICT DO NOTHING RETURNING id`,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			err := scan(&id)
			stored[id] = true
			return err
		},
	})
}

func (s store) exec(ctx context.Context, query string, args []any) error {
	_, err := s.db.Conn(ctx).ExecContext(ctx, query, args...)
	return err
}

func keyArgs(keys []StreamKey) []any {
	args := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		args = append(args, k.TenantID, k.MeterID)
	}
	return args
}
