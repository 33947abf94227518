package inbox

import (
	"context"
	"errors"
	"time"
)

// MissedMessage is the text of the warning about notifications that never came.
const MissedMessage = "events of the payment provider came without a notification"

const (
	// catchUpOverlap is how much of the list is read again each time: an event may
	// show up later than it happened, and clocks differ.
	catchUpOverlap = 15 * time.Minute
	// catchUpFirst is how far back the list is read for the first time.
	catchUpFirst = 24 * time.Hour
	// catchUpMost is how far back it is ever read: the provider keeps no more.
	catchUpMost = 30 * 24 * time.Hour
)

// MinRetention is how long handled events must be remembered: the provider can still name
// them, and one that is not known would be handled again.
const MinRetention = catchUpMost

// DeleteOld deletes at most limit handled events that were received from (inclusive) to
// before (exclusive), the oldest first, and returns when they were.
func (r *Receiver) DeleteOld(ctx context.Context, from, before time.Time, limit int32) ([]time.Time, error) {
	return r.inbox.deleteHandled(ctx, from, before, limit)
}

// CatchUp takes over, from the provider's own list, the events that no notification
// has brought, and returns how many there were. It only asks for types of events that
// have a handler: an account has many more, which the provider does not have to send.
// It runs periodically, in one instance at a time (rules: psp#notifications).
//
// Invariant: the cursor moves once everything in the list is stored, to the time
// before the list was read. After a failure in between the whole list is read
// again.
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
