package sqldb

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
)

// migrationFiles are written for PostgreSQL. SQLite's text is derived (see deriveSchema).
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migrations returns the migration files, as written for PostgreSQL.
func Migrations() fs.FS {
	// Sub only fails for invalid paths.
	files, _ := fs.Sub(migrationFiles, "migrations")
	return files
}

var (
	// ErrNewerSchema means that a later version of the service migrated the database. This version
	// could damage data that it does not support.
	ErrNewerSchema = errors.New("sqldb: the database is newer than this program")
	// ErrOlderSchema means that a build from before the baseline created the database.
	ErrOlderSchema = errors.New("sqldb: the database is from a build before 0.1.0, which cannot be upgraded: start with a new database (docs/upgrading.md)")
)

// baseline is the version of the first migration. Builds before the baseline numbered their
// migrations from 1 to 110. Because of the higher number, this build recognizes an old database,
// and old builds reject a newer database.
const baseline = 1000

// migrationLock is the key of the PostgreSQL advisory lock, which is per database.
const migrationLock = 7_470_256_014_611_339

// How often a waiting process tries to take the lock.
const (
	filePoll   = 10 * time.Millisecond
	serverPoll = 50 * time.Millisecond
)

// Migration is one step of the schema.
type Migration struct {
	// Version is the number at the start of the file name.
	Version int64
	// Name is the file name.
	Name string
	// AppliedAt is when the step was applied to this database, in UTC by the database's clock. It
	// is nil while the step is pending.
	AppliedAt *time.Time
}

// Migrate brings the schema up to date. There are no down migrations. Any number of processes can
// call it concurrently: one does the work and the others wait until ctx ends. It returns
// ErrNewerSchema or ErrOlderSchema if this program cannot use the database.
func (db *DB) Migrate(ctx context.Context) error {
	return db.migrations(ctx, func(p *goose.Provider) error {
		before, err := p.GetDBVersion(ctx)
		if err != nil {
			return err
		}
		done, err := p.Up(ctx)
		for _, m := range done {
			db.log.DebugContext(ctx, "migration applied", "migration", filepath.Base(m.Source.Path), "took_ms", m.Duration.Milliseconds())
		}
		if before > 0 && len(done) > 0 { // nothing is logged for a new database
			db.log.InfoContext(ctx, "schema migrated", "from", before, "to", done[len(done)-1].Source.Version)
		}
		return err
	})
}

// MigrationStatus lists the migrations of this program, in order. It returns ErrNewerSchema or
// ErrOlderSchema if the database has other migrations.
func (db *DB) MigrationStatus(ctx context.Context) ([]Migration, error) {
	var list []Migration
	err := db.migrations(ctx, func(p *goose.Provider) error {
		states, err := p.Status(ctx)
		if err != nil {
			return err
		}
		for _, s := range states {
			m := Migration{Version: s.Source.Version, Name: filepath.Base(s.Source.Path)}
			if s.State == goose.StateApplied {
				at := s.AppliedAt.UTC()
				m.AppliedAt = &at
			}
			list = append(list, m)
		}
		return nil
	})
	return list, err
}

// Version returns the version of the database's last migration, or 0 before the first migration.
func (db *DB) Version(ctx context.Context) (int64, error) {
	list, err := db.MigrationStatus(ctx)
	var version int64
	for _, m := range list {
		if m.AppliedAt != nil {
			version = m.Version
		}
	}
	return version, err
}

// migrations calls f under the lock, unless the database is newer or older than this program's
// migrations.
func (db *DB) migrations(ctx context.Context, f func(p *goose.Provider) error) error {
	// Only one caller per process waits for the lock, because each waiting caller holds a connection,
	// and the migration needs another connection of the same pool.
	select {
	case db.migrating <- struct{}{}:
		defer func() { <-db.migrating }()
	case <-ctx.Done():
		return ctx.Err()
	}
	unlock, err := db.lockMigrations(ctx)
	if err != nil {
		return fmt.Errorf("sqldb: lock for migrations: %w", err)
	}
	defer unlock()
	p, err := db.provider()
	if err != nil {
		return fmt.Errorf("sqldb: migrations: %w", err)
	}
	current, target, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("sqldb: read the schema's version: %w", err)
	}
	switch {
	case current > target:
		return fmt.Errorf("%w: the database is at version %d, the program supports %d", ErrNewerSchema, current, target)
	case current > 0 && current < baseline:
		return fmt.Errorf("%w; the database is at version %d", ErrOlderSchema, current)
	}
	if err := f(p); err != nil {
		return fmt.Errorf("sqldb: migrate: %w", err)
	}
	return nil
}

func (db *DB) provider() (*goose.Provider, error) {
	files, dialect := Migrations(), goose.DialectPostgres
	if db.dialect == SQLite {
		dialect, files = goose.DialectSQLite3, derivedFS{files}
	}
	return goose.NewProvider(dialect, db.write, files, goose.WithDisableGlobalRegistry(true))
}

// lockMigrations waits for the lock and returns a function that releases it. A process that dies
// releases it.
func (db *DB) lockMigrations(ctx context.Context) (unlock func(), err error) {
	if db.dialect == SQLite {
		lock := flock.New(db.path+".migrate.lock", flock.SetPermissions(0o600))
		if _, err := lock.TryLockContext(ctx, filePoll); err != nil {
			return nil, err
		}
		return func() { _ = lock.Close() }, nil
	}
	for {
		unlock, err := db.tryMigrationLock(ctx)
		if err != nil || unlock != nil {
			return unlock, err
		}
		select {
		case <-time.After(serverPoll):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryMigrationLock tries to take the PostgreSQL lock and returns a function that releases it, or
// nil if another process holds it. The lock belongs to a transaction, so it always ends; a session
// lock would stay on the connection of a pooler. Waiting processes poll, because CREATE INDEX
// CONCURRENTLY in a migration would wait for a statement that blocks on the lock.
func (db *DB) tryMigrationLock(ctx context.Context) (unlock func(), err error) {
	tx, err := db.write.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return nil, err
	}
	var taken bool
	err = tx.QueryRowContext(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(migrationLock)).Scan(&taken)
	if err == nil && taken {
		// The server may end idle transactions. Also, the snapshot of the statement above is held
		// until the next statement, and CREATE INDEX CONCURRENTLY would wait for it.
		_, err = tx.ExecContext(ctx, "SET LOCAL idle_in_transaction_session_timeout = 0")
	}
	if err != nil || !taken {
		return nil, errors.Join(err, tx.Rollback())
	}
	return func() { _ = tx.Rollback() }, nil
}
