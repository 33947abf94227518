package kernel

import (
	"context"
	"fmt"
)

// Step is one read or change of the sandbox's state. It has a fixed time, and changes run in one
// transaction.
type Step struct {
	Q   Querier
	Now int64 // by the injected clock, in seconds since the epoch
	// cause is the API request that caused the step. It is empty for timers and for actions on a
	// hosted page.
	cause eventRequest
	Site  string // the sandbox's URL, without a path
	clock string // the id of the step's test clock; empty for the sandbox's clock
	// deliveries returns the deliveries of the next event.
	deliveries func() []Delivery
	realNow    int64 // by the real clock, in milliseconds since the epoch
	emitted    int   // the number of stored events
	timed      bool  // whether a timer was set
}

// Read returns a step for reads only. It must not be used inside Write.
func (e *Engine) Read() *Step {
	return &Step{Q: e.cfg.DB, Now: e.cfg.Clock.Now().Unix(), Site: e.cfg.Site}
}

// Write runs change in a transaction. After the commit, it notifies Run about new events and
// timers. If change returns an error, the transaction is rolled back.
func (e *Engine) Write(ctx context.Context, change func(ctx context.Context, st *Step) error) error {
	// Waiting for a mutex is faster than SQLite's sleep and retry.
	e.writing.Lock()
	defer e.writing.Unlock()
	tx, err := e.cfg.DB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	st := &Step{
		Q: tx, Site: e.cfg.Site,
		Now: e.cfg.Clock.Now().Unix(), realNow: e.cfg.RealClock.Now().UnixMilli(),
		deliveries: e.cfg.Deliveries,
	}
	if err := change(ctx, st); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if st.emitted > 0 {
		wakeUp(e.deliver)
	}
	if st.timed {
		wakeUp(e.timers)
	}
	return nil
}

// attempt runs change in a savepoint of the step's transaction. If change fails, only its own
// changes are rolled back.
func (st *Step) attempt(ctx context.Context, change func() error) error {
	if _, err := st.Q.ExecContext(ctx, `SAVEPOINT attempt`); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	emitted := st.emitted
	failed := change()
	if failed != nil {
		st.emitted = emitted
		if _, err := st.Q.ExecContext(ctx, `ROLLBACK TO attempt`); err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	if _, err := st.Q.ExecContext(ctx, `RELEASE attempt`); err != nil {
		return fmt.Errorf("release savepoint: %w", err)
	}
	return failed
}

// Create stores an object, usually a new one, and emits an event about it.
func (st *Step) Create(ctx context.Context, event string, o Object) error {
	if err := Put(ctx, st.Q, o); err != nil {
		return err
	}
	return st.Emit(ctx, event, o, nil)
}

// Change stores a changed object and emits an event with the difference from before. If nothing
// changed, it does nothing.
func (st *Step) Change(ctx context.Context, event string, before, o Object) error {
	previous, err := Difference(before, o)
	if err != nil || len(previous) == 0 {
		return err
	}
	if err := Put(ctx, st.Q, o); err != nil {
		return err
	}
	return st.Emit(ctx, event, o, previous)
}
