// Package sqldb opens the service's database, SQLite or PostgreSQL, and runs queries and
// transactions for all stores. Apart from generated code it is the only package that uses
// database/sql.
//
// All SQL in the project is written for PostgreSQL. For SQLite, statements are rewritten at run
// time, and the schema is derived from the same migrations (see Migrate). Each rule is therefore
// written once and applies to both databases.
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

// Dialect is the kind of a database.
type Dialect string

// The supported databases.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// ErrNoRows means that a query for one row found no row.
var ErrNoRows = sql.ErrNoRows

// Config configures a DB.
type Config struct {
	// URL is "sqlite:///absolute/path.db" (see FileURL) or "postgres://…" with libpq parameters.
	URL string
	// Table is a table that a non-empty SQLite file must have, to avoid writing to another
	// program's file. The default is the table of migrations.
	Table string
	// Conns is the maximum number of connections to PostgreSQL; 0 means DefaultConns.
	Conns int
	// Patience is how long PostgreSQL can take to respond before it counts as unavailable (see
	// IsUnavailable); 0 means one second.
	Patience time.Duration
	// Log receives applied migrations and retried transactions; nil discards them.
	Log *slog.Logger
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	dialect Dialect
	log     *slog.Logger
	// write runs transactions and statements that change data. read runs queries outside a
	// transaction. On PostgreSQL they are the same pool.
	write, read *sql.DB
	// path is the SQLite file; empty on PostgreSQL.
	path string
	// groups runs SQLite's transactions; nil on PostgreSQL.
	groups *groupCommitter
	// changes counts commits per table of SQLite; nil on PostgreSQL.
	changes  *changes
	rewriter *rewriter
	// full is set while the disk of the SQLite file is full (see IsDiskFull).
	full atomic.Bool
	// watch monitors PostgreSQL until unwatch is called; both are nil on SQLite.
	watch       *watch
	unwatch     func()
	distributed bool // by Citus
	// tracer creates spans of statements, unless nil.
	tracer *tracing.Tracer
	// migrating holds a token while a caller reads or changes the schema.
	migrating chan struct{}
}

// Open connects to the database of cfg.URL and checks that it responds. It does not migrate. A
// missing SQLite file and its folder are created. The error never contains the password of the URL.
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
	if err := db.findCitus(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.watch != nil {
		db.unwatch = db.watch.start()
	}
	return db, nil
}

// IsDistributed reports whether Citus distributed the tables when the database was opened (see
// package distribution).
func (db *DB) IsDistributed() bool { return db.distributed }

func (db *DB) findCitus(ctx context.Context) error {
	if db.dialect == SQLite {
		return nil
	}
	const exists = "SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL"
	if err := db.read.QueryRowContext(ctx, exists).Scan(&db.distributed); err != nil || !db.distributed {
		return Wrap(err, "look for Citus")
	}
	err := db.read.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_dist_partition WHERE partmethod = 'h')").Scan(&db.distributed)
	return Wrap(err, "look for distributed tables")
}

// File returns the path of a SQLite database, and "" for PostgreSQL.
func (db *DB) File() string { return db.path }

// Dialect returns the kind of the database.
func (db *DB) Dialect() Dialect { return db.dialect }

// Ping checks that the database responds.
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

// Now returns the time of the PostgreSQL server, or of this machine for SQLite.
func (db *DB) Now(ctx context.Context) (now time.Time, err error) {
	err = db.read.QueryRowContext(ctx, "SELECT now()").Scan(&now)
	return now, Wrap(err, "read the database's clock")
}

// Optimize is a periodic job. It lets SQLite analyze tables that have grown, to improve its choice
// of indexes. PostgreSQL does that by itself.
func (db *DB) Optimize(ctx context.Context) error {
	if db.dialect != SQLite {
		return nil
	}
	// 0x02 analyzes tables that need it. 0x10000 checks all tables, not only the tables that this
	// connection has read. 0x10 limits the analysis to a few thousand rows per table and omits value
	// samples, which would cause SQLite to replan a statement for each new value.
	_, err := db.Conn(ctx).ExecContext(ctx, "PRAGMA optimize=0x10012")
	return Wrap(err, "optimize the database")
}

// Close closes all connections. It waits for running queries.
func (db *DB) Close() error {
	if db.unwatch != nil {
		db.unwatch()
	}
	var err error
	// Close the readers first: SQLite checkpoints the log into the file when the last connection
	// closes, which only a writer can do.
	if db.read != nil && db.read != db.write {
		err = errors.Join(err, db.read.Close())
	}
	return errors.Join(err, db.write.Close())
}
