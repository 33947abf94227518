package stripe

import (
	"context"
	"fmt"
)

// step is one change of the sandbox's world, or one look at it: everything in
// it happens at the same moment and, when it changes something, in one
// transaction.
type step struct {
	q   querier
	now int64 // seconds since the epoch, by the injected clock
	// cause is the request behind the step; empty when the step came about by
	// itself or by a person on a hosted page.
	cause eventRequest
	site  string // the sandbox's public URL, without a path
	// passages decides how the next event is delivered; nil when nobody receives
	// events.
	passages func() []passage
	realNow  int64 // milliseconds since the epoch, by the real clock
	emitted  int   // events so far
	timed    bool  // a timer was set
}

// read makes a step that only looks. It must not be used inside write.
func (e *engine) read() *step {
	return &step{q: e.cfg.DB, now: e.cfg.Clock.Now().Unix(), site: e.cfg.Site}
}

// write runs change in a transaction, and tells Run about new events and
// timers once it is committed. An error leaves nothing behind.
func (e *engine) write(ctx context.Context, change func(ctx context.Context, st *step) error) error {
	// SQLite lets writers that meet sleep and try again; here they queue.
	e.writing.Lock()
	defer e.writing.Unlock()
	tx, err := e.cfg.DB.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	st := &step{
		q: tx, site: e.cfg.Site,
		now: e.cfg.Clock.Now().Unix(), realNow: e.cfg.RealClock.Now().UnixMilli(),
	}
	if e.cfg.WebhookURL != "" {
		st.passages = e.cfg.Passages
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
func (st *step) attempt(ctx context.Context, change func() error) error {
	if _, err := st.q.ExecContext(ctx, `SAVEPOINT attempt`); err != nil {
		return fmt.Errorf("savepoint: %w", err)
	}
	emitted := st.emitted
	failed := change()
	if failed != nil {
		st.emitted = emitted
		if _, err := st.q.ExecContext(ctx, `ROLLBACK TO attempt`); err != nil {
			return fmt.Errorf("undo: %w", err)
		}
	}
	if _, err := st.q.ExecContext(ctx, `RELEASE attempt`); err != nil {
		return fmt.Errorf("release savepoint: %w", err)
	}
	return failed
}

// create stores a new object and announces it.
func (st *step) create(ctx context.Context, event string, o object) error {
	if err := put(ctx, st.q, o); err != nil {
		return err
	}
	return st.emit(ctx, event, o, nil)
}

// change stores an object that was changed from before and announces the
// difference; when there is none it does nothing.
func (st *step) change(ctx context.Context, event string, before, o object) error {
	previous, err := difference(before, o)
	if err != nil || len(previous) == 0 {
		return err
	}
	if err := put(ctx, st.q, o); err != nil {
		return err
	}
	return st.emit(ctx, event, o, previous)
}
