package usage

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
)

// StreamKey identifies a stream: the events that one tenant records on one meter.
type StreamKey struct{ TenantID, MeterID uuid.UUID }

// Compare sorts streams in the order in which every transaction locks them.
func (k StreamKey) Compare(o StreamKey) int {
	return cmp.Or(bytes.Compare(k.TenantID[:], o.TenantID[:]), bytes.Compare(k.MeterID[:], o.MeterID[:]))
}

func (k StreamKey) tenant() uuid.UUID { return k.TenantID }

// storedEvent is a row of usage_events.
type storedEvent struct {
	Stream         StreamKey
	ID             uuid.UUID
	Quantity       money.Quantity
	IdempotencyKey *string
	RecordedAt     time.Time
	Metadata       sqldb.JSON
	StoredAt       time.Time
	Granted        money.Quantity // the part that is drawn from grants
}

// eventStore has the SQL of events. Its methods take part in the transaction of their context.
type eventStore struct{ db *sqldb.DB }

// newEventStore returns the store of events in db.
func newEventStore(db *sqldb.DB) eventStore { return eventStore{db} }

// eventKey is an idempotency key in a stream.
type eventKey struct {
	StreamKey
	Key string
}

// KeysOfEvents returns the keys that are used by stored events.
func (s eventStore) KeysOfEvents(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	return s.usedKeys(ctx, "usage_events", keys)
}

// KeysOfDeleted returns the unexpired keys of deleted events. The caller holds the locks of the
// streams.
func (s eventStore) KeysOfDeleted(ctx context.Context, keys []eventKey) (map[eventKey]bool, error) {
	return s.usedKeys(ctx, "usage_keys", keys)
}

// usedKeys returns the keys that a table contains. CROSS JOIN makes SQLite look up each key. With a
// list of keys it may scan the index instead.
func (s eventStore) usedKeys(ctx context.Context, table string, keys []eventKey) (map[eventKey]bool, error) {
	found := map[eventKey]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	rows := make([]any, 0, 3*len(keys))
	for _, k := range keys {
		rows = append(rows, k.TenantID, k.MeterID, k.Key)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "text")
	and, args := distribution.AndTenants(s.db, "e.tenant_id", args, keys, func(k eventKey) uuid.UUID { return k.TenantID })
	return found, s.db.QueryAll(ctx, sqldb.Query{
		Doing: "look up idempotency keys",
		Text: `SELECT e.tenant_id, e.meter_id, e.idempotency_key FROM (` + values + `) v
CROSS JOIN ` + table + ` e
WHERE e.idempotency_key IS NOT NULL AND e.tenant_id = v.column1 AND e.meter_id = v.column2 AND e.idempotency_key = v.column3` + and,
		Args: args,
		Row: func(scan func(...any) error) error {
			var k eventKey
			err := scan(&k.TenantID, &k.MeterID, &k.Key)
			found[k] = true
			return err
		},
	})
}

// Insert stores events and returns the IDs of the new ones. It skips an event whose idempotency
// key is used by a stored event or by an earlier event of the batch. The caller holds the locks
// of the streams.
func (s eventStore) Insert(ctx context.Context, events []storedEvent) (map[uuid.UUID]bool, error) {
	stored := make(map[uuid.UUID]bool, len(events))
	if len(events) == 0 {
		return stored, nil
	}
	n, err := s.insert(ctx, events)
	if err != nil {
		return nil, sqldb.Wrap(err, "insert events")
	}
	if n < int64(len(events)) {
		return stored, s.findInserted(ctx, events, stored)
	}
	for _, e := range events {
		stored[e.ID] = true
	}
	return stored, nil
}

// insert inserts events and returns the number of new ones. Most batches draw nothing from grants and omit that column.
func (s eventStore) insert(ctx context.Context, events []storedEvent) (int64, error) {
	columns := "tenant_id, meter_id, recorded_at, id, quantity, idempotency_key, metadata, created_at"
	types := []string{"uuid", "uuid", "timestamptz", "uuid", "bigint", "text", "jsonb", "timestamptz"}
	hasGranted := slices.ContainsFunc(events, func(e storedEvent) bool { return e.Granted > 0 })
	if hasGranted {
		columns, types = columns+", granted", append(types, "bigint")
	}
	rows := make([]any, 0, len(types)*len(events))
	for _, e := range events {
		rows = append(rows, e.Stream.TenantID, e.Stream.MeterID, e.RecordedAt, e.ID, int64(e.Quantity), e.IdempotencyKey, e.Metadata, e.StoredAt)
		if hasGranted {
			rows = append(rows, grantedOrNil(e.Granted))
		}
	}
	// InsertRows may repeat the last row, which ON CONFLICT then skips.
	values, args := sqldb.InsertRows(s.db, rows, types...)
	result, err := s.db.Conn(ctx).ExecContext(ctx, `INSERT INTO usage_events (`+columns+`) `+values+` ON CONFLICT DO NOTHING`, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func grantedOrNil(q money.Quantity) *int64 {
	if q == 0 {
		return nil
	}
	n := int64(q)
	return &n
}

// findInserted adds the IDs of the events that are stored. RETURNING would find them without a
// second query, but it makes every insert a fifth slower on SQLite, and duplicates are rare.
func (s eventStore) findInserted(ctx context.Context, events []storedEvent, stored map[uuid.UUID]bool) error {
	rows := make([]any, 0, 4*len(events))
	for _, e := range events {
		rows = append(rows, e.Stream.TenantID, e.Stream.MeterID, e.RecordedAt, e.ID)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "timestamptz", "uuid")
	and, args := distribution.AndTenants(s.db, "e.tenant_id", args, events, func(e storedEvent) uuid.UUID { return e.Stream.TenantID })
	return s.db.QueryAll(ctx, sqldb.Query{
		Doing: "find inserted events",
		Text: `SELECT e.id FROM (` + values + `) v
CROSS JOIN usage_events e
WHERE e.tenant_id = v.column1 AND e.meter_id = v.column2 AND e.recorded_at = v.column3 AND e.id = v.column4` + and,
		Args: args,
		Row: func(scan func(...any) error) error {
			var id uuid.UUID
			err := scan(&id)
			stored[id] = true
			return err
		},
	})
}
