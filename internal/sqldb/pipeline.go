package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// pipelineConnector opens connections that batch statements to save round trips.
type pipelineConnector struct{ driver.Connector }

// Connect opens a connection.
func (c pipelineConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := opened.(*stdlib.Conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("sqldb: the driver's connection is a %T", opened), opened.Close())
	}
	return &pipelineConn{Conn: conn}, nil
}

// pipelineConn is a connection to PostgreSQL that queues statements whose results are not needed
// yet. It sends them together with the next statement whose result is needed, in one round trip. It
// queues the BEGIN of a transaction, statements marked by [WithDeferred], and the queries of
// [DB.QueryAll]. The server runs them in order, each when the previous one has finished. At READ
// COMMITTED each statement takes a new snapshot when it begins. A query that is sent together with
// the statement that locks its rows therefore sees the commit of the last owner of the lock.
//
// If a statement fails, the server skips the rest of the batch, including COMMIT.
//
// Like every driver.Conn, it is used by one goroutine at a time.
type pipelineConn struct {
	*stdlib.Conn
	inTx    bool
	sent    bool       // the server has begun the transaction
	waiting *pgx.Batch // queued statements of the transaction; nil if empty
}

// BeginTx begins a transaction. BEGIN is sent with its first statement.
func (c *pipelineConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.Conn.Conn().IsClosed() {
		return nil, driver.ErrBadConn
	}
	if opts != (driver.TxOptions{}) {
		return nil, errors.New("sqldb: transaction options are not supported")
	}
	c.inTx, c.sent, c.waiting = true, false, &pgx.Batch{}
	c.waiting.Queue("BEGIN")
	return pipelineTx{c, ctx}, nil
}

// ExecContext runs a statement for its effect. A deferred statement is queued and has no result.
func (c *pipelineConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	switch {
	case c.inTx && len(args) > 0 && isDeferred(ctx):
		c.queueStatement(query, values(args))
		return driver.ResultNoRows, nil
	case c.waiting == nil:
		return c.Conn.ExecContext(ctx, query, args)
	case len(args) == 0: // can be several statements, which cannot be queued
		if err := c.flush(ctx); err != nil {
			return nil, err
		}
		return c.Conn.ExecContext(ctx, query, args)
	}
	c.queueStatement(query, values(args))
	tag, err := c.send(ctx)
	return driver.RowsAffected(tag.RowsAffected()), err
}

// QueryContext runs a query together with the other queries of [DB.QueryAll].
func (c *pipelineConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	more := queriesOf(ctx)
	if c.waiting == nil && len(more) == 0 {
		return c.Conn.QueryContext(ctx, query, args)
	}
	if c.Conn.Conn().IsClosed() {
		return nil, driver.ErrBadConn
	}
	before := 0
	if c.waiting != nil {
		before = c.waiting.Len()
	}
	c.queueStatement(query, values(args))
	for _, q := range more {
		c.queueStatement(q.Text, q.Args)
	}
	results := c.sendQueued(ctx)
	for range before {
		if _, err := results.Exec(); err != nil {
			_ = results.Close() // returns the same error
			return nil, err
		}
	}
	rows := &pipelineRows{conn: c, results: results, left: 1 + len(more)}
	if err := rows.NextResultSet(); err != nil {
		_ = results.Close()
		return nil, err
	}
	return rows, nil
}

// PrepareContext prepares a statement after sending the queued ones.
func (c *pipelineConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	return c.Conn.PrepareContext(ctx, query)
}

// queueStatement queues a statement.
func (c *pipelineConn) queueStatement(query string, args []any) {
	if c.waiting == nil {
		c.waiting = &pgx.Batch{}
	}
	c.waiting.Queue(query, args...)
}

// sendQueued sends the queued statements.
func (c *pipelineConn) sendQueued(ctx context.Context) pgx.BatchResults {
	batch := c.waiting
	c.waiting, c.sent = nil, c.inTx
	return c.Conn.Conn().SendBatch(ctx, batch)
}

// send sends the queued statements and returns the result of the last one, or the first error.
func (c *pipelineConn) send(ctx context.Context) (tag pgconn.CommandTag, err error) {
	n := c.waiting.Len()
	results := c.sendQueued(ctx)
	for range n {
		if tag, err = results.Exec(); err != nil {
			break
		}
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	return tag, err
}

// flush sends the queued statements, if any.
func (c *pipelineConn) flush(ctx context.Context) error {
	if c.waiting == nil {
		return nil
	}
	_, err := c.send(ctx)
	return err
}

func values(args []driver.NamedValue) []any {
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a.Value
	}
	return all
}

// pipelineTx is the transaction of a connection.
type pipelineTx struct {
	conn *pipelineConn
	ctx  context.Context //nolint:containedctx // The methods of driver.Tx take no context.
}

// Commit sends the queued statements with COMMIT. A transaction without any statement ends without
// a round trip.
func (t pipelineTx) Commit() error {
	c := t.conn
	c.inTx = false
	if !c.sent && c.waiting.Len() == 1 {
		c.waiting = nil
		return nil
	}
	c.queueStatement("COMMIT", nil)
	tag, err := c.send(t.ctx)
	switch conn := c.Conn.Conn(); {
	case err == nil && tag.String() == "ROLLBACK":
		return pgx.ErrTxCommitRollback
	case err != nil && !conn.IsClosed() && conn.PgConn().TxStatus() != 'I':
		// A statement before COMMIT has failed.
		if _, undo := conn.Exec(t.ctx, "ROLLBACK"); undo != nil {
			_ = conn.Close(t.ctx)
		}
	}
	return err
}

// Rollback rolls back the sent statements and drops the queued ones.
func (t pipelineTx) Rollback() error {
	c := t.conn
	c.inTx, c.waiting = false, nil
	if !c.sent {
		return nil
	}
	conn := c.Conn.Conn()
	_, err := conn.Exec(t.ctx, "ROLLBACK")
	if err != nil {
		_ = conn.Close(t.ctx) // its state is unknown
	}
	return err
}
