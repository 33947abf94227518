package dbfile

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

// maxPrepared limits the cached statements per connection. The service has a few hundred
// statements; lists with filters create more.
const maxPrepared = 512

// DSN returns the data source name of a file for the SQLite driver. It escapes the path, which can
// contain spaces and characters with a meaning in URLs.
func DSN(path, parameters string) string {
	return (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: parameters}).String()
}

// Open returns a pool for the database of dsn, in the syntax of the SQLite driver, without
// connecting. prepare, if not nil, is called for each new connection, for example to register
// hooks. The connections cache prepared statements: parsing and planning a statement takes several
// times as long as running it, and the driver does not cache.
func Open(dsn string, prepare func(driver.Conn) error) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{c, prepare}), nil
}

// connector opens connections with a statement cache.
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
		return nil, errors.Join(errors.New("sqlite: the driver's connection does not implement a required method"), opened.Close())
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

// conn is used by one goroutine at a time, like every driver.Conn.
type conn struct {
	driverConn
	known map[string]*statement
}

type statement struct {
	driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	// busy is true while rows of the statement are being read. The statement cannot run again until
	// then.
	busy bool
}

// lasting matches statements that are worth caching: single statements that do not change the
// schema.
var lasting = regexp.MustCompile(`(?i)^(\s|--[^\n]*\n)*(select|insert|update|delete|with|values|begin|commit|rollback|savepoint|release|pragma\s+data_version|pragma\s+wal_checkpoint)\b[^;]*$`)

// cachedStatement returns the cached statement for a text, or nil if the text is not cached.
func (c *conn) cachedStatement(ctx context.Context, text string) (*statement, error) {
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
		return nil, errors.Join(errors.New("sqlite: the driver's statement does not implement a required method"), stmt.Close())
	}
	if err := c.makeRoom(); err != nil {
		return nil, errors.Join(err, stmt.Close())
	}
	c.known[text] = s
	return s, nil
}

// makeRoom closes an arbitrary statement if the cache is full.
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
	s, err := c.cachedStatement(ctx, text)
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
	s, err := c.cachedStatement(ctx, text)
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

// PrepareContext prepares a statement whose runs use the cache.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	stmt, err := c.driverConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return preparedText{Stmt: stmt, conn: c, text: text}, nil
}

// preparedText is a statement prepared by a caller.
type preparedText struct {
	driver.Stmt
	conn *conn
	text string
}

// ExecContext runs the statement for its effect.
func (p preparedText) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return p.conn.ExecContext(ctx, p.text, args)
}

// QueryContext runs the statement for its rows.
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

// rows frees its statement when it is closed.
type rows struct {
	driver.Rows
	of *statement
}

// Close frees the statement for its next use.
func (r *rows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}
