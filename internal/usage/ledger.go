package usage

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// ledger decides recordings and stores those that it accepts.
type ledger struct {
	store store
	plans Plans
	clock clock.Clock
}

// request is one recording of one tenant. at is its recorded_at.
type request struct {
	Recording
	tenantID uuid.UUID
	at       time.Time
}

// verdict is what became of a request: the event that was stored, or err.
type verdict struct {
	event Event
	err   error
}

// streamKey names what one tenant records on one meter.
type streamKey struct{ tenantID, meterID uuid.UUID }

func (k streamKey) compare(o streamKey) int {
	return cmp.Or(bytes.Compare(k.tenantID[:], o.tenantID[:]), bytes.Compare(k.meterID[:], o.meterID[:]))
}

// stream is the part of a batch that belongs to one tenant and meter.
type stream struct {
	key       streamKey
	meter     Meter
	allowance Allowance
	indexes   []int // of its requests in the batch, in order of arrival
	counters  []*counter
}

// decide judges requests of any tenants, in their order, and stores what it
// accepts, all in one transaction; verdicts[i] is requests[i]'s. An error means
// that nothing was stored.
//
// A duplicate is found before the quota is judged, so that repeating a stored
// event is a duplicate even at the limit. Streams are locked in one order
// everywhere, so that writers wait for each other but never deadlock. As long as
// the locks are held nobody else stores an event of these streams, so what is
// read after them stays true until the commit.
func (l *ledger) decide(ctx context.Context, requests []*request) ([]verdict, error) {
	var verdicts []verdict
	err := l.store.db.Tx(ctx, func(ctx context.Context) error {
		verdicts = make([]verdict, len(requests)) // anew each time: Tx may repeat
		streams, err := l.streams(ctx, requests, verdicts)
		if err != nil {
			return err
		}
		for _, s := range streams {
			if err := l.store.lockStream(ctx, s.key); err != nil {
				return fmt.Errorf("usage: lock stream: %w", err)
			}
		}
		return l.write(ctx, streams, requests, verdicts)
	})
	if err != nil {
		return nil, err
	}
	return verdicts, nil
}

// streams sorts the requests by tenant and meter and refuses those without an
// active meter.
func (l *ledger) streams(ctx context.Context, requests []*request, verdicts []verdict) ([]*stream, error) {
	meters := map[string]*Meter{}
	allowances := map[uuid.UUID]Allowance{}
	streams := map[streamKey]*stream{}
	for i, r := range requests {
		m, known := meters[r.MeterCode]
		if !known {
			found, ok, err := l.store.meterForRecording(ctx, r.MeterCode)
			if err != nil {
				return nil, err
			}
			if ok && found.Active {
				m = &found
			}
			meters[r.MeterCode] = m
		}
		if m == nil {
			verdicts[i].err = ErrUnknownMeter
			continue
		}
		allowance, known := allowances[r.tenantID]
		if !known {
			var err error
			if allowance, err = l.plans.Allowance(ctx, r.tenantID); err != nil {
				return nil, err
			}
			allowances[r.tenantID] = allowance
		}
		key := streamKey{r.tenantID, m.ID}
		if streams[key] == nil {
			streams[key] = &stream{key: key, meter: *m, allowance: allowance}
		}
		streams[key].indexes = append(streams[key].indexes, i)
	}
	return slices.SortedFunc(maps.Values(streams), func(a, b *stream) int { return a.key.compare(b.key) }), nil
}

// write decides the streams, which are locked, and stores the outcome.
func (l *ledger) write(ctx context.Context, streams []*stream, requests []*request, verdicts []verdict) error {
	used, err := l.store.usedKeys(ctx, keysOf(streams, requests))
	if err != nil {
		return err
	}
	now := l.clock.Now()
	var events []usagesql.UsageEvent
	for _, s := range streams {
		if err := l.loadCounters(ctx, s, requests); err != nil {
			return err
		}
		for _, i := range s.indexes {
			r := requests[i]
			if r.IdempotencyKey != nil {
				key := eventKey{s.key, *r.IdempotencyKey}
				if used[key] {
					verdicts[i].err = ErrDuplicate
					continue
				}
			}
			if verdicts[i].err, err = l.judge(ctx, s, r); err != nil {
				return err
			}
			if verdicts[i].err != nil {
				continue
			}
			if r.IdempotencyKey != nil {
				used[eventKey{s.key, *r.IdempotencyKey}] = true
			}
			row := s.accept(r, now)
			verdicts[i].event = Event{
				ID: row.ID, MeterCode: s.meter.Code, Quantity: r.Quantity, RecordedAt: row.RecordedAt, Metadata: row.Metadata,
			}
			events = append(events, row)
		}
	}
	if err := l.store.insertEvents(ctx, events); err != nil {
		return err
	}
	return l.putCounters(ctx, streams, now)
}

func keysOf(streams []*stream, requests []*request) []eventKey {
	var keys []eventKey
	for _, s := range streams {
		for _, i := range s.indexes {
			if key := requests[i].IdempotencyKey; key != nil {
				keys = append(keys, eventKey{s.key, *key})
			}
		}
	}
	return keys
}

// loadCounters reads every counter that an event of the batch can change: that
// of the event's period, and those of periods that an earlier subscription had,
// which must stay true because they may be shown again.
func (l *ledger) loadCounters(ctx context.Context, s *stream, requests []*request) error {
	earliest, latest := requests[s.indexes[0]].at, requests[s.indexes[0]].at
	for _, i := range s.indexes[1:] {
		if at := requests[i].at; at.Before(earliest) {
			earliest = at
		} else if at.After(latest) {
			latest = at
		}
	}
	var err error
	if s.counters, err = l.store.countersBetween(ctx, s.key, earliest, latest); err != nil {
		return fmt.Errorf("usage: counters: %w", err)
	}
	return nil
}

// judge decides by the counter of the request's period, which it makes of the
// stored events when there is none yet. The periods of one batch and stream
// follow from the same subscription and never overlap, so that no event that
// only this batch has accepted is missing from it.
func (l *ledger) judge(ctx context.Context, s *stream, r *request) (refusal, err error) {
	period := PeriodOf(s.meter.Reset, s.allowance.Billing, r.at)
	at := slices.IndexFunc(s.counters, func(c *counter) bool { return c.period.equal(period) })
	if at < 0 {
		made, err := l.store.rebuild(ctx, s.key.tenantID, s.meter, period)
		if err != nil {
			return nil, err
		}
		at = len(s.counters)
		s.counters = append(s.counters, &made)
	}
	return judge(s.meter, s.counters[at].value, r.Quantity, s.allowance.limit(s.meter.Code)), nil
}

// accept counts an event in every period that it is in.
func (s *stream) accept(r *request, now time.Time) usagesql.UsageEvent {
	for _, c := range s.counters {
		if c.period.Contains(r.at) {
			c.add(s.meter.Aggregation, r.Quantity, r.at)
		}
	}
	return usagesql.UsageEvent{
		TenantID: s.key.tenantID, ID: sqldb.NewID(), MeterID: s.key.meterID, Quantity: int64(r.Quantity),
		IdempotencyKey: r.IdempotencyKey, RecordedAt: r.at, Metadata: r.Metadata, CreatedAt: now,
	}
}

func (l *ledger) putCounters(ctx context.Context, streams []*stream, now time.Time) error {
	for _, s := range streams {
		for _, c := range s.counters {
			if !c.changed {
				continue
			}
			if err := l.store.putCounter(ctx, s.key, c, now); err != nil {
				return fmt.Errorf("usage: put counter: %w", err)
			}
		}
	}
	return nil
}
