// Package events stores usage events and finds their idempotency keys, in the layout that
// docs/adr/0031-layout-of-events.md describes. Those who read events use the view usage_stored.
package events

import (
	"bytes"
	"cmp"
	"context"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// StreamKey names a stream: what one tenant records on one meter.
type StreamKey struct{ TenantID, MeterID uuid.UUID }

// Compare sorts streams in the order in which everybody locks them.
func (k StreamKey) Compare(o StreamKey) int {
	return cmp.Or(bytes.Compare(k.TenantID[:], o.TenantID[:]), bytes.Compare(k.MeterID[:], o.MeterID[:]))
}

// Event is a stored event.
type Event struct {
	Stream         StreamKey
	Number         *int64 // of the stream: the event goes to usage_records; nil: to usage_events
	ID             uuid.UUID
	Quantity       money.Quantity
	IdempotencyKey *string
	RecordedAt     time.Time
	Metadata       sqldb.JSON
	StoredAt       time.Time
}

// maxNumber bounds the numbers of streams: SQLite stores up to this one in six bytes.
const maxNumber = 1<<47 - 1

// NewNumber draws a number for a stream. That two of a million streams draw the same one
// happens in four installations of a thousand; the second is refused, and draws again.
func NewNumber() int64 { return 1 + rand.Int64N(maxNumber) } //nolint:gosec // It is no secret.

// Store is the SQL of events. Its methods take part in the transaction of their context.
type Store struct{ db *sqldb.DB }

// NewStore returns the store of a database.
func NewStore(db *sqldb.DB) Store { return Store{db} }

// Key is an idempotency key of a stream.
type Key struct {
	StreamKey
	Key string
}

// KeysOfEvents returns those of the keys that belong to events in usage_events.
func (s Store) KeysOfEvents(ctx context.Context, keys []Key) (map[Key]bool, error) {
	return s.keysOf(ctx, "usage_events", keys)
}

// NumberedKey is an idempotency key of a stream with a number.
type NumberedKey struct {
	Number int64
	Key
}

// KeysOfRecords returns those of the keys that belong to events in usage_records.
func (s Store) KeysOfRecords(ctx context.Context, keys []NumberedKey) (map[Key]bool, error) {
	found := map[Key]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	streams := make(map[int64]StreamKey, len(keys))
	keys = sqldb.Padded(keys)
	args := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		streams[k.Number] = k.StreamKey
		args = append(args, sqldb.ID(k.TenantID), k.Number, k.Key.Key)
	}
	return found, s.each(ctx, "look up idempotency keys", `SELECT r.stream, r.idempotency_key FROM (VALUES `+sqldb.Tuples(1, len(keys), "uuid", "bigint", "text")+`) v
CROSS JOIN usage_records r
WHERE r.idempotency_key IS NOT NULL AND r.tenant_id = v.column1 AND r.stream = v.column2 AND r.idempotency_key = v.column3`, args,
		func(scan func(...any) error) error {
			var number int64
			var key string
			err := scan(&number, &key)
			found[Key{streams[number], key}] = true
			return err
		})
}

// KeysOfDeleted returns those of the keys that belong to deleted events. The streams
// must be locked.
func (s Store) KeysOfDeleted(ctx context.Context, keys []Key) (map[Key]bool, error) {
	return s.keysOf(ctx, "usage_keys", keys)
}

// keysOf returns those of the keys that are in a table. The join has SQLite look each key up;
// where it is given a list it may choose to go through the index.
func (s Store) keysOf(ctx context.Context, table string, keys []Key) (map[Key]bool, error) {
	found := map[Key]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	keys = sqldb.Padded(keys)
	args := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		args = append(args, k.TenantID, k.MeterID, k.Key)
	}
	return found, s.each(ctx, "look up idempotency keys", `SELECT e.tenant_id, e.meter_id, e.idempotency_key FROM (VALUES `+sqldb.Tuples(1, len(keys), "uuid", "uuid", "text")+`) v
CROSS JOIN `+table+` e
WHERE e.idempotency_key IS NOT NULL AND e.tenant_id = v.column1 AND e.meter_id = v.column2 AND e.idempotency_key = v.column3`, args,
		func(scan func(...any) error) error {
			var k Key
			err := scan(&k.TenantID, &k.MeterID, &k.Key)
			found[k] = true
			return err
		})
}

// Insert stores events, whose streams are locked, and returns the ids of those that it stored:
// not of those whose idempotency key is that of an earlier one of events, or of an event in the
// table that they go to.
func (s Store) Insert(ctx context.Context, events []Event) (map[uuid.UUID]bool, error) {
	stored := make(map[uuid.UUID]bool, len(events))
	numbered := make([]Event, 0, len(events))
	var others []Event
	for _, e := range events {
		if e.Number == nil {
			others = append(others, e)
		} else {
			numbered = append(numbered, e)
		}
	}
	if err := s.insertInto(ctx, `usage_records (tenant_id, stream, recorded_at, quantity, delay, id, idempotency_key, metadata)`,
		[]string{"uuid", "bigint", "timestamptz", "bigint", "bigint", "uuid", "text", "jsonb"}, numbered, stored, func(args []any, e Event) []any {
			at := e.RecordedAt.Truncate(time.Microsecond)
			delay := e.StoredAt.Truncate(time.Microsecond).Sub(at).Microseconds()
			return append(args, sqldb.ID(e.Stream.TenantID), *e.Number, at, int64(e.Quantity), delay, sqldb.ID(e.ID), e.IdempotencyKey, e.Metadata)
		}); err != nil {
		return nil, err
	}
	err := s.insertInto(ctx, `usage_events (tenant_id, id, meter_id, quantity, idempotency_key, recorded_at, metadata, created_at)`,
		[]string{"uuid", "uuid", "uuid", "bigint", "text", "timestamptz", "jsonb", "timestamptz"}, others, stored, func(args []any, e Event) []any {
			return append(args, e.Stream.TenantID, e.ID, e.Stream.MeterID, int64(e.Quantity), e.IdempotencyKey, e.RecordedAt, e.Metadata, e.StoredAt)
		})
	return stored, err
}

// insertInto stores events in a table and adds the ids of those that it stored.
func (s Store) insertInto(
	ctx context.Context, table string, types []string, events []Event, stored map[uuid.UUID]bool, row func(args []any, e Event) []any,
) error {
	if len(events) == 0 {
		return nil
	}
	events = sqldb.Padded(events) // a repeated row is in conflict with itself
	args := make([]any, 0, len(types)*len(events))
	for _, e := range events {
		args = row(args, e)
	}
	return s.each(ctx, "insert events", `INSERT INTO `+table+` VALUES `+sqldb.Tuples(1, len(events), types...)+` ON CONFLICT DO NOTHING RETURNING id`, args,
		func(scan func(...any) error) error {
			var id uuid.UUID
			err := scan(&id)
			stored[id] = true
			return err
		})
}

// each calls read for every row of a result.
func (s Store) each(ctx context.Context, doing, query string, args []any, read func(scan func(...any) error) error) error {
	return s.db.Each(ctx, sqldb.Query{Doing: doing, Text: query, Args: args, Row: read})
}
