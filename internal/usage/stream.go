package usage

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// stream is the part of a batch for one tenant and meter.
type stream struct {
	key       StreamKey
	meter     Meter
	billable  bool // see meterRules
	allowance Allowance
	streamState
	entries []*entry // in order of arrival
	// counters are all counters that an event of the batch can change: the counters of the events'
	// periods, and the counters of periods of earlier subscriptions, which a later change can make
	// visible again.
	counters []*Counter
	// now is when the stream was read. It decides which grants and reservations are valid.
	now time.Time
	// isBilled means that the tenant's plan bills the meter. It is only set on streams with grants.
	isBilled bool
	// readsGrants means that the grants were read, because the stream may have some. grants are the
	// valid grants, in the order of use, and remaining is the sum of their remaining units.
	readsGrants bool
	grants      []*grant
	remaining   money.Total
	// hasLaterGrants means that there are grants that start later.
	hasLaterGrants bool
	// reserved is the number of units of the open reservations. reservations are the reservations
	// with the idempotency keys of the entries, by key.
	reserved     money.Total
	reservations map[string]*reservation
	// canOpen is how many more reservations the tenant can open, shared by its streams.
	canOpen *int64
	// left is how many more events the tenant can record today, shared by its streams. Nil means
	// that the batch cannot exceed the cap.
	left *int64
}

// entry is one submission of a batch.
type entry struct {
	*submission
	verdict        *verdict
	period         Period
	id             uuid.UUID       // of the stored event
	granted        money.Quantity  // the part that is drawn from grants
	keyUsed        bool            // a deleted event used its idempotency key
	countedPeriods *countedPeriods // nil if the entry counts only in period
}

func (e *entry) key(k StreamKey) eventKey { return eventKey{StreamKey: k, Key: *e.IdempotencyKey} }

// keys returns the idempotency keys of the entries.
func (s *stream) keys() []eventKey {
	var keys []eventKey
	for _, e := range s.entries {
		if e.IdempotencyKey != nil {
			keys = append(keys, e.key(s.key))
		}
	}
	return keys
}

// complete adds the missing counters of the entries' periods, computed from the stored events. It
// must run before the entries are stored.
func (s *stream) complete(ctx context.Context, db store, now time.Time) error {
	for _, e := range s.entries {
		e.period = PeriodOf(s.meter.Reset, s.allowance.Billing, e.at)
		if err := s.ensureCounter(ctx, db, e.period, false); err != nil {
			return err
		}
		if e.countedPeriods = s.countedPeriods(e, now); e.countedPeriods == nil {
			continue
		}
		for _, p := range slices.Concat(e.countedPeriods.parts, e.countedPeriods.later) {
			if err := s.ensureCounter(ctx, db, p, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureCounter adds the counter of a period if it is missing, computed from the stored events. If
// keep is set, the counter is stored even if no entry changes it.
func (s *stream) ensureCounter(ctx context.Context, db store, p Period, keep bool) error {
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

// isExact reports whether the used keys must be known before the stream is judged. Judging changes
// grants and reservations, so it cannot be repeated.
func (s *stream) isExact() bool {
	return len(s.grants) > 0 || s.reservedUntil != nil || s.reserves()
}

// reserves reports whether an entry reserves units.
func (s *stream) reserves() bool {
	return slices.ContainsFunc(s.entries, func(e *entry) bool { return e.hold != nil })
}

// judge rejects invalid entries and reports whether all are accepted. used contains the idempotency
// keys used before, and judge adds the keys of the entries. If used is nil, every entry counts as
// new. The counters do not change yet, but grants and reservations do.
func (s *stream) judge(used map[eventKey]bool) (allAccepted bool) {
	counters := make([]*Counter, len(s.counters))
	for i, c := range s.counters {
		trial := *c
		counters[i] = &trial
	}
	allAccepted = true
	for _, e := range s.entries {
		if e.hold != nil {
			*e.verdict = s.reserve(e, counters, used)
			continue
		}
		*e.verdict = verdict{err: s.rejection(e, counters, used)}
		if e.verdict.err != nil {
			allAccepted = false
			continue
		}
		e.id = sqldb.NewID()
		s.draw(e.granted)
		if e.settles != nil {
			s.close(e)
		}
		if used != nil && e.IdempotencyKey != nil {
			used[e.key(s.key)] = true
		}
		if s.left != nil {
			*s.left--
		}
		s.count(e, counters)
	}
	return allAccepted
}

// rejection returns the reason to reject an entry, or nil. It sets the part that is drawn from
// grants.
func (s *stream) rejection(e *entry, counters []*Counter, used map[eventKey]bool) error {
	switch {
	case e.settles != nil:
		if err := s.checkSettlement(e); err != nil {
			return err
		}
	case e.keyUsed || e.IdempotencyKey != nil && (used[e.key(s.key)] || s.reservations[*e.IdempotencyKey] != nil):
		return ErrDuplicate
	case s.left != nil && *s.left <= 0:
		return errDailyCap
	}
	granted, err := judge(s.meter, s.windowOf(e, s.currentValue(e, counters), e.period.Contains(s.now)), e.Quantity, s.bounds())
	if err == nil && e.countedPeriods != nil && e.countedPeriods.later != nil {
		var later money.Quantity
		later, err = judge(s.meter, s.windowOf(e, level(s.meter.Aggregation, counters, e.countedPeriods.later...), true), e.Quantity, s.bounds())
		granted = max(granted, later)
	}
	e.granted = granted
	return err
}

func (s *stream) bounds() bounds {
	return bounds{limit: s.allowance.limit(s.meter.Code), cap: s.cap}
}

// windowOf returns the window in which an entry is judged.
func (s *stream) windowOf(e *entry, used Counter, isCurrent bool) window {
	w := window{used: used, grants: s.remaining, isBilled: s.isBilled, isSettlement: e.settles != nil}
	if isCurrent {
		w.reserved = s.reserved
	}
	if e.settles == nil {
		return w
	}
	if r := s.reservations[*e.IdempotencyKey]; r.isOpen(s.now) {
		w.reserved = minus(w.reserved, s.meter.units(r.Quantity))
	}
	return w
}

// count adds an entry to every counter whose period contains it.
func (s *stream) count(e *entry, counters []*Counter) {
	for _, c := range counters {
		if c.Period.Contains(e.at) {
			c.add(s.meter.Aggregation, e.Quantity, e.at)
			c.Granted, _ = c.Granted.Add(money.TotalOf(e.granted))
		}
	}
}

// accept sets the event of an entry and returns the row to store.
func (s *stream) accept(e *entry, now time.Time) storedEvent {
	e.verdict.event = Event{ID: e.id, MeterCode: s.meter.Code, Quantity: e.Quantity, RecordedAt: e.at, Metadata: e.Metadata}
	return storedEvent{
		Stream: s.key, ID: e.id, Quantity: e.Quantity,
		IdempotencyKey: e.IdempotencyKey, RecordedAt: e.at, Metadata: e.Metadata, StoredAt: now, Granted: e.granted,
	}
}

// outcome collects all effects of the stored events of a batch.
type outcome struct {
	changed []changedCounter
	late    []CountedEvent // in hours that are already summed
	alerts  []Alert
	billed  []Figure
	grants  []*grant // changed
	// streams are the streams whose state changed.
	streams      []*stream
	reservations []*reservation // new and changed
}

// settle counts the stored entries, rejects the others as duplicates, and adds to out.
func (s *stream) settle(stored map[uuid.UUID]bool, now time.Time, out *outcome) {
	for _, e := range s.entries {
		if e.hold != nil {
			continue
		}
		if errors.Is(e.verdict.err, ErrQuotaExceeded) {
			c := find(s.counters, e.period)
			c.Rejected, c.changed = c.Rejected+1, true
		}
		if e.verdict.err != nil {
			continue
		}
		if !stored[e.id] {
			*e.verdict = verdict{err: ErrDuplicate}
			continue
		}
		before := find(s.counters, e.period).Value
		s.count(e, s.counters)
		if alert, due := s.nextAlert(e, now); due {
			out.alerts = append(out.alerts, alert)
		}
		if f, needed := s.newFigure(e, before); s.billable && needed {
			out.billed = append(out.billed, f)
		}
		if s.summedBefore != nil && e.at.Before(*s.summedBefore) {
			out.late = append(out.late, CountedEvent{Stream: s.key, ID: e.id, Quantity: e.Quantity, At: e.at})
		}
	}
	for _, c := range s.counters {
		if c.changed {
			out.changed = append(out.changed, changedCounter{s.key, c})
		}
	}
	s.settlePools(out)
}

// find returns the counter of a period, or nil.
func find(counters []*Counter, p Period) *Counter {
	i := slices.IndexFunc(counters, func(c *Counter) bool { return c.Period.Equal(p) })
	if i < 0 {
		return nil
	}
	return counters[i]
}
