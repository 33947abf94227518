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

// maxGroup limits the number of transactions that share a commit on SQLite, and so the time that
// the first of them waits for the last.
const maxGroup = 32

// groupCommitter runs the write transactions of SQLite one after another, as SQLite requires, and
// implements group commit for transactions that wait for each other. A durable commit takes about a
// millisecond of disk time, most transactions only a tenth of that. Each transaction is a savepoint
// of one common transaction, so a failed one does not affect the others. No caller gets a result
// before the commit that makes its transaction durable.
//
// Invariants: only the holder of the turn uses open and its connection. If a transaction is open
// when the turn is released, a caller that will end it is on its way: a caller that waits for its
// turn, or endIdle.
type groupCommitter struct {
	pool    *sql.DB
	changes *changes
	turn    chan struct{} // holds a token while a caller has the turn
	waiting atomic.Int64  // callers that wait for the turn
	open    *commonTx

	clock     clock.Clock
	waited    func(time.Duration)                        // may be nil
	committed func(transactions int, took time.Duration) // may be nil
}

// commonTx is a transaction shared by several callers.
type commonTx struct {
	conn    *sql.Conn
	members uint64
	ended   chan struct{} // closed when the transaction has ended
	err     error         // why the commit failed; set before ended is closed
}

func newGrouped(pool *sql.DB, changes *changes) *groupCommitter {
	return &groupCommitter{pool: pool, changes: changes, turn: make(chan struct{}, 1), clock: clock.System()}
}

// run runs f as a member of the open transaction, or of a new one, and returns once that
// transaction has ended. An error of f, or the end of ctx, only rolls back f.
func (g *groupCommitter) run(ctx context.Context, f func(conn *sql.Conn) error) error {
	if err := g.await(ctx); err != nil {
		return err
	}
	tx, err := g.member(ctx, f)
	if tx == nil {
		return err
	}
	<-tx.ended // The transaction ends soon, even if ctx has ended, and only then is the outcome known.
	if tx.err != nil && err == nil {
		err = tx.err
	}
	return err
}

// await waits for the turn until ctx ends. It reports only actual waits to waited.
func (g *groupCommitter) await(ctx context.Context) error {
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
			go g.endIdle() // the open transaction may rely on this caller to end it
		}
		return fmt.Errorf("sqldb: begin: %w", ctx.Err())
	}
}

// member runs f with the turn and then releases the turn. It returns a nil commonTx if the
// transaction could not begin.
func (g *groupCommitter) member(ctx context.Context, f func(conn *sql.Conn) error) (tx *commonTx, err error) {
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
		if !finished { // f panicked: roll it back like a failed member
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

// begin opens a transaction. The end of ctx, which belongs to the first member, does not end it.
func (g *groupCommitter) begin(ctx context.Context) error {
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

// setSavepoint marks the start of a member. The first member needs no savepoint, since rolling it
// back rolls back everything.
func (tx *commonTx) setSavepoint() error {
	if tx.members == 1 {
		return nil
	}
	return tx.exec("SAVEPOINT member")
}

// finishMember rolls back a failed member, and ends the transaction unless another caller is
// waiting. It returns failed, or the error of the transaction.
func (g *groupCommitter) finishMember(tx *commonTx, failed error) error {
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
	if err != nil { // SQLite has rolled back the whole transaction, for example because the disk is full
		return errors.Join(failed, g.end(tx, err))
	}
	if g.waiting.Load() == 0 || tx.members >= maxGroup {
		if err := g.end(tx, nil); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// end commits, or rolls back if failed is not nil, and notifies the members. It returns the reason
// if the transaction was not committed.
func (g *groupCommitter) end(tx *commonTx, failed error) error {
	if failed == nil {
		failed = g.commit(tx)
	}
	if failed != nil {
		_ = tx.exec("ROLLBACK") // fails if SQLite has already rolled back
	} else {
		g.changes.checked.Store(g.clock.Now().UnixNano()) // The lock kept other processes from committing until now.
	}
	g.changes.locked.Store(false)
	g.open = nil
	g.changes.end()
	_ = tx.conn.Close() // returns it to the pool
	tx.err = failed
	close(tx.ended)
	return failed
}

func (g *groupCommitter) commit(tx *commonTx) error {
	began := g.clock.Now()
	if err := tx.exec("COMMIT"); err != nil {
		return fmt.Errorf("sqldb: commit: %w", err)
	}
	if g.committed != nil {
		g.committed(int(tx.members), g.clock.Now().Sub(began))
	}
	return nil
}

// ObserveCommits sets the functions to call for each SQLite transaction that waited for others, and
// for each commit with the number of transactions that shared it. They must be fast. It must be
// called before concurrent use of the database. It returns false on PostgreSQL, where the functions
// are never called.
func (db *DB) ObserveCommits(waited func(time.Duration), committed func(transactions int, took time.Duration)) bool {
	if db.groups == nil {
		return false
	}
	db.groups.waited, db.groups.committed = waited, committed
	return true
}

// endIdle ends the open transaction if no caller is waiting to end it.
func (g *groupCommitter) endIdle() {
	g.turn <- struct{}{}
	defer func() { <-g.turn }()
	if g.open != nil && g.waiting.Load() == 0 {
		_ = g.end(g.open, nil) // its members get the error
	}
}

// exec runs an internal statement of the transaction, without interruption.
func (tx *commonTx) exec(statement string) error {
	_, err := tx.conn.ExecContext(context.Background(), statement)
	return err
}
