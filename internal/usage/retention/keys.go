package retention

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/usage/events"
)

// noteDeletion notes that the events which were recorded before a time are deleted, but for those
// of partitions that are there still.
func (r *Pruner) noteDeletion(ctx context.Context, cutoff time.Time) error {
	left, err := r.months.Before(ctx, cutoff.AddDate(0, 1, 0)) // the one with the cutoff too
	if err != nil {
		return err
	}
	if len(left) > 0 && left[0].Start.Before(cutoff) {
		cutoff = left[0].Start
	}
	return r.store.putDeletion(ctx, cutoff, r.deps.Clock.Now())
}

// expireKeys deletes keys that have expired.
//
// Invariant: a key is kept for as long as its event, and for keepKeys after that. Who has
// recorded an event on one day has done so for a time until five minutes later. So once all
// events that were recorded for a time until the end of the next day are deleted, and keepKeys
// are over, the keys that were stored on that day can go.
func (r *Pruner) expireKeys(ctx context.Context) error {
	now := r.deps.Clock.Now()
	for expired := int64(chunkSize); expired == chunkSize; {
		var err error
		if expired, err = r.store.expireKeys(ctx, now, chunkSize); err != nil { // of usage_keys
			return err
		}
	}
	deleted, known, err := r.store.deletedSince(ctx, now.Add(-keepKeys))
	if err != nil || !known {
		return err
	}
	for expired := int64(keysAtOnce); expired == keysAtOnce; {
		if expired, err = r.store.expireRecordKeys(ctx, events.DayOf(deleted)-1, keysAtOnce); err != nil {
			return err
		}
	}
	return nil
}
