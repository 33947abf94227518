package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A transaction that PostgreSQL gave up for another's sake is tried again, this
// often at most, after a pause that grows with the attempts.
const (
	txAttempts = 5
	txPause    = 10 * time.Millisecond
)

type txKey struct{}

// transaction is what a context carries between Tx and its end.
type transaction struct {
	db   *DB
	conn DBTX

	mu     sync.Mutex
	after  []func()
	failed error
}

// Tx runs f in a transaction that f's context carries: every query on the Conn of that
// context takes part. It commits if f returns nil and rolls
// back if f returns an error, panics or the context ends.
//
// A Tx inside a Tx joins the outer one. If the inner one fails, or a statement, everything is
// rolled back, even if the caller in between drops the error, so that half of a change is never
// committed.
//
// On PostgreSQL it runs at READ COMMITTED, and the outermost Tx runs f again, a
// few times, when the database reports a deadlock or a serialization failure. So
// f must have no effect outside the database other than by AfterCommit. On
// SQLite it holds the one write lock from its start, and shares its commit with
// those that wait for it (see grouped): keep it short, and make no network call
// inside.
func (db *DB) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	if t := db.current(ctx); t != nil {
		return t.join(ctx, f)
	}
	for attempt := 1; ; attempt++ {
		err := db.runTx(ctx, f)
		if err == nil || attempt == txAttempts || !isConflict(err) {
			return err
		}
		db.log.DebugContext(ctx, "transaction runs again", "attempt", attempt, "error", err)
		if err := pause(ctx, time.Duration(attempt)*txPause); err != nil {
			return err
		}
	}
}

// InTx reports whether ctx carries a transaction.
func InTx(ctx context.Context) bool {
	return ctx.Value(txKey{}) != nil
}

// AfterCommit runs f once the outermost transaction of ctx has committed, in the
// order of registration, and never if it rolls back. Without a transaction f
// runs at once. f must not use ctx for queries: its transaction is over.
func (db *DB) AfterCommit(ctx context.Context, f func()) {
	t := db.current(ctx)
	if t == nil {
		f()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.after = append(t.after, f)
}

// current returns the transaction of ctx on this database, or nil.
func (db *DB) current(ctx context.Context) *transaction {
	if t, ok := ctx.Value(txKey{}).(*transaction); ok && t.db == db {
		return t
	}
	return nil
}

func (db *DB) runTx(ctx context.Context, f func(ctx context.Context) error) error {
	t := &transaction{db: db}
	run := func(conn DBTX) error {
		t.conn = conn
		if err := f(context.WithValue(ctx, txKey{}, t)); err != nil {
			return err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.failed != nil {
			return fmt.Errorf("sqldb: a part of the transaction failed: %w", t.failed)
		}
		return nil
	}
	var err error
	if db.dialect == Postgres {
		err = db.runPostgres(ctx, run)
	} else {
		err = db.groups.run(ctx, func(conn *sql.Conn) error {
			return run(sqliteConn{rewriter: db.rewriter, write: conn, read: conn, failed: t.fail})
		})
		db.noteFull(err)
	}
	if err != nil {
		return err
	}
	for _, f := range t.after {
		f()
	}
	return nil
}

func (db *DB) runPostgres(ctx context.Context, f func(conn DBTX) error) error {
	tx, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqldb: begin: %w", err)
	}
	// After a commit this does nothing; it also covers a panic of f.
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		// The library rolls back by itself when ctx ends and then says either that
		// or only that the transaction is over, whichever comes first.
		if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("sqldb: commit: %w", err)
	}
	return nil
}

func (t *transaction) join(ctx context.Context, f func(ctx context.Context) error) error {
	err := f(ctx)
	if err != nil {
		t.fail(err)
	}
	return err
}

// fail has the transaction rolled back, whatever its function returns.
func (t *transaction) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = errors.Join(t.failed, err)
}

// isConflict tells that PostgreSQL rolled a transaction back only because of
// what others did at the same time.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// pause waits between a half and the whole of d.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d/2 + rand.N(d/2+1)) //nolint:gosec // Chance, not secrecy.
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
