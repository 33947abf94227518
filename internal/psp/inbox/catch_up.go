package inbox

import (
	"context"
	"errors"
	"time"
)

// MissedMessage is the log message for events whose notification never arrived.
const MissedMessage = "missed payment provider notifications"

const (
	// catchUpOverlap is how much of the list is read again each time: an event can appear later
	// than it happened, and clocks differ.
	catchUpOverlap = 15 * time.Minute
	// catchUpFirst is how far back the list is read for the first time.
	catchUpFirst = 24 * time.Hour
	// catchUpMost is the longest time that the list is read back. The provider keeps no older
	// events.
	catchUpMost = 30 * 24 * time.Hour
)

// MinRetention is how long handled events must be stored. The provider can still list them, and an
// event that is not stored would be handled again.
const MinRetention = catchUpMost

// DeleteOld deletes up to limit handled events that were received between from (inclusive) and
// before (exclusive), oldest first. It returns their times.
func (r *Receiver) DeleteOld(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return r.inbox.deleteHandled(ctx, from, before, limit)
}

// CatchUp processes events from the provider's list whose notification never arrived, and returns
// their number. It only requests event types that have a handler, because an account has many other
// types that the provider need not send. It runs periodically, in one instance at a time
// (rules: psp#notifications).
//
// Invariant: the cursor moves only after everything in the list is stored, to the time at which
// reading the list began. After a failure in between, the whole list is read again.
func (r *Receiver) CatchUp(ctx context.Context) (int, error) {
	now := r.clock.Now()
	since, err := r.inbox.cursor(ctx)
	if errors.Is(err, errNoCursor) {
		since, err = now.Add(-catchUpFirst), nil
	}
	if err != nil {
		return 0, err
	}
	since = since.Add(-catchUpOverlap)
	if earliest := now.Add(-catchUpMost); since.Before(earliest) {
		since = earliest
	}
	missed := 0
	for e, err := range r.client.Events(ctx, since, r.Types()) {
		if err != nil {
			return missed, err
		}
		isNew, err := r.accept(ctx, e)
		if err != nil {
			return missed, err
		}
		if isNew {
			missed++
		}
	}
	if missed > 0 {
		r.log.WarnContext(ctx, MissedMessage, "count", missed)
	}
	return missed, r.inbox.moveCursor(ctx, now)
}
