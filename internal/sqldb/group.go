package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
)

// maxGroup bounds how many transactions share a commit on SQLite, and with it how
// long the first of them waits for the last.
const maxGroup = 32

// grouped runs the write transactions of SQLite, one after the other as SQLite
// does anyway, and lets those that wait for each other share a commit: making a
// commit durable takes a millisecond of the disk's time, most transactions a tenth
// of that. Each is a savepoint of one common transaction, so that one that fails
// takes nothing with it, and none is answered before the commit that makes it
// durable.
//
// Invariants: whoever holds the turn is the only one who uses open and the
// connection. A transaction that is open when the turn is given back has somebody
// coming who will end it: a caller who waits for the turn, or settle.
type grouped struct {
	pool    *sql.DB
	changes *changes
	turn    chan struct{} // holds a token while somebody has the turn
	waiting atomic.Int64  // callers who wait for it
	open    *commonTx

	clock     clock.Clock
	waited    func(time.Duration)                        // nil tells nobody
	committed func(transactions int, took time.Duration) // nil tells nobody
}

// commonTx is a transaction that several callers share.
type commonTx struct {
	conn    *sql.Conn
	members uint64
	ended   chan struct{} // closed at its end
	err     error         // why it was not committed; set before ended is closed
}

func newGrouped(pool *sql.DB, changes *changes) *grouped {
	return &grouped{pool: pool, changes: changes, turn: make(chan struct{}, 1), clock: clock.System()}
}

// run runs f as a part of the open transaction, or of a new one, and returns once
// that has ended. f's error, or that of a context that ended, undoes f alone.
func (g *grouped) run(ctx context.Context, f func(conn *sql.Conn) error) error {
	if err := g.await(ctx); err != nil {
		return err
	}
	tx, err := g.member(ctx, f)
	if tx == nil {
		return err
	}
	<-tx.ended // Soon, even if ctx has ended: only then the outcome is known.
	if tx.err != nil && err == nil {
		err = tx.err
	}
	return err
}

// await returns with the turn, or once ctx has ended. Who gets it at once measures nothing.
func (g *grouped) await(ctx context.Context) error {
	select {
	case g.turn <- struct{}{}:
		return nil
	default:
	}
	began := g.clock.Now()
	g.waiting.Add(1)
	select {
	case g.turn <- struct{}{}:
		g.waiting.Add(-1)
		if g.waited != nil {
			g.waited(g.clock.Now().Sub(began))
		}
		return nil
	case <-ctx.Done():
		if g.waiting.Add(-1) == 0 {
			go g.endIdle() // somebody may have counted on this caller
		}
		return fmt.Errorf("sqldb: begin: %w", ctx.Err())
	}
}

// member runs f with the turn and gives it back. A nil commonTx is one that could
// not begin.
func (g *grouped) member(ctx context.Context, f func(conn *sql.Conn) error) (tx *commonTx, err error) {
	defer func() { <-g.turn }()
	if g.open == nil {
		if err := g.begin(ctx); err != nil {
			return nil, err
		}
	}
	tx = g.open
	tx.members++
	finished := false
	defer func() {
		if !finished { // f panics: what it did is undone like that of one that fails
			_ = g.finishMember(tx, errors.New("sqldb: a transaction panicked"))
		}
	}()
	if err := tx.setSavepoint(); err != nil {
		finished = true
		return tx, g.end(tx, err)
	}
	err = f(tx.conn)
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("sqldb: commit: %w", ctx.Err())
	}
	finished = true
	return tx, g.finishMember(tx, err)
}

// begin opens a transaction. The context of the caller who happens to be the
// first does not end it.
func (g *grouped) begin(ctx context.Context) error {
	conn, err := g.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("sqldb: begin: %w", err)
	}
	if _, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("sqldb: begin: %w", errors.Join(err, conn.Close()))
	}
	g.readDataVersion(conn)
	g.changes.locked.Store(true)
	g.open = &commonTx{conn: conn, ended: make(chan struct{})}
	return nil
}

// setSavepoint marks where the member begins; the first needs no mark, as undoing it is
// undoing everything.
func (tx *commonTx) setSavepoint() error {
	if tx.members == 1 {
		return nil
	}
	return tx.exec("SAVEPOINT member")
}

// finishMember undoes the member if it failed, and ends the transaction unless somebody
// else is coming. It returns failed or what went wrong with the transaction.
func (g *grouped) finishMember(tx *commonTx, failed error) error {
	var err error
	switch {
	case tx.members == 1 && failed != nil:
		return g.end(tx, failed)
	case failed != nil:
		if err = tx.exec("ROLLBACK TO member"); err == nil {
			err = tx.exec("RELEASE member")
		}
	case tx.members > 1:
		err = tx.exec("RELEASE member")
	}
	if err != nil { // SQLite has given the whole transaction up, such as for a full disk
		return errors.Join(failed, g.end(tx, err))
	}
	if g.waiting.Load() == 0 || tx.members >= maxGroup {
		if err := g.end(tx, nil); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// end commits, or rolls back because of failed, and tells the members. It returns
// why it was not committed.
func (g *grouped) end(tx *commonTx, failed error) error {
	if failed == nil {
		failed = g.commit(tx)
	}
	if failed != nil {
		_ = tx.exec("ROLLBACK") // fails where SQLite has done it already
	} else {
		g.changes.checked.Store(g.clock.Now().UnixNano()) // The lock kept other processes from committing until now.
	}
	g.changes.locked.Store(false)
	g.open = nil
	g.changes.end()
	_ = tx.conn.Close() // gives it back to the pool
	tx.err = failed
	close(tx.ended)
	return failed
}

func (g *grouped) commit(tx *commonTx) error {
	began := g.clock.Now()
	if err := tx.exec("COMMIT"); err != nil {
		return fmt.Errorf("sqldb: commit: %w", err)
	}
	if g.committed != nil {
		g.committed(int(tx.members), g.clock.Now().Sub(began))
	}
	return nil
}

// ObserveCommits has functions called for each transaction on SQLite that waited for others,
// and for each commit, with how many transactions shared it. They must be quick. It is called
// before the database is used by several at once. It reports whether there are such figures.
func (db *DB) ObserveCommits(waited func(time.Duration), committed func(transactions int, took time.Duration)) bool {
	if db.groups == nil {
		return false
	}
	db.groups.waited, db.groups.committed = waited, committed
	return true
}

// endIdle ends a transaction that nobody is coming to end.
func (g *grouped) endIdle() {
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	if g.open != nil && g.waiting.Load() == 0 {
		_ = g.end(g.open, nil) // its members get the error
	}
}

// exec runs a statement of the transaction's own, which nothing interrupts.
func (tx *commonTx) exec(statement string) error {
	_, err := tx.conn.ExecContext(context.Background(), statement)
	return err
}
