package sqldb

import (
	"cmp"
	"context"
	"errors"
)

type (
	deferredKey struct{}
	queriesKey  struct{}
)

// WithDeferred marks a context for a statement whose result nobody looks at and whose failure is a
// fault: on PostgreSQL it is sent with the next statement of the transaction, or with its
// COMMIT, and an error is that one's. So it is not for a statement that is expected to fail,
// such as an insert that may violate a unique index. It has at least one parameter. Outside
// a transaction, and on SQLite, it makes no difference.
func WithDeferred(ctx context.Context) context.Context {
	return context.WithValue(ctx, deferredKey{}, true)
}

func isDeferred(ctx context.Context) bool { return ctx.Value(deferredKey{}) != nil }

// Query is a query and what reads its rows.
type Query struct {
	Doing string // what an error says was being done
	Text  string
	Args  []any
	// Row is called for every row; scan is [sql.Rows.Scan].
	Row func(scan func(dest ...any) error) error
}

// errNoResult is what a driver does that has lost a result.
var errNoResult = errors.New("sqldb: a query has no result")

func queriesOf(ctx context.Context) []Query {
	queries, _ := ctx.Value(queriesKey{}).([]Query)
	return queries
}

// QueryAll runs queries one after the other and reads the rows of each. On PostgreSQL they take
// one round trip together. None may depend on what another returns, but they run in their
// order: one that follows a query FOR UPDATE begins when its locks are held.
func (db *DB) QueryAll(ctx context.Context, queries ...Query) error {
	if db.dialect == SQLite {
		for _, q := range queries {
			if err := db.queryAll(ctx, q, nil); err != nil {
				return err
			}
		}
		return nil
	}
	if len(queries) == 0 {
		return nil
	}
	return db.queryAll(ctx, queries[0], queries[1:])
}

// queryAll runs a query, and more with it.
func (db *DB) queryAll(ctx context.Context, q Query, more []Query) error {
	if len(more) > 0 {
		ctx = context.WithValue(ctx, queriesKey{}, more)
	}
	rows, err := db.Conn(ctx).QueryContext(ctx, q.Text, q.Args...)
	if err != nil {
		return Wrap(err, q.Doing)
	}
	defer func() { _ = rows.Close() }() // rows.Err has the error
	for i := 0; ; i++ {
		for rows.Next() {
			if err := q.Row(rows.Scan); err != nil {
				return Wrap(err, q.Doing)
			}
		}
		if err := rows.Err(); err != nil {
			return Wrap(err, q.Doing)
		}
		if i == len(more) {
			return Wrap(rows.Close(), q.Doing)
		}
		q = more[i]
		if !rows.NextResultSet() {
			return Wrap(cmp.Or(rows.Err(), errNoResult), q.Doing)
		}
	}
}
