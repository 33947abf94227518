package sqldb

import (
	"context"
	"database/sql"

	"github.com/tenantry/tenantry/internal/tracing"
)

// Trace sets the tracer that creates spans of the statements within a trace; nil disables tracing.
// It must be called before concurrent use of the database.
func (db *DB) Trace(t *tracing.Tracer) { db.tracer = t }

// tracedConn creates a span for each statement.
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

// QueryContext runs a statement for its rows. The span does not include reading the rows.
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
