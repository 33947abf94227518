package retention

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

// event is a stored event.
type event struct {
	stream         usage.StreamKey
	id             uuid.UUID
	quantity       money.Quantity
	idempotencyKey *string
	recordedAt     time.Time
	metadata       sqldb.JSON
	storedAt       time.Time
	granted        money.Quantity // the part that was drawn from grants
}

// retiredKey is the idempotency key of a deleted event.
type retiredKey struct {
	stream  usage.StreamKey
	key     string
	expires time.Time
}

// Prune deletes old events by whole UTC days, a few events per transaction, and expired keys. It
// stops after runTime; the next run continues. Only one instance may run it at a time. It completes
// unfinished archive files even if no event is old enough to delete.
func (r *Pruner) Prune(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	err := r.prune(limited)
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return nil // the next run continues
	}
	return err
}

func (r *Pruner) prune(ctx context.Context) error {
	if r.deps.Archive != "" {
		if err := r.finishArchives(ctx); err != nil {
			return err
		}
	}
	if r.deps.Keep > 0 {
		cutoff := r.deps.Clock.Now().Add(-r.deps.Keep).Truncate(day)
		if err := r.pruneEvents(ctx, cutoff); err != nil {
			return err
		}
	}
	return r.expireKeys(ctx)
}

// pruneEvents deletes the events recorded for a time before cutoff, stream by stream in order. It
// visits each stream once. Late events of earlier streams are left to the next run.
func (r *Pruner) pruneEvents(ctx context.Context, cutoff time.Time) error {
	all := usage.Period{Start: usage.AllTime().Start, End: cutoff}
	atOnce := int32(chunkSize)
	if r.deps.Archive != "" {
		atOnce = 1 // only the day of the next event is needed
	}
	for from := (usage.StreamKey{}); ; {
		events, err := r.oldestEvents(ctx, from, all, atOnce)
		if err != nil || len(events) == 0 {
			return err
		}
		if r.deps.Archive != "" {
			err = r.archive(ctx, events[0].recordedAt.UTC().Truncate(day), cutoff)
		} else {
			err = r.deleteEvents(ctx, events, cutoff)
		}
		if err != nil {
			return err
		}
		from = events[len(events)-1].stream
	}
}

// oldestEvents returns at most n events of a period: the oldest events of the first streams with events,
// starting at from.
func (r *Pruner) oldestEvents(ctx context.Context, from usage.StreamKey, p usage.Period, n int32) (events []event, err error) {
	streams, err := r.store.streamsWithEvents(ctx, from, p, min(n, streamsAtOnce))
	for _, k := range streams {
		room := n - int32(len(events))
		if err != nil || room == 0 {
			break
		}
		var more []event
		more, err = r.store.oldestEvents(ctx, k, p, room)
		events = append(events, more...)
	}
	return events, err
}

// deleteEvents deletes events and keeps their idempotency keys, in one transaction. The events must
// be sorted by stream. Events that are already deleted are ignored.
func (r *Pruner) deleteEvents(ctx context.Context, events []event, cutoff time.Time) error {
	var streams []usage.StreamKey
	for _, e := range events {
		if len(streams) == 0 || streams[len(streams)-1] != e.stream {
			streams = append(streams, e.stream)
		}
	}
	slices.SortFunc(streams, usage.StreamKey.Compare)
	if err := r.sums.AddUntil(ctx, streams, cutoff); err != nil { // the hours must include events before they are deleted, because they are never recomputed
		return err
	}
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := r.records.LockStreams(ctx, streams); err != nil {
			return err
		}
		if err := r.retireKeys(ctx, events); err != nil {
			return err
		}
		deleted, err := r.store.deleteEvents(ctx, events)
		if err != nil {
			return err
		}
		return r.addToTotals(ctx, streams, deleted, cutoff)
	})
}

// retireKeys stores the keys of events that are about to be deleted.
func (r *Pruner) retireKeys(ctx context.Context, events []event) error {
	now := r.deps.Clock.Now()
	var keys []retiredKey
	for _, e := range events {
		if e.idempotencyKey == nil {
			continue
		}
		expires := e.storedAt.Add(r.deps.Keep)
		if expires.Before(now) {
			expires = now
		}
		keys = append(keys, retiredKey{e.stream, *e.idempotencyKey, expires.Add(keepKeys)})
	}
	return r.store.insertKeys(ctx, keys)
}

// expireKeys deletes expired keys of deleted events.
func (r *Pruner) expireKeys(ctx context.Context) error {
	now := r.deps.Clock.Now()
	for expired := int64(chunkSize); expired == chunkSize; {
		var err error
		if expired, err = r.store.expireKeys(ctx, now, chunkSize); err != nil {
			return err
		}
	}
	return nil
}

// addToTotals adds the deleted events to the totals of their streams.
func (r *Pruner) addToTotals(ctx context.Context, streams []usage.StreamKey, deleted []event, cutoff time.Time) error {
	// Of events with the same time, the one stored last counts.
	slices.SortFunc(deleted, func(a, b event) int {
		return cmp.Or(a.recordedAt.Compare(b.recordedAt), bytes.Compare(a.id[:], b.id[:]))
	})
	for _, k := range streams {
		totals, err := r.store.prunedTotals(ctx, k)
		if err != nil {
			return err
		}
		for _, e := range deleted {
			if e.stream == k {
				totals.add(e)
			}
		}
		if totals.before == nil || totals.before.Before(cutoff) {
			totals.before = &cutoff
		}
		if err := r.store.putPrunedTotals(ctx, k, totals); err != nil {
			return err
		}
	}
	return nil
}

// prunedTotals are the totals of the deleted events of a stream.
type prunedTotals struct {
	before                    *time.Time // events recorded before this time may be deleted; nil: none
	events, units, millionths int64
	granted                   money.Total
	highest, last             money.Quantity
	lastAt                    *time.Time // time of the latest deleted event
}

// complete reports whether the stored events and the totals include every event of a period.
func (p prunedTotals) complete(period usage.Period) bool {
	return p.before == nil || !period.Start.Before(*p.before) || period.Unbounded()
}

// add counts a deleted event.
func (p *prunedTotals) add(e event) {
	p.events++
	p.units += int64(e.quantity / money.One)
	p.millionths += int64(e.quantity % money.One)
	p.granted, _ = p.granted.Add(money.TotalOf(e.granted))
	p.highest = max(p.highest, e.quantity)
	if p.lastAt == nil || !e.recordedAt.Before(*p.lastAt) {
		p.last, p.lastAt = e.quantity, &e.recordedAt
	}
}
