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
	"slices"
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

// KeysApart reports whether the keys of usage_records have a table of their own, usage_record_keys,
// where they stay when their events are deleted. So it is on PostgreSQL, where a key cannot be
// unique in a table with partitions. SQLite has them in an index, which is written in half of the
// time, and the keys of deleted events are in usage_keys.
func (s Store) KeysApart() bool { return s.db.Dialect() == sqldb.Postgres }

// KeysOfRecords returns those of the keys that belong to events of usage_records, where they are
// apart deleted ones included.
func (s Store) KeysOfRecords(ctx context.Context, keys []NumberedKey) (map[Key]bool, error) {
	found := map[Key]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	type place struct {
		number int64
		key    any // or its hash
	}
	places := make(map[place]Key, len(keys))
	rows := make([]any, 0, 3*len(keys))
	table, column, kind := "usage_records", "idempotency_key", "text"
	if s.KeysApart() {
		table, column, kind = "usage_record_keys", "hash", "uuid"
	}
	for _, k := range keys {
		p := place{k.Number, k.Key.Key}
		if s.KeysApart() {
			p.key = hashOf(k.Key.Key)
		}
		places[p] = k.Key
		rows = append(rows, sqldb.ID(k.TenantID), k.Number, p.key)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "bigint", kind)
	return found, s.each(ctx, "look up idempotency keys", `SELECT r.stream, r.`+column+` FROM (`+values+`) v
CROSS JOIN `+table+` r
WHERE r.`+column+` IS NOT NULL AND r.tenant_id = v.column1 AND r.stream = v.column2 AND r.`+column+` = v.column3`, args,
		func(scan func(...any) error) (err error) {
			var p place
			var hash sqldb.ID
			var key string
			if s.KeysApart() {
				err = scan(&p.number, &hash)
				p.key = hash
			} else {
				err = scan(&p.number, &key)
				p.key = key
			}
			found[places[p]] = true
			return err
		})
}

// KeysOfDeleted returns those of the keys that belong to deleted events, unless these are apart
// (see KeysApart). The streams must be locked.
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
	rows := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		rows = append(rows, k.TenantID, k.MeterID, k.Key)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "text")
	return found, s.each(ctx, "look up idempotency keys", `SELECT e.tenant_id, e.meter_id, e.idempotency_key FROM (`+values+`) v
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
	return stored, s.insertUnmoved(ctx, others, stored)
}

// insertUnmoved stores events of streams that have no numbers yet, and adds the ids of those that
// it stored.
func (s Store) insertUnmoved(ctx context.Context, events []Event, stored map[uuid.UUID]bool) error {
	if len(events) == 0 {
		return nil
	}
	rows := make([]any, 0, 8*len(events))
	for _, e := range events {
		rows = append(rows, e.Stream.TenantID, e.ID, e.Stream.MeterID, int64(e.Quantity), e.IdempotencyKey, e.RecordedAt, e.Metadata, e.StoredAt)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "uuid", "bigint", "text", "timestamptz", "jsonb", "timestamptz")
	all, err := s.insert(ctx, `INSERT INTO usage_events (tenant_id, id, meter_id, quantity, idempotency_key, recorded_at, metadata, created_at) `+values, args, events, stored)
	if all || err != nil {
		return err
	}
	rows = rows[:0]
	for _, e := range events {
		rows = append(rows, e.Stream.TenantID, e.Stream.MeterID, e.RecordedAt, e.ID)
	}
	values, args = sqldb.Values(s.db, 1, rows, "uuid", "uuid", "timestamptz", "uuid")
	return s.find(ctx, `SELECT e.id FROM (`+values+`) v
CROSS JOIN usage_events e
WHERE e.tenant_id = v.column1 AND e.meter_id = v.column2 AND e.recorded_at = v.column3 AND e.id = v.column4`, args, stored)
}

// insertRecords stores events of streams that have numbers, with their keys, and adds the ids of
// those that it stored.
//
// Invariant: a key and its event are stored in one statement, or neither is: an event with a key
// goes in where its key did. Nobody else adds keys of these streams meanwhile, since their
// locks are held. Without them the unique key would have one of two wait, and find the other's.
func (s Store) insertRecords(ctx context.Context, events []Event, stored map[uuid.UUID]bool) error {
	if len(events) == 0 {
		return nil
	}
	types := []string{"uuid", "bigint", "timestamptz", "bigint", "bigint", "uuid", "text", "jsonb"}
	keysApart := s.KeysApart() && slices.ContainsFunc(events, func(e Event) bool { return e.IdempotencyKey != nil })
	if keysApart {
		types, events = append(types, "uuid"), firstOfKeys(events)
	}
	rows := make([]any, 0, len(types)*len(events))
	for _, e := range events {
		at := e.RecordedAt.Truncate(time.Microsecond)
		delay := e.StoredAt.Truncate(time.Microsecond).Sub(at).Microseconds()
		rows = append(rows, sqldb.ID(e.Stream.TenantID), *e.Number, at, int64(e.Quantity), delay, sqldb.ID(e.ID), e.IdempotencyKey, e.Metadata)
		switch {
		case keysApart && e.IdempotencyKey == nil:
			rows = append(rows, nil)
		case keysApart:
			rows = append(rows, hashOf(*e.IdempotencyKey))
		}
	}
	all, err := s.insertRows(ctx, keysApart, rows, types, events, stored)
	if all || err != nil {
		return err
	}
	rows = rows[:0]
	for _, e := range events {
		rows = append(rows, sqldb.ID(e.Stream.TenantID), *e.Number, e.RecordedAt.Truncate(time.Microsecond), sqldb.ID(e.ID))
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "bigint", "timestamptz", "uuid")
	return s.find(ctx, `SELECT r.id FROM (`+values+`) v
CROSS JOIN usage_records r
WHERE r.tenant_id = v.column1 AND r.stream = v.column2 AND r.recorded_at = v.column3 AND r.id = v.column4`, args, stored)
}

// insertRows is the insert of insertRecords. With keysApart the last column of rows is the hash of the key.
func (s Store) insertRows(ctx context.Context, keysApart bool, rows []any, types []string, events []Event, stored map[uuid.UUID]bool) (all bool, err error) {
	const into = `INSERT INTO usage_records (tenant_id, stream, recorded_at, quantity, delay, id, idempotency_key, metadata) `
	if !keysApart {
		values, args := sqldb.Values(s.db, 1, rows, types...)
		return s.insert(ctx, into+values, args, events, stored)
	}
	values, args := sqldb.Values(s.db, 2, rows, types...)
	return s.insert(ctx, // both in one round trip
		`WITH v AS MATERIALIZED (`+values+`), k AS (
    INSERT INTO usage_record_keys (tenant_id, stream, stored_on, hash)
    SELECT v.column1, v.column2, $1::integer, v.column9 FROM v WHERE v.column9 IS NOT NULL ON CONFLICT DO NOTHING RETURNING stream, hash
) `+into+`SELECT v.column1, v.column2, v.column3, v.column4, v.column5, v.column6, v.column7, v.column8 FROM v
WHERE v.column9 IS NULL OR (v.column2, v.column9) IN (SELECT k.stream, k.hash FROM k)`,
		append([]any{dayOfLast(events)}, args...), events, stored)
}

// firstOfKeys returns events without those whose key an earlier one has.
func firstOfKeys(events []Event) []Event {
	type key struct {
		number int64
		key    string
	}
	seen := make(map[key]bool, len(events))
	first := make([]Event, 0, len(events))
	for _, e := range events {
		if e.IdempotencyKey != nil {
			k := key{*e.Number, *e.IdempotencyKey}
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		first = append(first, e)
	}
	return first
}

// dayOfLast is the day on which the last of events was stored: no key is kept for a shorter time
// than it has to be.
func dayOfLast(events []Event) int32 {
	day := DayOf(events[0].StoredAt)
	for _, e := range events {
		day = max(day, DayOf(e.StoredAt))
	}
	return day
}

// InsertOldKeys stores keys from usage_keys: of deleted events of a stream, which is locked. They
// count as stored before all others.
func (s Store) InsertOldKeys(ctx context.Context, k StreamKey, number int64, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	hashes := make([]any, len(keys))
	for i, key := range keys {
		hashes[i] = hashOf(key)
	}
	values, args := sqldb.Values(s.db, 3, hashes, "uuid")
	_, err := s.db.Conn(ctx).ExecContext(ctx, `INSERT INTO usage_record_keys (tenant_id, stream, stored_on, hash)
SELECT $1::uuid, $2::bigint, 0, v.column1 FROM (`+values+`) v WHERE true ON CONFLICT DO NOTHING`,
		append([]any{sqldb.ID(k.TenantID), number}, args...)...)
	return sqldb.Wrap(err, "insert keys of deleted events")
}

// hashOf stands for a key in usage_record_keys. That two keys have one hash does not happen by
// chance, and somebody who could bring it about would harm a tenant of their own.
func hashOf(key string) sqldb.ID {
	sum := sha256.Sum256([]byte(key))
	return sqldb.ID(sum[:16])
}

// DayOf numbers the day of UTC that a time is in, counted from 1970.
func DayOf(at time.Time) int32 { return int32(at.Unix() / (24 * 60 * 60)) }

// insert runs a statement that stores events, and reports whether it stored all of them: then their ids
// are added. Where it did not, find is to tell which. A row that is there twice is in conflict with
// itself. To have the ids returned would take SQLite a fifth of the time of the insert, which mostly
// stores all.
func (s Store) insert(ctx context.Context, statement string, args []any, events []Event, stored map[uuid.UUID]bool) (all bool, err error) {
	result, err := s.db.Conn(ctx).ExecContext(ctx, statement+` ON CONFLICT DO NOTHING`, args...)
	if err != nil {
		return false, sqldb.Wrap(err, "insert events")
	}
	n, err := result.RowsAffected()
	if err != nil {
		return false, sqldb.Wrap(err, "count inserted events")
	}
	if n < int64(len(events)) {
		return false, nil
	}
	for _, e := range events {
		stored[e.ID] = true
	}
	return true, nil
}

// find adds the ids that a query has found.
func (s Store) find(ctx context.Context, query string, args []any, stored map[uuid.UUID]bool) error {
	return s.each(ctx, "find inserted events", query, args, func(scan func(...any) error) error {
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
