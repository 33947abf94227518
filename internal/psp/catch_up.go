package psp

import (
	"context"
	"time"
)

const (
	// catchUpOverlap is read again each time: an event may show up in the list
	// later than it happened, and clocks differ.
	catchUpOverlap = 15 * time.Minute
	// catchUpFirst is how far back the first look goes.
	catchUpFirst = 24 * time.Hour
	// catchUpMost is how far back any look goes: the provider keeps no more.
	catchUpMost = 30 * 24 * time.Hour
)

// keepEvents is how long handled events are remembered: twice as long as the
// provider can still name them.
const keepEvents = 2 * catchUpMost

// Prune forgets handled events that cannot come again.
func (r *Receiver) Prune(ctx context.Context) error {
	return r.inbox.q(ctx).DeleteHandledEvents(ctx, r.clock.Now().Add(-keepEvents))
}

// CatchUp takes, from the provider's own list, the events that no notification
// has brought, and returns how many there were. It is to be run periodically, by
// one instance at a time.
//
// Invariant: the cursor moves to the time before the list was asked for, once
// everything in it is stored; a look that fails in between is made again whole.
func (r *Receiver) CatchUp(ctx context.Context) (int, error) {
	now := r.clock.Now()
	since, err := r.inbox.cursor(ctx, now.Add(-catchUpFirst))
	if err != nil {
		return 0, err
	}
	since = since.Add(-catchUpOverlap)
	if earliest := now.Add(-catchUpMost); since.Before(earliest) {
		since = earliest
	}
	missed := 0
	for e, err := range r.client.Events(ctx, since) {
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
		r.log.WarnContext(ctx, "events of the payment provider came without a notification", "count", missed)
	}
	return missed, r.inbox.moveCursor(ctx, now)
}
