// Package sqldb opens the service's database, SQLite or PostgreSQL, and gives all
// stores one way to run queries and transactions. Besides generated code it is the
// only package that knows database/sql.
//
// All SQL in the project is written for PostgreSQL. For SQLite the text is rewritten
// when it runs, and the schema is derived from the same migrations (see Migrate). So a
// rule is written once and holds on both.
package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/tenantry/tenantry/internal/tracing"
)

// Dialect names the database behind a DB.
type Dialect string

// The two databases that the service runs on.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// ErrNoRows is what a query for one row returns when there is none.
var ErrNoRows = sql.ErrNoRows

// Config says which database to open.
type Config struct {
	// URL is "sqlite:///absolute/path.db" (see FileURL) or "postgres://…" with
	// the parameters of libpq.
	URL string
	// Table is one that a SQLite file with tables must have, so that nothing is written to
	// another program's; by default the one of the migrations.
	Table string
	// Conns is how many connections to PostgreSQL there are at most; 0 is DefaultConns.
	Conns int
	// Patience is how long PostgreSQL may be silent before it counts as away (see
	// IsUnavailable); 0 is a second.
	Patience time.Duration
	// Log receives applied migrations and repeated transactions; nil discards.
	Log *slog.Logger
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect Dialect
	log     *slog.Logger
	// write takes every transaction and every statement that changes something;
	// read takes queries outside a transaction. On PostgreSQL they are one pool.
	write, read *sql.DB
	// path is SQLite's file; empty on PostgreSQL.
	path string
	// groups runs SQLite's transactions; nil on PostgreSQL.
	groups *grouped
	// changes counts commits per table of SQLite; nil on PostgreSQL.
	changes  *changes
	rewriter *rewriter
	// full is set while SQLite's disk has no room (see Full).
	full atomic.Bool
	// watch watches PostgreSQL, until unwatch; both are nil on SQLite.
	watch   *watch
	unwatch func()
	// tracer makes spans of statements; nil makes none.
	tracer *tracing.Tracer
	// migrating holds a token while somebody reads or changes the schema.
	migrating chan struct{}
}

// Open connects to the database of cfg.URL and checks that it answers. It does
// not migrate. A SQLite file and its folder are created when they are missing.
// The error never contains the URL's password.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	db := &DB{log: cfg.Log, rewriter: newRewriter(), migrating: make(chan struct{}, 1)}
	if db.log == nil {
		db.log = slog.New(slog.DiscardHandler)
	}
	scheme, _, _ := strings.Cut(cfg.URL, ":")
	var err error
	switch scheme {
	case "sqlite":
		err = db.openSQLite(ctx, cfg.URL, cmp.Or(cfg.Table, goose.DefaultTablename))
	case "postgres", "postgresql":
		err = db.openPostgres(ctx, cfg)
	default:
		return nil, errors.New("sqldb: the database URL must begin with sqlite:// or postgres://")
	}
	if err != nil {
		return nil, fmt.Errorf("sqldb: open: %w", err)
	}
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.watch != nil {
		db.unwatch = db.watch.start()
	}
	return db, nil
}

// File returns the path of a SQLite database, and "" for PostgreSQL.
func (db *DB) File() string { return db.path }

// Dialect returns which database db is.
func (db *DB) Dialect() Dialect { return db.dialect }

// Ping checks that the database answers.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.write.PingContext(ctx); err != nil {
		return fmt.Errorf("sqldb: ping: %w", err)
	}
	if db.read == db.write {
		return nil
	}
	if err := db.read.PingContext(ctx); err != nil {
		return fmt.Errorf("sqldb: ping: %w", err)
	}
	return nil
}

// Now returns the time of PostgreSQL's machine. SQLite has this machine's.
func (db *DB) Now(ctx context.Context) (now time.Time, err error) {
	err = db.read.QueryRowContext(ctx, "SELECT now()").Scan(&now)
	return now, Wrap(err, "read the database's clock")
}

// Optimize is a periodic job: it lets SQLite look at tables that have grown, so that it chooses
// indexes by what is in them. PostgreSQL does so by itself.
func (db *DB) Optimize(ctx context.Context) error {
	if db.dialect != SQLite {
		return nil
	}
	// 0x02 analyzes what needs it, 0x10000 looks at all tables, not only those that this
	// connection has read, and 0x10 at some thousand rows of each at most, without samples of
	// their values: with samples a statement is planned anew whenever it gets other values.
	_, err := db.Conn(ctx).ExecContext(ctx, "PRAGMA optimize=0x10012")
	return Wrap(err, "optimize the database")
}

// Close closes every connection and waits for the queries that run.
func (db *DB) Close() error {
	if db.unwatch != nil {
		db.unwatch()
	}
	var err error
	// The readers go first: SQLite folds its log into the file when the last
	// connection closes, and only a writer can do that.
	if db.read != nil && db.read != db.write {
		err = errors.Join(err, db.read.Close())
	}
	return errors.Join(err, db.write.Close())
}
