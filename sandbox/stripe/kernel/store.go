package kernel

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tenantry/tenantry/sandbox/stripe/form"
)

// schema creates the engine's tables. Objects are JSON documents in Stripe's format. Lists filter
// by paths into the documents.
const schema = `
CREATE TABLE IF NOT EXISTS stripe_objects (
	seq     INTEGER PRIMARY KEY AUTOINCREMENT,
	kind    TEXT NOT NULL,
	id      TEXT NOT NULL,
	created INTEGER NOT NULL,
	doc     TEXT NOT NULL,
	UNIQUE (kind, id)
);
CREATE INDEX IF NOT EXISTS stripe_objects_kind ON stripe_objects (kind, seq);
CREATE INDEX IF NOT EXISTS stripe_objects_customer ON stripe_objects (kind, doc ->> '$.customer', seq);
CREATE INDEX IF NOT EXISTS stripe_objects_invoice ON stripe_objects (kind, doc ->> '$.invoice', seq);
CREATE TABLE IF NOT EXISTS stripe_timers (
	kind   TEXT NOT NULL,
	object TEXT NOT NULL,
	at     INTEGER NOT NULL,
	clock  TEXT NOT NULL,
	PRIMARY KEY (kind, object)
);
CREATE INDEX IF NOT EXISTS stripe_timers_clock ON stripe_timers (clock, at);
CREATE TABLE IF NOT EXISTS stripe_idempotency (
	key         TEXT PRIMARY KEY,
	endpoint    TEXT NOT NULL,
	fingerprint TEXT NOT NULL,
	status      INTEGER NOT NULL,
	body        TEXT NOT NULL,
	stored_at   INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS stripe_idempotency_stored_at ON stripe_idempotency (stored_at);
CREATE TABLE IF NOT EXISTS stripe_deliveries (
	seq      INTEGER PRIMARY KEY AUTOINCREMENT,
	event    TEXT NOT NULL,
	endpoint TEXT NOT NULL,
	object   TEXT NOT NULL,
	attempts INTEGER NOT NULL,
	queued_at INTEGER NOT NULL,
	next_at  INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS stripe_deliveries_next ON stripe_deliveries (next_at);
CREATE INDEX IF NOT EXISTS stripe_deliveries_event ON stripe_deliveries (event);
CREATE INDEX IF NOT EXISTS stripe_deliveries_object ON stripe_deliveries (object, seq);
`

// ErrNotFound means that the object, the timer or the stored response does not exist.
var ErrNotFound = errors.New("it does not exist")

// Querier is the database or a transaction.
type Querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Header contains the fields that all objects have.
type Header struct {
	ID       string `json:"id"`
	Object   string `json:"object"`
	Created  int64  `json:"created"`
	Livemode bool   `json:"livemode"`
}

// Head implements Object.
func (h Header) Head() Header { return h }

// Object is anything that is stored under an id. Head returns at least its id, type and creation
// time.
type Object interface{ Head() Header }

// Kind is a type of object: its name in the API, the prefix of its ids, its name in messages and
// the path of its list.
type Kind[T Object] struct{ Name, Prefix, Label, Path string }

// Start returns the header of a new object.
func (k Kind[T]) Start(now int64) Header {
	return Header{ID: form.NewID(k.Prefix), Object: k.Name, Created: now}
}

// Find returns the object with the id. It returns ErrNotFound if the object does not exist.
func (k Kind[T]) Find(ctx context.Context, q Querier, id string) (*T, error) {
	o := new(T)
	if err := kind(k).find(ctx, q, id, o); err != nil {
		return nil, err
	}
	return o, nil
}

// Get returns the object with the id. If it does not exist, Get returns an error for the parameter
// that contained the id.
func (k Kind[T]) Get(ctx context.Context, q Querier, id, param string) (*T, error) {
	o, err := k.Find(ctx, q, id)
	if errors.Is(err, ErrNotFound) {
		err = form.NewMissing(k.Label, id, param)
	}
	return o, err
}

// FindWhere returns the objects that match an SQL condition on the columns of stripe_objects,
// oldest first.
func (k Kind[T]) FindWhere(ctx context.Context, q Querier, condition string, args ...any) ([]*T, error) {
	docs, err := kind(k).findWhere(ctx, q, condition, args...)
	if err != nil {
		return nil, err
	}
	return k.decodeAll(docs)
}

func (k Kind[T]) decodeAll(docs [][]byte) ([]*T, error) {
	all := make([]*T, len(docs))
	for i, doc := range docs {
		all[i] = new(T)
		if err := kind(k).decode(doc, all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Remove deletes the object with the id.
func (k Kind[T]) Remove(ctx context.Context, q Querier, id string) error {
	return kind(k).remove(ctx, q, id)
}

// Put stores a new or changed object without an event.
func Put(ctx context.Context, q Querier, o Object) error {
	h := o.Head()
	doc, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", h.Object, h.ID, err)
	}
	_, err = q.ExecContext(ctx, `
		INSERT INTO stripe_objects (kind, id, created, doc) VALUES (?, ?, ?, ?)
		ON CONFLICT (kind, id) DO UPDATE SET doc = excluded.doc`, h.Object, h.ID, h.Created, string(doc))
	if err != nil {
		return fmt.Errorf("store %s %s: %w", h.Object, h.ID, err)
	}
	return nil
}

// docs returns the first column of each row.
func docs(ctx context.Context, q Querier, query string, args ...any) ([][]byte, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all [][]byte
	for rows.Next() {
		var doc []byte
		if err := rows.Scan(&doc); err != nil {
			return nil, err
		}
		all = append(all, doc)
	}
	return all, rows.Err()
}
