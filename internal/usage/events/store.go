// Package events stores usage events and finds their idempotency keys, in the layout that
// docs/adr/0031-layout-of-events.md and 0036-events-by-the-month.md describe. Those who read
// events use the view usage_stored.
package events

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
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

// KeysOfRecords returns those of the keys that belong to events of usage_records, deleted ones
// included.
func (s Store) KeysOfRecords(ctx context.Context, keys []NumberedKey) (map[Key]bool, error) {
	found := map[Key]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	type place struct {
		number int64
		hash   sqldb.ID
	}
	places := make(map[place]Key, len(keys))
	keys = sqldb.Padded(keys)
	args := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		hash := hashOf(k.Key.Key)
		places[place{k.Number, hash}] = k.Key
		args = append(args, sqldb.ID(k.TenantID), k.Number, hash)
	}
	return found, s.each(ctx, "look up idempotency keys", `SELECT r.stream, r.hash FROM (VALUES `+sqldb.Tuples(1, len(keys), "uuid", "bigint", "uuid")+`) v
CROSS JOIN usage_record_keys r
WHERE r.tenant_id = v.column1 AND r.stream = v.column2 AND r.hash = v.column3`, args,
		func(scan func(...any) error) error {
			var p place
			err := scan(&p.number, &p.hash)
			found[places[p]] = true
			return err
		})
}

// KeysOfDeleted returns those of the keys that belong to deleted events of usage_events. The
// streams must be locked.
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
	if err := s.insertRecords(ctx, numbered, stored); err != nil {
		return nil, err
	}
	err := s.insertInto(ctx, `usage_events (tenant_id, id, meter_id, quantity, idempotency_key, recorded_at, metadata, created_at)`, values,
		[]string{"uuid", "uuid", "uuid", "bigint", "text", "timestamptz", "jsonb", "timestamptz"}, others, stored, func(args []any, e Event) []any {
			return append(args, e.Stream.TenantID, e.ID, e.Stream.MeterID, int64(e.Quantity), e.IdempotencyKey, e.RecordedAt, e.Metadata, e.StoredAt)
		})
	return stored, err
}

// insertRecords stores events of streams that have numbers.
//
// Invariant: a key belongs to the event that its row names, which is stored in the same
// transaction. Where the key was there before, its row names another event, and this one is not
// stored. Nobody else adds keys of these streams meanwhile, since their locks are held; without
// them the unique key would have one of two wait, and then find the other's row.
func (s Store) insertRecords(ctx context.Context, events []Event, stored map[uuid.UUID]bool) error {
	const into = `usage_records (tenant_id, stream, recorded_at, quantity, delay, id, idempotency_key, metadata)`
	types := []string{"uuid", "bigint", "timestamptz", "bigint", "bigint", "uuid", "text", "jsonb"}
	row := func(args []any, e Event) []any {
		at := e.RecordedAt.Truncate(time.Microsecond)
		delay := e.StoredAt.Truncate(time.Microsecond).Sub(at).Microseconds()
		return append(args, sqldb.ID(e.Stream.TenantID), *e.Number, at, int64(e.Quantity), delay, sqldb.ID(e.ID), e.IdempotencyKey, e.Metadata)
	}
	keyed := make([]Event, 0, len(events))
	for _, e := range events {
		if e.IdempotencyKey != nil {
			keyed = append(keyed, e)
		}
	}
	if len(keyed) == 0 {
		return s.insertInto(ctx, into, values, types, events, stored, row)
	}
	if err := s.insertKeys(sqldb.Later(ctx), keyed); err != nil { // goes with the events
		return err
	}
	return s.insertInto(ctx, into, func(tuples string) string {
		return `SELECT v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8 FROM (VALUES ` + tuples + `) v
WHERE v.column9 IS NULL
    OR v.column6 = (SELECT k.id FROM usage_record_keys k WHERE k.tenant_id = v.column1 AND k.stream = v.column2 AND k.hash = v.column9)`
	}, append(types, "uuid"), events, stored, func(args []any, e Event) []any {
		var hash any
		if e.IdempotencyKey != nil {
			hash = hashOf(*e.IdempotencyKey)
		}
		return append(row(args, e), hash)
	})
}

// insertKeys stores the keys of events, all of which have one, unless they are there.
func (s Store) insertKeys(ctx context.Context, events []Event) error {
	events = sqldb.Padded(events)
	args := make([]any, 0, 5*len(events))
	for _, e := range events {
		args = append(args, sqldb.ID(e.Stream.TenantID), *e.Number, DayOf(e.StoredAt), hashOf(*e.IdempotencyKey), sqldb.ID(e.ID))
	}
	_, err := s.db.Conn(ctx).ExecContext(ctx, `INSERT INTO usage_record_keys (tenant_id, stream, stored_on, hash, id) VALUES `+
		sqldb.Tuples(1, len(events), "uuid", "bigint", "integer", "uuid", "uuid")+` ON CONFLICT DO NOTHING`, args...)
	return sqldb.Wrap(err, "insert idempotency keys")
}

// InsertOldKeys stores keys from usage_keys: of deleted events of a stream, which is locked. They
// name no event, and count as stored before all others.
func (s Store) InsertOldKeys(ctx context.Context, k StreamKey, number int64, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	deleted := make([]Event, len(keys))
	for i := range keys {
		deleted[i] = Event{Stream: k, Number: &number, IdempotencyKey: &keys[i], StoredAt: time.Unix(0, 0)}
	}
	return s.insertKeys(ctx, deleted)
}

// hashOf stands for a key in usage_record_keys. That two keys have one hash does not happen by
// chance, and somebody who could bring it about would harm a tenant of their own.
func hashOf(key string) sqldb.ID {
	sum := sha256.Sum256([]byte(key))
	return sqldb.ID(sum[:16])
}

// DayOf numbers the day of UTC that a time is in, counted from 1970.
func DayOf(at time.Time) int32 { return int32(at.Unix() / (24 * 60 * 60)) }

func values(tuples string) string { return `VALUES ` + tuples }

// insertInto stores events in a table, from a query on their tuples, and adds the ids of those
// that it stored.
func (s Store) insertInto(
	ctx context.Context, table string, from func(tuples string) string, types []string, events []Event, stored map[uuid.UUID]bool,
	row func(args []any, e Event) []any,
) error {
	if len(events) == 0 {
		return nil
	}
	events = sqldb.Padded(events) // a repeated row is in conflict with itself
	args := make([]any, 0, len(types)*len(events))
	for _, e := range events {
		args = row(args, e)
	}
	return s.each(ctx, "insert events", `INSERT INTO `+table+` `+from(sqldb.Tuples(1, len(events), types...))+` ON CONFLICT DO NOTHING RETURNING id`, args,
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
