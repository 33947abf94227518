package usage

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// StreamKey names a stream: what one tenant records on one meter.
type StreamKey struct{ TenantID, MeterID uuid.UUID }

// Compare sorts streams in the order in which everybody locks them.
func (k StreamKey) Compare(o StreamKey) int {
	return cmp.Or(bytes.Compare(k.TenantID[:], o.TenantID[:]), bytes.Compare(k.MeterID[:], o.MeterID[:]))
}

// stream is the part of a batch that belongs to one tenant and meter.
type stream struct {
	key       StreamKey
	meter     Meter
	billable  bool // as in meterRules
	allowance Allowance
	entries   []*entry // in order of arrival
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
}

func (e *entry) key(k StreamKey) eventKey { return eventKey{k, *e.IdempotencyKey} }

// storedEvent is a row of an event.
type storedEvent struct {
	stream         StreamKey
	id             uuid.UUID
	quantity       money.Quantity
	idempotencyKey *string
	recordedAt     time.Time
	metadata       sqldb.JSON
	storedAt       time.Time
}

// complete counts the periods that have no counter yet from the stored events. It
// must run before the entries are stored.
func (s *stream) complete(ctx context.Context, db store) error {
	for _, e := range s.entries {
		e.period = PeriodOf(s.meter.Reset, s.allowance.Billing, e.at)
		if find(s.counters, e.period) != nil {
			continue
		}
		made, err := db.rebuild(ctx, s.key.TenantID, s.meter, e.period)
		if err != nil {
			return err
		}
		s.counters = append(s.counters, &made)
	}
	return nil
}

// judge gives a verdict to the entries that may not be stored and reports whether
// all may. used has the idempotency keys that were used before, and judge adds those
// of the entries to it; where used is nil every entry is judged as new. The counters
// do not change yet.
func (s *stream) judge(used map[eventKey]bool) (allAccepted bool) {
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

func (s *stream) refusal(e *entry, counters []*Counter, used map[eventKey]bool) error {
	if e.keyUsed || e.IdempotencyKey != nil && used[e.key(s.key)] {
		return ErrDuplicate
	}
	return judge(s.meter, find(counters, e.period).Value, e.Quantity, s.allowance.limit(s.meter.Code))
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
func (s *stream) accept(e *entry, now time.Time) storedEvent {
	e.id = sqldb.NewID()
	e.verdict.event = Event{ID: e.id, MeterCode: s.meter.Code, Quantity: e.Quantity, RecordedAt: e.at, Metadata: e.Metadata}
	return storedEvent{
		stream: s.key, id: e.id, quantity: e.Quantity,
		idempotencyKey: e.IdempotencyKey, recordedAt: e.at, metadata: e.Metadata, storedAt: now,
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
