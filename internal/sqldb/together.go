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

// WithDeferred marks a context for a statement whose result is not used and which is not expected
// to fail. On PostgreSQL the statement is sent with the next statement of the transaction or with
// its COMMIT, which also returns its error. Do not use it for a statement that can fail in normal
// operation, such as an insert that may violate a unique index. The statement must have at least
// one parameter. Outside a transaction and on SQLite it has no effect.
func WithDeferred(ctx context.Context) context.Context {
	return context.WithValue(ctx, deferredKey{}, true)
}

func isDeferred(ctx context.Context) bool { return ctx.Value(deferredKey{}) != nil }

// Query is a query with a function that reads its rows.
type Query struct {
	Doing string // describes the operation in errors
	Text  string
	Args  []any
	// Row is called for every row; scan is [sql.Rows.Scan].
	Row func(scan func(dest ...any) error) error
}

// errNoResult means that the driver has lost a result.
var errNoResult = errors.New("sqldb: a query did not return a result")

func queriesOf(ctx context.Context) []Query {
	queries, _ := ctx.Value(queriesKey{}).([]Query)
	return queries
}

// QueryAll runs queries in order and reads the rows of each. On PostgreSQL they take a single round
// trip. A query must not depend on the result of another. If a query locks rows with FOR UPDATE,
// the queries after it run once the locks are held.
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

// queryAll runs q and, on PostgreSQL, sends more in the same round trip.
func (db *DB) queryAll(ctx context.Context, q Query, more []Query) error {
	if len(more) > 0 {
		ctx = context.WithValue(ctx, queriesKey{}, more)
	}
	rows, err := db.Conn(ctx).QueryContext(ctx, q.Text, q.Args...)
	if err != nil {
		return Wrap(err, q.Doing)
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
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
