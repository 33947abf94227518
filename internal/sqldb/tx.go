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

// Transactions with conflicts are retried up to txAttempts times, with pauses that grow with each
// attempt.
const (
	txAttempts = 5
	txPause    = 10 * time.Millisecond
)

type txKey struct{}

// transaction is the state that a context carries during a transaction.
type transaction struct {
	db   *DB
	conn DBTX

	mu     sync.Mutex
	after  []func()
	failed error
}

// Tx runs f in a transaction. Queries on the Conn of f's context take part in it. It commits if f
// returns nil, and rolls back if f returns an error or panics, or if the context ends.
//
// A Tx inside a Tx joins the outer one. If the inner one or a statement fails, everything is rolled
// back, even if a caller in between ignores the error, so that a partial change is never committed.
//
// On PostgreSQL it uses READ COMMITTED, and the outermost Tx runs f again, up to a few times, if
// the database reports a deadlock or a serialization failure, and once if a referenced row is
// missing: another transaction may have deleted it since f read it, and f then rejects it. Except
// through AfterCommit, f must therefore have no effects outside the database. On SQLite it holds the single write lock from its
// start and shares its commit with waiting transactions (see groupCommitter): keep it short, and
// make no network calls in it.
func (db *DB) Tx(ctx context.Context, f func(ctx context.Context) error) error {
	if t := db.currentTransaction(ctx); t != nil {
		return t.join(ctx, f)
	}
	for attempt := 1; ; attempt++ {
		err := db.runTx(ctx, f)
		isGone := db.dialect == Postgres && attempt == 1 && IsForeignKey(err)
		if err == nil || attempt == txAttempts || !isConflict(err) && !isGone {
			return err
		}
		db.log.DebugContext(ctx, "retrying transaction", "attempt", attempt, "error", err)
		if err := pause(ctx, time.Duration(attempt)*txPause); err != nil {
			return err
		}
	}
}

// InTx reports whether ctx carries a transaction.
func InTx(ctx context.Context) bool {
	return ctx.Value(txKey{}) != nil
}

// AfterCommit runs f once the outermost transaction of ctx has committed, in the order of
// registration, and never if it rolls back. Without a transaction, f runs immediately. f must not
// use ctx for queries, because its transaction is over.
func (db *DB) AfterCommit(ctx context.Context, f func()) {
	t := db.currentTransaction(ctx)
	if t == nil {
		f()
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.after = append(t.after, f)
}

// currentTransaction returns the transaction of ctx on this database, or nil.
func (db *DB) currentTransaction(ctx context.Context) *transaction {
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
	// After a commit this does nothing. It also handles a panic of f.
	defer func() { _ = tx.Rollback() }()
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		// database/sql rolls back by itself when ctx ends. It then returns either the error of ctx
		// or only ErrTxDone, depending on timing.
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

// fail makes the transaction roll back, whatever its function returns.
func (t *transaction) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = errors.Join(t.failed, err)
}

// isConflict reports whether PostgreSQL rolled back a transaction only because of concurrent
// transactions.
func isConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// pause waits between d/2 and d.
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
