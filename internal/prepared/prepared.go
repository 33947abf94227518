// Package prepared opens SQLite databases whose connections keep their prepared
// statements. Parsing and planning a text takes several times as long as running it,
// and SQLite's driver does not keep what it has prepared.
package prepared

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"regexp"

	"modernc.org/sqlite"
)

// maxPrepared bounds the statements that a SQLite connection keeps. The service
// has a few hundred; lists with filters build more.
const maxPrepared = 512

// Open returns a pool on the database that dsn names in the words of SQLite's driver.
// It does not connect yet.
func Open(dsn string) (*sql.DB, error) { return OpenWatched(dsn, nil) }

// Watcher is told what a pool of a single connection does, by whoever uses that.
type Watcher interface {
	// Connected is called with each connection of SQLite's driver, before it is used.
	Connected(conn driver.Conn) error
	// Begins is called before a statement runs. plain is false for what may change the
	// schema, or is several statements.
	Begins(plain bool)
	// Ended is called when a statement has ended, and when the rows of one are closed.
	Ended(err error)
}

// OpenWatched is Open with a watcher; nil is nobody.
func OpenWatched(dsn string, w Watcher) (*sql.DB, error) {
	c, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector{c, w}), nil
}

// connector makes connections that keep their prepared statements.
type connector struct {
	driver.Connector
	watcher Watcher
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(errors.New("prepared: the driver's connection lacks a method"), opened.Close())
	}
	watcher := c.watcher
	if watcher == nil {
		watcher = nobody{}
	} else if err := watcher.Connected(opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return &conn{driverConn: whole, watcher: watcher, known: map[string]*statement{}}, nil
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
	watcher Watcher
	known   map[string]*statement
}

type nobody struct{}

func (nobody) Connected(driver.Conn) error { return nil }
func (nobody) Begins(bool)                 {}
func (nobody) Ended(error)                 {}

type statement struct {
	driver.Stmt
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	// busy is true while rows of it are read: it cannot run again before their end.
	busy bool
}

// lasting matches texts that are worth keeping: single statements that do not change
// the schema.
var lasting = regexp.MustCompile(`(?i)^(\s|--[^\n]*\n)*(select|insert|update|delete|with|values|begin|commit|rollback|savepoint|release|pragma\s+wal_checkpoint)\b[^;]*$`)

// kept returns the kept statement of a text; nil when the text is not kept.
func (c *conn) kept(ctx context.Context, text string) (*statement, error) {
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
		return nil, errors.Join(errors.New("prepared: the driver's statement lacks a method"), stmt.Close())
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
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (result driver.Result, err error) {
	s, err := c.kept(ctx, text)
	if err != nil {
		return nil, err
	}
	c.watcher.Begins(s != nil || lasting.MatchString(text))
	defer func() { c.watcher.Ended(err) }()
	if s == nil {
		return c.driverConn.ExecContext(ctx, text, args)
	}
	return s.exec.ExecContext(ctx, args)
}

// QueryContext runs a statement for its rows.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.kept(ctx, text)
	if err != nil {
		return nil, err
	}
	c.watcher.Begins(s != nil || lasting.MatchString(text))
	var read driver.Rows
	if s == nil {
		read, err = c.driverConn.QueryContext(ctx, text, args)
	} else {
		read, err = s.query.QueryContext(ctx, args)
	}
	if err != nil {
		c.watcher.Ended(err)
		return nil, err
	}
	if s != nil {
		s.busy = true
	}
	return &rows{Rows: read, of: s, watcher: c.watcher}, nil
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

// BeginTx begins a transaction.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tx, err := c.driverConn.BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return watchedTx{Tx: tx, watcher: c.watcher}, nil
}

// watchedTx tells of its end.
type watchedTx struct {
	driver.Tx
	watcher Watcher
}

// Commit commits.
func (t watchedTx) Commit() error {
	err := t.Tx.Commit()
	t.watcher.Ended(err)
	return err
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
	of      *statement // nil is one that is not kept
	watcher Watcher
}

// Close ends the reading, and with it a statement that changes something.
func (r *rows) Close() error {
	if r.of != nil {
		r.of.busy = false
	}
	err := r.Rows.Close()
	r.watcher.Ended(err)
	return err
}
