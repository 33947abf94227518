package usage

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// Statements of the hot path, for many rows at once, which sqlc cannot write.

// lockStreams serializes recording of each tenant on each meter until the
// transaction ends, and tells which of the streams had events deleted. keys must
// be sorted: everybody locks in that order.
func (s store) lockStreams(ctx context.Context, keys []streamKey) (pruned map[streamKey]bool, err error) {
	locked, pruned, err := s.lock(ctx, keys)
	if err != nil || locked == len(keys) {
		return pruned, err
	}
	// Some are new. Their rows are locked by inserting them; who inserted them at
	// the same time has committed when this returns.
	padded := sqldb.Padded(keys)
	err = s.exec(ctx, `INSERT INTO usage_streams (tenant_id, meter_id) VALUES `+
		sqldb.Tuples(1, len(padded), "uuid", "uuid")+` ON CONFLICT DO NOTHING`, keyArgs(padded))
	if err != nil {
		return nil, fmt.Errorf("usage: insert streams: %w", err)
	}
	_, pruned, err = s.lock(ctx, keys)
	return pruned, err
}

// lock locks those of the streams that exist, counts them, and tells which of
// them had events deleted.
func (s store) lock(ctx context.Context, keys []streamKey) (n int, pruned map[streamKey]bool, err error) {
	keys = sqldb.Padded(keys)
	pruned = map[streamKey]bool{}
	err = s.each(ctx, `SELECT tenant_id, meter_id, pruned_before FROM usage_streams WHERE (tenant_id, meter_id) IN (VALUES `+
		sqldb.Tuples(1, len(keys), "uuid", "uuid")+`) ORDER BY tenant_id, meter_id FOR UPDATE`, keyArgs(keys),
		func(scan func(...any) error) error {
			var k streamKey
			var before *time.Time
			err := scan(&k.tenantID, &k.meterID, &before)
			if before != nil {
				pruned[k] = true
			}
			n++
			return err
		})
	if err != nil {
		return 0, nil, fmt.Errorf("usage: lock streams: %w", err)
	}
	return n, pruned, nil
}

// counters reads the counters of streams whose period holds a time from earliest
// to latest.
func (s store) counters(ctx context.Context, keys []streamKey, earliest, latest time.Time) (map[streamKey][]*counter, error) {
	found := make(map[streamKey][]*counter, len(keys))
	keys = sqldb.Padded(keys)
	// The first two parameters are the times.
	err := s.each(ctx, `SELECT c.tenant_id, c.meter_id, c.period_start, c.period_end, c.value, c.last_recorded_at
FROM usage_counters c
WHERE c.period_end > $1::timestamptz AND c.period_start <= $2::timestamptz
    AND (c.tenant_id, c.meter_id) IN (VALUES `+sqldb.Tuples(3, len(keys), "uuid", "uuid")+`)`,
		append([]any{earliest, latest}, keyArgs(keys)...),
		func(scan func(...any) error) error {
			var k streamKey
			var c counter
			err := scan(&k.tenantID, &k.meterID, &c.period.Start, &c.period.End, &c.value, &c.last)
			found[k] = append(found[k], &c)
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("usage: counters: %w", err)
	}
	return found, nil
}

// countersAt reads the counters of tenants whose period holds now. Of something
// that a tenant has recorded there may be none; what was never recorded is missing.
func (s store) countersAt(ctx context.Context, tenantIDs []uuid.UUID, now time.Time) (map[streamKey][]*counter, error) {
	tenantIDs = sqldb.Padded(tenantIDs)
	args := make([]any, 0, 2+len(tenantIDs))
	args = append(args, now, now)
	for _, id := range tenantIDs {
		args = append(args, id)
	}
	found := map[streamKey][]*counter{}
	err := s.each(ctx, `SELECT s.tenant_id, s.meter_id, c.period_start, c.period_end, c.value, c.last_recorded_at
FROM usage_streams s
LEFT JOIN usage_counters c ON c.tenant_id = s.tenant_id AND c.meter_id = s.meter_id
    AND c.period_end > $1::timestamptz AND c.period_start <= $2::timestamptz
WHERE s.tenant_id IN (VALUES `+sqldb.Tuples(3, len(tenantIDs), "uuid")+`)`, args,
		func(scan func(...any) error) error {
			var k streamKey
			var start, end, last *time.Time
			var value *int64
			err := scan(&k.tenantID, &k.meterID, &start, &end, &value, &last)
			known := found[k]
			if value != nil {
				known = append(known, &counter{period: Period{Start: *start, End: *end}, value: money.Quantity(*value), last: last})
			}
			found[k] = known
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("usage: counters: %w", err)
	}
	return found, nil
}

// changedCounter is a counter of a stream, to be stored.
type changedCounter struct {
	streamKey
	*counter
}

// putCounters stores new and changed counters. DISTINCT, since a row of an upsert
// must not come twice.
func (s store) putCounters(ctx context.Context, counters []changedCounter, now time.Time) error {
	if len(counters) == 0 {
		return nil
	}
	counters = sqldb.Padded(counters)
	args := make([]any, 0, 7*len(counters))
	for _, c := range counters {
		args = append(args, c.tenantID, c.meterID, c.period.Start, c.period.End, int64(c.value), c.last, now)
	}
	err := s.exec(ctx, `INSERT INTO usage_counters (tenant_id, meter_id, period_start, period_end, value, last_recorded_at, updated_at)
SELECT DISTINCT * FROM (VALUES `+sqldb.Tuples(1, len(counters), "uuid", "uuid", "timestamptz", "timestamptz", "bigint", "timestamptz", "timestamptz")+`) AS c
WHERE true
ON CONFLICT (tenant_id, period_end, meter_id, period_start) DO UPDATE
SET value = excluded.value, last_recorded_at = excluded.last_recorded_at, updated_at = excluded.updated_at`, args)
	if err != nil {
		return fmt.Errorf("usage: put counters: %w", err)
	}
	return nil
}

// eventKey is an idempotency key in its stream.
type eventKey struct {
	streamKey
	key string
}

// usedKeys tells which of the keys stored events have.
func (s store) usedKeys(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	return s.keysOf(ctx, `SELECT tenant_id, meter_id, idempotency_key FROM usage_events
WHERE idempotency_key IS NOT NULL AND (tenant_id, meter_id, idempotency_key) IN (VALUES `, keys)
}

// spentKeys tells which of the keys deleted events had. The locks of their streams
// are held.
func (s store) spentKeys(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	return s.keysOf(ctx, `SELECT tenant_id, meter_id, idempotency_key FROM usage_keys
WHERE (tenant_id, meter_id, idempotency_key) IN (VALUES `, keys)
}

// keysOf runs a query that ends in a list of keys and tells which it found.
func (s store) keysOf(ctx context.Context, query string, keys []eventKey) (map[eventKey]bool, error) {
	found := map[eventKey]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	keys = sqldb.Padded(keys)
	args := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		args = append(args, k.tenantID, k.meterID, k.key)
	}
	err := s.each(ctx, query+sqldb.Tuples(1, len(keys), "uuid", "uuid", "text")+`)`, args,
		func(scan func(...any) error) error {
			var k eventKey
			err := scan(&k.tenantID, &k.meterID, &k.key)
			found[k] = true
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("usage: idempotency keys: %w", err)
	}
	return found, nil
}

// insertEvents stores events and returns the ids of those that it stored: of an
// idempotency key that was used before, or by an earlier one of events, it stores
// none.
func (s store) insertEvents(ctx context.Context, events []usagesql.UsageEvent) (map[uuid.UUID]bool, error) {
	stored := make(map[uuid.UUID]bool, len(events))
	if len(events) == 0 {
		return stored, nil
	}
	events = sqldb.Padded(events) // a repeated row is in conflict with itself
	args := make([]any, 0, 8*len(events))
	for _, e := range events {
		args = append(args, e.TenantID, e.ID, e.MeterID, e.Quantity, e.IdempotencyKey, e.RecordedAt, e.Metadata, e.CreatedAt)
	}
	err := s.each(ctx, `INSERT INTO usage_events (tenant_id, id, meter_id, quantity, idempotency_key, recorded_at, metadata, created_at)
VALUES `+sqldb.Tuples(1, len(events), "uuid", "uuid", "uuid", "bigint", "text", "timestamptz", "jsonb", "timestamptz")+`
ON CONFLICT DO NOTHING RETURNING id`, args,
		func(scan func(...any) error) error {
			var id uuid.UUID
			err := scan(&id)
			stored[id] = true
			return err
		})
	if err != nil {
		return nil, fmt.Errorf("usage: insert events: %w", err)
	}
	return stored, nil
}

func (s store) exec(ctx context.Context, query string, args []any) error {
	_, err := s.db.Conn(ctx).ExecContext(ctx, query, args...)
	return err
}

// each hands every row of a result to read.
func (s store) each(ctx context.Context, query string, args []any, read func(scan func(...any) error) error) error {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func keyArgs(keys []streamKey) []any {
	args := make([]any, 0, 2*len(keys))
	for _, k := range keys {
		args = append(args, k.tenantID, k.meterID)
	}
	return args
}
