package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/months"
)

// pruneMonths deletes the events of months that are over by a time and have partitions. A month
// that is in use, or has events of streams that are not moved yet, waits for the next run.
//
// Invariant: before a month is detached, the totals and the hours of its streams have its events,
// and what is recorded for it later is added to them as it is stored. So whatever shows them
// stays as it is when the events are gone. The detached table does not change, so that it can be
// written to files at leisure, and is dropped when they are on the disk.
func (r *Pruner) pruneMonths(ctx context.Context, cutoff time.Time) error {
	old, err := r.months.Before(ctx, cutoff)
	for _, m := range old {
		if err != nil {
			return err
		}
		err = r.detach(ctx, m)
		if errors.Is(err, months.ErrBusy) || errors.Is(err, months.ErrNotReady) {
			r.deps.Log.InfoContext(ctx, "usage events of a month are deleted later", "month", m.String(), "reason", err.Error())
			return nil
		}
		if err == nil {
			err = r.finishMonth(ctx, m)
		}
	}
	return err
}

// detach adds the events of a month to the hours and totals of their streams and detaches it.
func (r *Pruner) detach(ctx context.Context, m months.Month) error {
	for try := 1; ; try++ { // an event may be recorded for the month meanwhile
		if err := r.count(ctx, m); err != nil {
			return err
		}
		err := r.months.Detach(ctx, m, func(ctx context.Context, table string) error {
			left, err := r.store.uncounted(ctx, table, m.End)
			if err == nil && left {
				err = months.ErrNotReady
			}
			return err
		})
		if try == 3 || !errors.Is(err, months.ErrNotReady) {
			return err
		}
	}
}

// count adds the events that were recorded until the end of a month to the hours and totals of
// the streams that have any of the month.
func (r *Pruner) count(ctx context.Context, m months.Month) error {
	for after := (usage.StreamKey{}); ; {
		keys, err := r.store.uncountedStreams(ctx, after, m, streamsAtOnce)
		if err != nil || len(keys) == 0 {
			return err
		}
		after = keys[len(keys)-1]
		if err := r.sums.Until(ctx, keys, m.End); err != nil {
			return err
		}
		for len(keys) > 0 {
			if keys, err = r.countSome(ctx, keys, m.End); err != nil {
				return err
			}
		}
	}
}

// countSome adds events of streams, which are sorted, to their totals in one transaction, and
// returns the streams that have more.
func (r *Pruner) countSome(ctx context.Context, keys []usage.StreamKey, until time.Time) (rest []usage.StreamKey, err error) {
	err = r.store.db.Tx(ctx, func(ctx context.Context) error {
		rest = nil
		if err := r.records.LockStreams(ctx, keys); err != nil {
			return err
		}
		budget := int64(countedAtOnce)
		for i, k := range keys {
			if budget <= 0 {
				rest = append(rest, keys[i:]...)
				return nil
			}
			n, more, err := r.countStream(ctx, k, until, budget)
			if err != nil {
				return err
			}
			if more {
				rest = append(rest, k)
			}
			budget -= n
		}
		return nil
	})
	return rest, err
}

// countStream adds the oldest events of a stream, which is locked, that its totals have not to
// these, about so many at most, and reports how many, and whether there are more.
func (r *Pruner) countStream(ctx context.Context, k usage.StreamKey, until time.Time, most int64) (n int64, more bool, err error) {
	row, err := r.store.stream(ctx, k)
	if err != nil || row.Number == nil || row.Moving {
		return 0, false, err
	}
	totals, since := prunedTotalsOf(row), usage.AllTime().Start
	if totals.countedBefore != nil {
		since = *totals.countedBefore
	}
	if !since.Before(until) {
		return 0, false, nil
	}
	reached, err := r.store.eventAt(ctx, k, *row.Number, usage.Period{Start: since, End: until}, most)
	switch {
	case errors.Is(err, errNoEvent):
		reached = until
	case err != nil:
		return 0, false, err
	default: // all of one time are counted together
		more = true
		if !reached.After(since) {
			reached = since.Add(time.Microsecond)
		}
	}
	if n, err = r.store.addRecords(ctx, k, *row.Number, usage.Period{Start: since, End: reached}, &totals); err != nil {
		return 0, false, err
	}
	if !more && (totals.before == nil || totals.before.Before(until)) {
		totals.before = &until
	}
	if err := r.store.putPrunedTotals(ctx, k, totals); err != nil {
		return 0, false, err
	}
	return n, more, r.store.setTotalsBefore(ctx, k, reached)
}

// finishMonths goes on with the months that were detached.
func (r *Pruner) finishMonths(ctx context.Context) error {
	detached, err := r.months.AllDetached(ctx)
	for _, m := range detached {
		if err == nil {
			err = r.finishMonth(ctx, m)
		}
	}
	return err
}

// finishMonth writes the events of a month that is detached to files, where that is asked for,
// and drops it.
//
// Invariant: the table is dropped only when files with all of its events are on the disk under
// their own names. A file has what comes after the last event of the file before, so that an
// interruption at any point loses no event and writes none twice.
func (r *Pruner) finishMonth(ctx context.Context, m months.Month) error {
	if r.deps.Archive != "" {
		for start := m.Start; start.Before(m.End); start = start.AddDate(0, 0, 1) {
			if err := r.archiveDay(ctx, m, start.Format(time.DateOnly)); err != nil {
				return err
			}
		}
	}
	if err := r.months.Drop(ctx, m); err != nil {
		return fmt.Errorf("drop the events of %s: %w", m, err)
	}
	r.deps.Log.InfoContext(ctx, "the usage events of a month were dropped", "month", m.String())
	return r.store.forgetArchivesOfMonth(ctx, m.String())
}
