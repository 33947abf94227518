package usage

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/events"
)

// StreamKey names a stream: what one tenant records on one meter.
type StreamKey = events.StreamKey

// stream is the part of a batch that belongs to one tenant and meter.
type stream struct {
	key       StreamKey
	meter     Meter
	billable  bool // as in meterRules
	allowance Allowance
	streamState
	entries []*entry // in order of arrival
	// counters are all that an event of the batch can change: those of the events'
	// periods, and those of the periods of earlier subscriptions. The latter must
	// stay true too, since a later change can make them visible again.
	counters []*Counter
}

// entry is one submission of a batch until its verdict is found.
type entry struct {
	*submission
	verdict *verdict
	period  Period
	id      uuid.UUID // of its event
	keyUsed bool      // its idempotency key belongs to a deleted event
	reach   *reach    // nil where its period alone counts
}

func (e *entry) key(k StreamKey) events.Key { return events.Key{StreamKey: k, Key: *e.IdempotencyKey} }

// keys are the idempotency keys of the entries.
func (s *stream) keys() []events.Key {
	var keys []events.Key
	for _, e := range s.entries {
		if e.IdempotencyKey != nil {
			keys = append(keys, e.key(s.key))
		}
	}
	return keys
}

// complete counts the periods that have no counter yet from the stored events. It
// must run before the entries are stored.
func (s *stream) complete(ctx context.Context, db store, now time.Time) error {
	for _, e := range s.entries {
		e.period = PeriodOf(s.meter.Reset, s.allowance.Billing, e.at)
		if err := s.need(ctx, db, e.period, false); err != nil {
			return err
		}
		if e.reach = s.reach(e, now); e.reach == nil {
			continue
		}
		for _, p := range slices.Concat(e.reach.parts, e.reach.later) {
			if err := s.need(ctx, db, p, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// need counts a period from the stored events if it has no counter; keep has that
// stored even if nothing more is counted in it.
func (s *stream) need(ctx context.Context, db store, p Period, keep bool) error {
	if find(s.counters, p) != nil {
		return nil
	}
	made, err := db.rebuild(ctx, s.key.TenantID, s.meter, p)
	if err != nil {
		return err
	}
	made.absent, made.changed = true, keep
	s.counters = append(s.counters, &made)
	return nil
}

// judge gives a verdict to the entries that may not be stored and reports whether
// all may. used has the idempotency keys that were used before, and judge adds those
// of the entries to it; where used is nil every entry is judged as new. The counters
// do not change yet.
func (s *stream) judge(used map[events.Key]bool) (allAccepted bool) {
	counters := make([]*Counter, len(s.counters))
	for i, c := range s.counters {
		trial := *c
		counters[i] = &trial
	}
	allAccepted = true
	for _, e := range s.entries {
		*e.verdict = verdict{err: s.refusal(e, counters, used)}
		if e.verdict.err != nil {
			allAccepted = false
			continue
		}
		if used != nil && e.IdempotencyKey != nil {
			used[e.key(s.key)] = true
		}
		s.count(e, counters)
	}
	return allAccepted
}

func (s *stream) refusal(e *entry, counters []*Counter, used map[events.Key]bool) error {
	if e.keyUsed || e.IdempotencyKey != nil && used[e.key(s.key)] {
		return ErrDuplicate
	}
	limit := s.allowance.limit(s.meter.Code)
	err := judge(s.meter, s.current(e, counters).Value, e.Quantity, limit)
	if err == nil && e.reach != nil && e.reach.later != nil {
		now := level(s.meter.Aggregation, counters, e.reach.later...)
		err = judge(s.meter, now.Value, e.Quantity, limit)
	}
	return err
}

// count counts an entry in every period that it is in.
func (s *stream) count(e *entry, counters []*Counter) {
	for _, c := range counters {
		if c.Period.Contains(e.at) {
			c.add(s.meter.Aggregation, e.Quantity, e.at)
		}
	}
}

// accept gives an entry its event and returns the row to store.
func (s *stream) accept(e *entry, now time.Time) events.Event {
	e.id = sqldb.NewID()
	e.verdict.event = Event{ID: e.id, MeterCode: s.meter.Code, Quantity: e.Quantity, RecordedAt: e.at, Metadata: e.Metadata}
	return events.Event{
		Stream: s.key, ID: e.id, Quantity: e.Quantity,
		IdempotencyKey: e.IdempotencyKey, RecordedAt: e.at, Metadata: e.Metadata, StoredAt: now,
	}
}

// find returns the counter of a period, nil if there is none.
func find(counters []*Counter, p Period) *Counter {
	i := slices.IndexFunc(counters, func(c *Counter) bool { return c.Period.Equal(p) })
	if i < 0 {
		return nil
	}
	return counters[i]
}
