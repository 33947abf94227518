package sqldb

import (
	"context"
	"database/sql/driver"
	"errors"
	"regexp"
)

// maxPrepared bounds the statements that a SQLite connection keeps. The service
// has a few hundred; lists with filters build more.
const maxPrepared = 512

// prepared makes connections that keep their prepared statements, because parsing and
// planning a text takes several times as long as running it. SQLite's driver does not
// keep them; on PostgreSQL pgx does.
type prepared struct{ driver.Connector }

// Connect opens a connection.
func (p prepared) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := conn.(sqliteDriverConn)
	if !ok {
		return nil, errors.Join(errors.New("sqldb: the driver's connection lacks a method"), conn.Close())
	}
	return &preparedConn{sqliteDriverConn: whole, known: map[string]*preparedStmt{}}, nil
}

// sqliteDriverConn has the methods of the driver's connections that database/sql
// uses.
type sqliteDriverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// preparedConn is used by one goroutine at a time, as every driver.Conn is.
type preparedConn struct {
	sqliteDriverConn
	known map[string]*preparedStmt
}

type preparedStmt struct {
	driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	// busy is true while rows of it are read: it cannot run again before their end.
	busy bool
}

// lasting matches texts that are worth keeping: single statements that do not change
// the schema.
var lasting = regexp.MustCompile(`(?i)^(\s|--[^\n]*\n)*(select|insert|update|delete|with|values|begin|commit|rollback|savepoint|release)\b[^;]*$`)

// statement returns the kept statement of a text; nil when the text is not kept.
func (c *preparedConn) statement(ctx context.Context, text string) (*preparedStmt, error) {
	if s := c.known[text]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if !lasting.MatchString(text) {
		return nil, nil
	}
	stmt, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &preparedStmt{Stmt: stmt}
	var canExec, canQuery bool
	s.exec, canExec = stmt.(driver.StmtExecContext)
	s.query, canQuery = stmt.(driver.StmtQueryContext)
	if !canExec || !canQuery {
		return nil, errors.Join(errors.New("sqldb: the driver's statement lacks a method"), stmt.Close())
	}
	if err := c.makeRoom(); err != nil {
		return nil, errors.Join(err, stmt.Close())
	}
	c.known[text] = s
	return s, nil
}

// makeRoom closes any one statement when there are too many.
func (c *preparedConn) makeRoom() error {
	if len(c.known) < maxPrepared {
		return nil
	}
	for text, s := range c.known {
		if !s.busy {
			delete(c.known, text)
			return s.Close()
		}
	}
	return nil
}

// ExecContext runs a statement for its effect.
func (c *preparedConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteDriverConn.ExecContext(ctx, text, args)
	}
	return s.exec.ExecContext(ctx, args)
}

// QueryContext runs a statement for its rows.
func (c *preparedConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.sqliteDriverConn.QueryContext(ctx, text, args)
	}
	rows, err := s.query.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &preparedRows{Rows: rows, of: s}, nil
}

// Close closes the statements and the connection.
func (c *preparedConn) Close() error {
	var errs []error
	for _, s := range c.known {
		errs = append(errs, s.Close())
	}
	clear(c.known)
	return errors.Join(append(errs, c.sqliteDriverConn.Close())...)
}

// preparedRows give their statement back when they are closed.
type preparedRows struct {
	driver.Rows
	of *preparedStmt
}

// Close ends the reading.
func (r *preparedRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
