package usage

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// MinRetention is the least time for which events are kept: longer than any
// period but the one that never ends, so that what a current period shows can
// always be counted from its events.
const MinRetention = 35 * day

const (
	// keepKeys is how much longer than its event an idempotency key is kept.
	keepKeys = 35 * day
	// pruneTogether is how many events are deleted in one transaction.
	pruneTogether = 500
	// pruneTime is how long one run goes on; less than a periodic job may take.
	pruneTime = 40 * time.Second
)

// RetentionDeps is what a Retention works with.
type RetentionDeps struct {
	DB    *sqldb.DB
	Clock clock.Clock
	Log   *slog.Logger
	// Keep is for how long events are kept after the time they were recorded for,
	// at least MinRetention; 0 is for ever.
	Keep time.Duration
	// Archive is the folder to which events are written before they are deleted,
	// the same for all instances; "" for none.
	Archive string
}

// Retention deletes old events.
//
// What holds: what meters show stays. Counters are kept, and of those that are made
// anew, after a change of a meter's aggregation or of a subscription's periods, the
// ones of current periods have all their events, which are younger than
// MinRetention, and that of all time adds what the deleted events came to, which
// their stream keeps in the transaction that deletes them. Only a counter that is
// made anew for a period of long ago counts the events that are left. An idempotency
// key works for keepKeys longer than events are kept: in the transaction that
// deletes an event, under the lock of its stream, its key moves to usage_keys and
// the stream is marked. Who records holds the same lock, sees the mark and looks
// there as well, so a key is found in one place or the other at any time, and
// streams that nothing was deleted of are recorded on as fast as ever.
type Retention struct {
	store store
	deps  RetentionDeps
}

// NewRetention makes a Retention.
func NewRetention(d RetentionDeps) *Retention { return &Retention{store: store{db: d.DB}, deps: d} }

// Prune deletes what need not be kept any longer, in whole days of UTC, a few
// events at a time, for a while; the next run goes on. One instance does so at a
// time. Files that were begun are finished even when nothing is to be deleted any
// more.
func (r *Retention) Prune(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, pruneTime)
	defer cancel()
	err := r.prune(limited)
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return nil // the next run goes on
	}
	return err
}

func (r *Retention) prune(ctx context.Context) error {
	if r.deps.Archive != "" {
		if err := r.finishArchives(ctx); err != nil {
			return err
		}
	}
	if r.deps.Keep > 0 {
		if err := r.pruneEvents(ctx, r.deps.Clock.Now().Add(-r.deps.Keep).Truncate(day)); err != nil {
			return err
		}
	}
	for {
		expired, err := r.store.q(ctx).ExpireKeys(ctx, usagesql.ExpireKeysParams{Now: r.deps.Clock.Now(), MaxKeys: pruneTogether})
		if err != nil {
			return fmt.Errorf("usage: expire keys: %w", err)
		}
		if expired < pruneTogether {
			return nil
		}
	}
}

// pruneEvents deletes the events that were recorded for a time before cutoff.
func (r *Retention) pruneEvents(ctx context.Context, cutoff time.Time) error {
	all := Period{allTime().Start, cutoff}
	for {
		events, err := r.oldest(ctx, all, pruneTogether)
		if err != nil || len(events) == 0 {
			return err
		}
		if r.deps.Archive != "" {
			err = r.archive(ctx, events[0].RecordedAt.UTC().Truncate(day), cutoff)
		} else {
			err = r.strip(ctx, events, cutoff)
		}
		if err != nil {
			return err
		}
	}
}

// oldest reads at most n events of a time, of one stream.
func (r *Retention) oldest(ctx context.Context, p Period, n int32) ([]usagesql.UsageEvent, error) {
	streams, err := r.streamsWithEvents(ctx, streamKey{}, p, 1)
	if err != nil || len(streams) == 0 {
		return nil, err
	}
	return r.eventsOf(ctx, streams[0], p, n)
}

func (r *Retention) streamsWithEvents(ctx context.Context, after streamKey, p Period, n int32) ([]streamKey, error) {
	rows, err := r.store.q(ctx).StreamsWithEvents(ctx, usagesql.StreamsWithEventsParams{
		TenantID: after.tenantID, MeterID: after.meterID, Since: p.Start, Until: p.End, MaxStreams: n,
	})
	if err != nil {
		return nil, fmt.Errorf("usage: streams: %w", err)
	}
	keys := make([]streamKey, len(rows))
	for i, row := range rows {
		keys[i] = streamKey{row.TenantID, row.MeterID}
	}
	return keys, nil
}

func (r *Retention) eventsOf(ctx context.Context, k streamKey, p Period, n int32) ([]usagesql.UsageEvent, error) {
	events, err := r.store.q(ctx).OldestEvents(ctx, usagesql.OldestEventsParams{
		TenantID: k.tenantID, MeterID: k.meterID, Since: p.Start, Until: p.End, MaxEvents: n,
	})
	if err != nil {
		return nil, fmt.Errorf("usage: oldest events: %w", err)
	}
	return events, nil
}

// strip deletes events, which come sorted by stream, and keeps their keys, in one
// transaction. Events that are gone already are fine.
func (r *Retention) strip(ctx context.Context, events []usagesql.UsageEvent, cutoff time.Time) error {
	now := r.deps.Clock.Now()
	var keys []streamKey
	var used []spentKey
	for _, e := range events {
		k := streamKey{e.TenantID, e.MeterID}
		if len(keys) == 0 || keys[len(keys)-1] != k {
			keys = append(keys, k)
		}
		if e.IdempotencyKey != nil {
			expires := e.CreatedAt.Add(r.deps.Keep)
			if expires.Before(now) {
				expires = now
			}
			used = append(used, spentKey{eventKey{k, *e.IdempotencyKey}, expires.Add(keepKeys)})
		}
	}
	slices.SortFunc(keys, streamKey.compare)
	return r.store.db.Tx(ctx, func(ctx context.Context) error {
		if _, err := r.store.lockStreams(ctx, keys); err != nil {
			return err
		}
		if err := r.store.keepKeys(ctx, used); err != nil {
			return err
		}
		deleted, err := r.store.deleteEvents(ctx, events)
		if err != nil {
			return err
		}
		return r.remember(ctx, keys, deleted, cutoff)
	})
}

// remember adds what was deleted to what the deleted events of streams came to.
func (r *Retention) remember(ctx context.Context, keys []streamKey, deleted []usagesql.UsageEvent, cutoff time.Time) error {
	// Of events recorded for the same time the one that was stored last counts.
	slices.SortFunc(deleted, func(a, b usagesql.UsageEvent) int {
		return cmp.Or(a.RecordedAt.Compare(b.RecordedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	for _, k := range keys {
		p, err := r.store.pruned(ctx, k)
		if err != nil {
			return err
		}
		for _, e := range deleted {
			if k == (streamKey{e.TenantID, e.MeterID}) {
				p.add(e)
			}
		}
		if p.before == nil || p.before.Before(cutoff) {
			p.before = &cutoff
		}
		if err := r.store.putPruned(ctx, k, p); err != nil {
			return err
		}
	}
	return nil
}

// spentKey is the idempotency key of a deleted event.
type spentKey struct {
	eventKey
	expires time.Time
}

// meterCodes reads the codes of all meters, the deleted ones too.
func (s store) meterCodes(ctx context.Context) (map[uuid.UUID]string, error) {
	rows, err := s.q(ctx).MeterCodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("usage: meter codes: %w", err)
	}
	codes := make(map[uuid.UUID]string, len(rows))
	for _, row := range rows {
		codes[row.ID] = row.Code
	}
	return codes, nil
}
