package usage

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// streamKey names what one tenant records on one meter.
type streamKey struct{ tenantID, meterID uuid.UUID }

func (k streamKey) compare(o streamKey) int {
	return cmp.Or(bytes.Compare(k.tenantID[:], o.tenantID[:]), bytes.Compare(k.meterID[:], o.meterID[:]))
}

// stream is the part of a batch that belongs to one tenant and meter.
type stream struct {
	key       streamKey
	meter     Meter
	billable  bool // see measured
	allowance Allowance
	entries   []*entry // in order of arrival
	// counters are all that an event of the batch can change: those of the
	// events' periods, and those of periods that an earlier subscription had,
	// which must stay true because they may be shown again.
	counters []*counter
}

// entry is one request of a batch, on its way to its verdict.
type entry struct {
	*request
	verdict *verdict
	period  Period
	id      uuid.UUID // of its event
	spent   bool      // its idempotency key belongs to a deleted event
}

func (e *entry) key(k streamKey) eventKey { return eventKey{k, *e.IdempotencyKey} }

// complete makes the counters that are missing, of the stored events. Entries
// must not be stored yet.
func (s *stream) complete(ctx context.Context, db store) error {
	for _, e := range s.entries {
		e.period = PeriodOf(s.meter.Reset, s.allowance.Billing, e.at)
		if find(s.counters, e.period) != nil {
			continue
		}
		made, err := db.rebuild(ctx, s.key.tenantID, s.meter, e.period)
		if err != nil {
			return err
		}
		s.counters = append(s.counters, &made)
	}
	return nil
}

// judge gives the entries that may not be stored their verdict and tells whether
// there was none. used has the idempotency keys that were used before, and gets
// those of the entries; without it (nil) every entry is judged as new. Nothing
// is counted yet.
func (s *stream) judge(used map[eventKey]bool) (allAccepted bool) {
	counters := make([]*counter, len(s.counters))
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

func (s *stream) refusal(e *entry, counters []*counter, used map[eventKey]bool) error {
	if e.spent || e.IdempotencyKey != nil && used[e.key(s.key)] {
		return ErrDuplicate
	}
	return judge(s.meter, find(counters, e.period).value, e.Quantity, s.allowance.limit(s.meter.Code))
}

// count counts an entry in every period that it is in.
func (s *stream) count(e *entry, counters []*counter) {
	for _, c := range counters {
		if c.period.Contains(e.at) {
			c.add(s.meter.Aggregation, e.Quantity, e.at)
		}
	}
}

// accept gives an entry its event and returns the row to store.
func (s *stream) accept(e *entry, now time.Time) usagesql.UsageEvent {
	e.id = sqldb.NewID()
	e.verdict.event = Event{ID: e.id, MeterCode: s.meter.Code, Quantity: e.Quantity, RecordedAt: e.at, Metadata: e.Metadata}
	return usagesql.UsageEvent{
		TenantID: s.key.tenantID, ID: e.id, MeterID: s.key.meterID, Quantity: int64(e.Quantity),
		IdempotencyKey: e.IdempotencyKey, RecordedAt: e.at, Metadata: e.Metadata, CreatedAt: now,
	}
}

// find returns the counter of a period, nil if there is none.
func find(counters []*counter, p Period) *counter {
	i := slices.IndexFunc(counters, func(c *counter) bool { return c.period.equal(p) })
	if i < 0 {
		return nil
	}
	return counters[i]
}
