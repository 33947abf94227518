package sqldb

import (
	"context"
	"database/sql"
)

// DBTX runs generated queries. It is a transaction or a pool.
type DBTX interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Conn returns the transaction of ctx, or else the pool. Outside a transaction, SQLite queries go
// to the readers and all other statements to the writer, depending on the first word of the
// statement.
func (db *DB) Conn(ctx context.Context) DBTX {
	if db.tracer != nil {
		return tracedConn{db.conn(ctx), db.tracer, string(db.dialect)}
	}
	return db.conn(ctx)
}

func (db *DB) conn(ctx context.Context) DBTX {
	t := db.currentTransaction(ctx)
	if db.dialect == Postgres {
		if t != nil {
			return t.conn
		}
		return db.write
	}
	c := sqliteConn{rewriter: db.rewriter, write: db.write, read: db.read, groups: db.groups, noteFull: db.noteFull}
	if t != nil {
		c, _ = t.conn.(sqliteConn)
	}
	return c
}

// sqliteConn runs PostgreSQL statements on SQLite. It runs nothing if the context has already
// ended. A context that ends during a statement does not interrupt it: statements are short,
// watching a context takes two goroutines per statement, and an interrupt would end the transaction
// that other callers share.
type sqliteConn struct {
	rewriter    *rewriter
	write, read DBTX
	groups      *groupCommitter // nil in a transaction
	failed      func(err error) // called if a statement of a transaction fails
	noteFull    func(err error) // set if groups is set
}

// noteFailed makes the transaction roll back because a statement failed, as PostgreSQL does.
func (c sqliteConn) noteFailed(failed error) {
	if failed != nil && c.failed != nil {
		c.failed(failed)
	}
}

// withoutLaterCancel returns ctx if it has ended, or else a copy that never ends.
func withoutLaterCancel(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

func (c sqliteConn) pick(query string) (DBTX, string) {
	s := c.rewriter.rewrite(query)
	if s.reads {
		return c.read, s.text
	}
	return c.write, s.text
}

// ExecContext always runs on the writer.
func (c sqliteConn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, args := c.rewriter.rewrite(query), truncateTimes(args)
	text := statement.text
	if c.groups == nil {
		result, err := c.write.ExecContext(withoutLaterCancel(ctx), statement.within, args...)
		c.noteFailed(err)
		return result, err
	}
	var result sql.Result
	err := c.groups.run(ctx, func(conn *sql.Conn) (err error) {
		result, err = conn.ExecContext(withoutLaterCancel(ctx), text, args...)
		return err
	})
	c.noteFull(err)
	return result, err
}

// PrepareContext prepares the statement on the pool that the statement requires. The arguments of a
// prepared statement are not truncated to microseconds.
func (c sqliteConn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	on, text := c.pick(query)
	return on.PrepareContext(ctx, text)
}

// QueryContext runs on the pool that the query requires.
func (c sqliteConn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	on, text := c.pick(query)
	rows, err := on.QueryContext(withoutLaterCancel(ctx), text, truncateTimes(args)...)
	c.noteFailed(err)
	return rows, err
}

// QueryRowContext runs on the pool that the query requires.
func (c sqliteConn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	on, text := c.pick(query)
	row := on.QueryRowContext(withoutLaterCancel(ctx), text, truncateTimes(args)...)
	c.noteFailed(row.Err())
	return row
}
