// Package stmtcache opens SQLite databases whose connections keep their prepared
// statements. Parsing and planning a text takes several times as long as running it,
// and SQLite's driver does not keep what it has prepared.
package stmtcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net/url"
	"path/filepath"
	"regexp"

	"modernc.org/sqlite"
)

// maxPrepared bounds the statements that a SQLite connection keeps. The service
// has a few hundred; lists with filters build more.
const maxPrepared = 512

// DSN returns the data source name of a file for SQLite's driver. It escapes the path, which may
// contain spaces and characters that have a meaning in URLs.
func DSN(path, parameters string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: parameters}).String()
}

// Open returns a pool on the database that dsn names in the syntax of SQLite's driver. It does not
// connect yet. prepare, if not nil, prepares each new connection, such as by registering hooks.
func Open(dsn string, prepare func(driver.Conn) error) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{c, prepare}), nil
}

// connector makes connections that keep their prepared statements.
type connector struct {
	driver.Connector
	connected func(driver.Conn) error
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(errors.New("stmtcache: the driver's connection lacks a method"), opened.Close())
	}
	if c.connected != nil {
		if err := c.connected(opened); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	return &conn{driverConn: whole, known: map[string]*statement{}}, nil
}

// driverConn has the methods of the driver's connections that database/sql uses.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is used by one goroutine at a time, as every driver.Conn is.
type conn struct {
	driverConn
	known map[string]*statement
}

type statement struct {
	driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	// busy is true while rows of it are read: it cannot run again before their end.
	busy bool
}

// lasting matches texts that are worth keeping: single statements that do not change
// the schema.
var lasting = regexp.MustCompile(`(?i)^(\s|--[^\n]*\n)*(select|insert|update|delete|with|values|begin|commit|rollback|savepoint|release|pragma\s+data_version|pragma\s+wal_checkpoint)\b[^;]*$`)

// cached returns the kept statement of a text; nil when the text is not kept.
func (c *conn) cached(ctx context.Context, text string) (*statement, error) {
	if s := c.known[text]; s != nil {
		if s.busy {
			return nil, nil
		}
		return s, nil
	}
	if !lasting.MatchString(text) {
		return nil, nil
	}
	stmt, err := c.driverConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	s := &statement{Stmt: stmt}
	var canExec, canQuery bool
	s.exec, canExec = stmt.(driver.StmtExecContext)
	s.query, canQuery = stmt.(driver.StmtQueryContext)
	if !canExec || !canQuery {
		return nil, errors.Join(errors.New("stmtcache: the driver's statement lacks a method"), stmt.Close())
	}
	if err := c.makeRoom(); err != nil {
		return nil, errors.Join(err, stmt.Close())
	}
	c.known[text] = s
	return s, nil
}

// makeRoom closes any one statement when there are too many.
func (c *conn) makeRoom() error {
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
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.cached(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.driverConn.ExecContext(ctx, text, args)
	}
	return s.exec.ExecContext(ctx, args)
}

// QueryContext runs a statement for its rows.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.cached(ctx, text)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.driverConn.QueryContext(ctx, text, args)
	}
	read, err := s.query.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &rows{Rows: read, of: s}, nil
}

// PrepareContext prepares a statement that runs like any other text.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	stmt, err := c.driverConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return preparedText{Stmt: stmt, conn: c, text: text}, nil
}

// preparedText is a statement that its caller has prepared.
type preparedText struct {
	driver.Stmt
	conn *conn
	text string
}

// ExecContext runs it for its effect.
func (p preparedText) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return p.conn.ExecContext(ctx, p.text, args)
}

// QueryContext runs it for its rows.
func (p preparedText) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return p.conn.QueryContext(ctx, p.text, args)
}

// Close closes the statements and the connection.
func (c *conn) Close() error {
	var errs []error
	for _, s := range c.known {
		errs = append(errs, s.Close())
	}
	clear(c.known)
	return errors.Join(append(errs, c.driverConn.Close())...)
}

// rows give their statement back when they are closed.
type rows struct {
	driver.Rows
	of *statement
}

// Close frees the statement for its next use.
func (r *rows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
