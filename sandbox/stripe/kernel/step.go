package kernel

import (
	"context"
	"fmt"
)

// Step is one change of the sandbox's state, or one look at it. All of it
// happens at one moment and, if it changes something, in one transaction.
type Step struct {
	Q   Querier
	Now int64 // by the injected clock, in seconds since the epoch
	// cause is the API request behind the step; empty for a timer and for what
	// people do on a hosted page.
	cause eventRequest
	Site  string // the sandbox's URL, without a path
	clock string // the test clock that the step goes by; empty for the sandbox's
	// deliveries decides how the next event is delivered.
	deliveries func() []Delivery
	realNow    int64 // by the real clock, in milliseconds since the epoch
	emitted    int   // how many events were stored
	timed      bool  // a timer was set
}

// Read returns a step that only reads. It must not be used inside Write.
func (e *Engine) Read() *Step {
	return &Step{Q: e.cfg.DB, Now: e.cfg.Clock.Now().Unix(), Site: e.cfg.Site}
}

// Write runs change in a transaction and, after the commit, tells Run about new
// events and timers. If change returns an error, nothing is stored.
func (e *Engine) Write(ctx context.Context, change func(ctx context.Context, st *Step) error) error {
	// Queueing here is faster than SQLite's way of sleeping and trying again.
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

// attempt runs change inside the step's transaction. If it fails, only its own
// changes are undone.
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

// Create stores an object, usually a new one, with an event about it.
func (st *Step) Create(ctx context.Context, event string, o Object) error {
	if err := Put(ctx, st.Q, o); err != nil {
		return err
	}
	return st.Emit(ctx, event, o, nil)
}

// Change stores an object that was changed, with an event about the difference
// to before. If there is no difference it does nothing.
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
