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

// pipelineConnector opens connections that save round trips.
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

// pipelineConn is a connection to PostgreSQL on which statements wait for the next that
// somebody needs the result of, and are sent with it in one round trip: the BEGIN of a
// transaction, what [Later] marks, and the queries of [DB.Each]. The server runs them in
// their order, each when the one before is done. At READ COMMITTED each has a snapshot of
// its own, taken when it begins. So a query that is sent together with the statement that
// locks its rows still sees what the lock's last owner has committed.
//
// After one that fails the server skips the rest of what was sent with it, COMMIT included.
//
// Like every driver.Conn it is used by one goroutine at a time.
type pipelineConn struct {
	*stdlib.Conn
	inTx    bool
	sent    bool       // the transaction has begun at the server
	waiting *pgx.Batch // of the transaction; nil where nothing waits
}

// BeginTx begins a transaction, of which the server learns with its first statement.
func (c *pipelineConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if c.Conn.Conn().IsClosed() {
		return nil, driver.ErrBadConn
	}
	if opts != (driver.TxOptions{}) {
		return nil, errors.New("sqldb: a transaction has no options here")
	}
	c.inTx, c.sent, c.waiting = true, false, &pgx.Batch{}
	c.waiting.Queue("BEGIN")
	return pipelineTx{c, ctx}, nil
}

// ExecContext runs a statement for its effect. One that may come later waits; it has no
// result.
func (c *pipelineConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	switch {
	case c.inTx && len(args) > 0 && isDeferred(ctx):
		c.queueStatement(query, values(args))
		return driver.ResultNoRows, nil
	case c.waiting == nil:
		return c.Conn.ExecContext(ctx, query, args)
	case len(args) == 0: // may be several statements, which cannot be sent so
		if err := c.flush(ctx); err != nil {
			return nil, err
		}
		return c.Conn.ExecContext(ctx, query, args)
	}
	c.queueStatement(query, values(args))
	tag, err := c.send(ctx)
	return driver.RowsAffected(tag.RowsAffected()), err
}

// QueryContext runs a query, and those that go with it.
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
			_ = results.Close() // has the same error
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

// PrepareContext prepares a statement, after what waits.
func (c *pipelineConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	return c.Conn.PrepareContext(ctx, query)
}

// queueStatement adds a statement to those that wait.
func (c *pipelineConn) queueStatement(query string, args []any) {
	if c.waiting == nil {
		c.waiting = &pgx.Batch{}
	}
	c.waiting.Queue(query, args...)
}

// sendQueued sends what waits.
func (c *pipelineConn) sendQueued(ctx context.Context) pgx.BatchResults {
	batch := c.waiting
	c.waiting, c.sent = nil, c.inTx
	return c.Conn.Conn().SendBatch(ctx, batch)
}

// send sends what waits and returns what became of the last statement, or the first error.
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

// flush sends what waits, if anything does.
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
	ctx  context.Context //nolint:containedctx // driver.Tx has methods without one.
}

// Commit commits, together with what waits. A transaction without a statement ends here.
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

// Rollback undoes what was sent and forgets what waits.
func (t pipelineTx) Rollback() error {
	c := t.conn
	c.inTx, c.waiting = false, nil
	if !c.sent {
		return nil
	}
	conn := c.Conn.Conn()
	_, err := conn.Exec(t.ctx, "ROLLBACK")
	if err != nil {
		_ = conn.Close(t.ctx) // nobody knows in which state it is
	}
	return err
}
