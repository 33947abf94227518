package kernel

import (
	"context"
	"fmt"
)

// Step is one change of the sandbox's world, or one look at it: everything in
// it happens at the same moment and, when it changes something, in one
// transaction.
type Step struct {
	Q   Querier
	Now int64 // seconds since the epoch, by the injected clock
	// cause is the request behind the step; empty when the step came about by
	// itself or by a person on a hosted page.
	cause eventRequest
	Site  string // the sandbox's public URL, without a path
	// deliveries decides how the next event is delivered; nil when nobody receives
	// events.
	deliveries func() []Delivery
	realNow    int64 // milliseconds since the epoch, by the real clock
	emitted    int   // events so far
	timed      bool  // a timer was set
}

// Read makes a step that only looks. It must not be used inside write.
func (e *Engine) Read() *Step {
	return &Step{Q: e.cfg.DB, Now: e.cfg.Clock.Now().Unix(), Site: e.cfg.Site}
}

// Write runs change in a transaction, and tells Run about new events and
// timers once it is committed. An error leaves nothing behind.
func (e *Engine) Write(ctx context.Context, change func(ctx context.Context, st *Step) error) error {
	// SQLite lets writers that meet sleep and try again; here they queue.
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
	}
	if e.cfg.WebhookURL != "" {
		st.deliveries = e.cfg.Deliveries
	}
	if err := change(ctx, st); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if st.emitted > 0 {
		poke(e.deliver)
	}
	if st.timed {
		poke(e.timers)
	}
	return nil
}

// attempt runs change inside the step's transaction and undoes it, alone, when
// it fails.
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

// Create stores a new object and announces it.
func (st *Step) Create(ctx context.Context, event string, o Object) error {
	if err := Put(ctx, st.Q, o); err != nil {
		return err
	}
	return st.Emit(ctx, event, o, nil)
}

// Change stores an object that was changed from before and announces the
// difference; when there is none it does nothing.
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
