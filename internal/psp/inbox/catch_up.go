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
	// catchUpPart is the first part of the list. The cursor moves after each part, so that a long list
	// does not have to be read within one run. Each part is twice as long as the previous one, so that a
	// list without events takes few requests.
	catchUpPart = 6 * time.Hour
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
// Invariant: the list is read in parts, oldest first, and the cursor moves to the end of a part only
// after everything in it is stored; after the last part, to the time at which CatchUp began. After a
// failure in between, the part is read again.
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
	for part := catchUpPart; ; part *= 2 {
		until := since.Add(part)
		isLast := !until.Before(now)
		if isLast {
			until = time.Time{} // the provider's clock may be ahead
		}
		n, err := r.readMissed(ctx, since, until)
		if missed += n; err != nil {
			return missed, err
		}
		if isLast {
			break
		}
		if err := r.inbox.moveCursor(ctx, until); err != nil {
			return missed, err
		}
		since = until
	}
	if missed > 0 {
		r.log.WarnContext(ctx, MissedMessage, "count", missed)
	}
	return missed, r.inbox.moveCursor(ctx, now)
}

// readMissed processes the events of a part of the list, and returns the number of missed ones.
func (r *Receiver) readMissed(ctx context.Context, since, until time.Time) (int, error) {
	missed := 0
	for e, err := range r.client.Events(ctx, since, until, r.Types()) {
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
	return missed, nil
}
