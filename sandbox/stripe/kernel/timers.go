package kernel

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// maxPause is the maximum time between two checks of the clocks.
const maxPause = time.Minute

// errorPause is how long Run waits after a database error.
const errorPause = time.Second

// Action is the effect of a timer. It runs in its own step, at the time to which the timer was set.
// object is the id of the timer's object.
type Action func(ctx context.Context, st *Step, object string) error

// SetTimer sets the timer of the kind for an object, in seconds since the epoch on the step's
// clock. It replaces the previous time.
func (st *Step) SetTimer(ctx context.Context, kind, object string, at int64) error {
	_, err := st.Q.ExecContext(ctx, `
		INSERT INTO stripe_timers (kind, object, at, clock) VALUES (?, ?, ?, ?)
		ON CONFLICT (kind, object) DO UPDATE SET at = excluded.at, clock = excluded.clock`, kind, object, at, st.clock)
	if err != nil {
		return fmt.Errorf("set timer %s of %s: %w", kind, object, err)
	}
	st.timed = true
	return nil
}

// StopTimer removes the timer of the kind for an object, if it is set.
func (st *Step) StopTimer(ctx context.Context, kind, object string) error {
	if _, err := st.Q.ExecContext(ctx, `DELETE FROM stripe_timers WHERE kind = ? AND object = ?`, kind, object); err != nil {
		return fmt.Errorf("stop timer %s of %s: %w", kind, object, err)
	}
	return nil
}

// Settle fires all due timers in order, each at its own time, so that later reads see the current
// state.
func (e *Engine) Settle(ctx context.Context) error {
	if err := e.settleTimers(ctx, "", func() int64 { return e.cfg.Clock.Now().Unix() }); err != nil {
		return err
	}
	return e.settleTestClocks(ctx)
}

// settleTimers fires the due timers of the test clock with the id. An empty id means the sandbox's
// clock.
func (e *Engine) settleTimers(ctx context.Context, clock string, now func() int64) error {
	for {
		next, err := nextTimer(ctx, e.cfg.DB, clock)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil || next.at > now() {
			return err
		}
		err = e.Write(ctx, func(ctx context.Context, st *Step) error {
			due, err := nextTimer(ctx, st.Q, clock)
			if errors.Is(err, ErrNotFound) || err == nil && due.at > now() {
				return nil // another request has already fired the timer
			}
			if err != nil {
				return err
			}
			st.Now, st.clock = due.at, clock
			if err := st.StopTimer(ctx, due.kind, due.object); err != nil {
				return err
			}
			ring, known := e.cfg.Timers[due.kind]
			if !known {
				return fmt.Errorf("unknown timer %s", due.kind)
			}
			return ring(ctx, st, due.object)
		})
		if err != nil {
			return fmt.Errorf("timer %s of %s: %w", next.kind, next.object, err)
		}
	}
}

type timer struct {
	kind, object string
	at           int64
}

// nextTimer returns the next timer of the test clock with the id. An empty id means the sandbox's
// clock. It returns ErrNotFound if no timer is set.
func nextTimer(ctx context.Context, q Querier, clock string) (timer, error) {
	var t timer
	err := q.QueryRowContext(ctx, `SELECT kind, object, at FROM stripe_timers WHERE clock = ? ORDER BY at, object, kind LIMIT 1`, clock).Scan(&t.kind, &t.object, &t.at)
	if errors.Is(err, sql.ErrNoRows) {
		return t, ErrNotFound
	}
	if err != nil {
		return t, fmt.Errorf("read timers: %w", err)
	}
	return t, nil
}

// runTimers fires due timers until ctx ends.
func (e *Engine) runTimers(ctx context.Context) {
	for {
		wait := maxPause
		if err := e.Settle(ctx); err != nil {
			if ctx.Err() != nil {
				return
			}
			e.cfg.Log.ErrorContext(ctx, "stripe sandbox: timer failed", slog.Any("error", err))
			wait = errorPause
		} else if next, err := nextTimer(ctx, e.cfg.DB, ""); err == nil {
			left := time.Unix(next.at, 0).Sub(e.cfg.Clock.Now())
			wait = min(wait, max(left, 0))
		}
		if !pause(ctx, wait, e.timers) {
			return
		}
	}
}
