package sqldb

import (
	"context"
	"database/sql"

	"github.com/tenantry/tenantry/internal/tracing"
)

// Trace has spans made of the statements that run as a part of something traced. It is called
// before the database is used by several at once; nil makes none.
func (db *DB) Trace(t *tracing.Tracer) { db.tracer = t }

// tracedConn makes a span of each statement.
type tracedConn struct {
	DBTX
	tracer   *tracing.Tracer
	database string
}

// ExecContext runs a statement for its effect.
func (c tracedConn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx, end := c.tracer.Query(ctx, c.database, query)
	result, err := c.DBTX.ExecContext(ctx, query, args...)
	end(err != nil)
	return result, err
}

// QueryContext runs a statement for its rows. The span does not have the time of reading them.
func (c tracedConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	ctx, end := c.tracer.Query(ctx, c.database, query)
	rows, err := c.DBTX.QueryContext(ctx, query, args...)
	end(err != nil)
	return rows, err
}

// QueryRowContext runs a statement for one row.
func (c tracedConn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	ctx, end := c.tracer.Query(ctx, c.database, query)
	row := c.DBTX.QueryRowContext(ctx, query, args...)
	end(row.Err() != nil)
	return row
}
