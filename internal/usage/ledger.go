package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// ledger judges submissions and stores the events that it accepts.
type ledger struct {
	store   store
	plans   planReader
	clock   clock.Clock
	alarm   alarm
	billing billingQueue
	// dailyCap and hadPlan are set from Deps.
	dailyCap int64
	hadPlan  func(ctx context.Context, tenantID uuid.UUID) (bool, error)
}

// submission is one recording of a tenant.
type submission struct {
	Recording
	tenantID uuid.UUID
	at       time.Time // the event's recorded_at
	// hold reserves units for a time instead of recording an event.
	hold *time.Duration
	// settles is the ID of the reservation that the event settles. The event has the reservation's
	// key.
	settles *uuid.UUID
}

// verdict is the outcome of a submission: the stored event or the reservation, or the reason for its
// rejection.
type verdict struct {
	event       Event
	reservation *reservation
	err         error
}

// decide judges submissions of any tenants in their order and stores the accepted events, all in
// one transaction; verdicts[i] belongs to submissions[i]. An error means that nothing was stored.
//
// A stream is the usage of one tenant on one meter. Every transaction locks streams in the same
// order, so writers wait for each other without deadlocks. While the locks are held, no other
// transaction stores an event of these streams, so all data read under the locks stays valid until
// the commit.
func (l *ledger) decide(ctx context.Context, submissions []*submission) ([]verdict, error) {
	var verdicts []verdict
	err := l.store.db.Tx(ctx, func(ctx context.Context) error {
		verdicts = make([]verdict, len(submissions)) // Tx can call this function again.
		streams, err := l.lock(ctx, submissions, verdicts)
		if err != nil || len(streams) == 0 {
			return err
		}
		if err := l.read(ctx, streams); err != nil {
			return err
		}
		if err := l.limitDailyEvents(ctx, streams); err != nil {
			return err
		}
		if err := l.judge(ctx, streams); err != nil {
			return err
		}
		return l.write(ctx, streams)
	})
	if err != nil {
		return nil, err
	}
	return verdicts, nil
}

// lock groups the submissions into streams with their meters and allowances, and locks the streams
// in order. It rejects submissions without an active meter.
func (l *ledger) lock(ctx context.Context, submissions []*submission, verdicts []verdict) ([]*stream, error) {
	tenants, codes, holders := map[uuid.UUID]bool{}, map[string]bool{}, map[uuid.UUID]bool{}
	for _, s := range submissions {
		tenants[s.tenantID], codes[s.MeterCode] = true, true
		if s.hold != nil {
			holders[s.tenantID] = true
		}
	}
	meters := map[string]*meterRules{}
	terms, readAllowances := l.plans.Allowances(ctx, slices.Collect(maps.Keys(tenants)))
	queries := slices.Concat(l.store.metersForRecording(slices.Sorted(maps.Keys(codes)), meters), l.store.tenantsToReserve(holders), terms)
	if err := l.store.db.QueryAll(ctx, queries...); err != nil {
		return nil, err
	}
	allowances, err := readAllowances(ctx)
	if err != nil {
		return nil, err
	}
	streams := streamsOf(submissions, verdicts, meters, allowances)
	if len(streams) == 0 {
		return nil, nil
	}
	states, err := l.store.lockStreams(ctx, keysOf(streams))
	for _, s := range streams {
		s.streamState = states[s.key]
	}
	return streams, err
}

// streamsOf returns the streams of the submissions in locking order.
func streamsOf(submissions []*submission, verdicts []verdict, meters map[string]*meterRules, allowances map[uuid.UUID]Allowance) []*stream {
	streams := map[StreamKey]*stream{}
	for i, r := range submissions {
		m := meters[r.MeterCode]
		if m == nil || !m.Active && r.settles == nil {
			verdicts[i].err = ErrUnknownMeter
			continue
		}
		key := StreamKey{TenantID: r.tenantID, MeterID: m.ID}
		if streams[key] == nil {
			streams[key] = &stream{key: key, meter: m.Meter, billable: m.billable, allowance: allowances[key.TenantID]}
		}
		streams[key].entries = append(streams[key].entries, &entry{submission: r, verdict: &verdicts[i]})
	}
	return slices.SortedFunc(maps.Values(streams), func(a, b *stream) int { return a.key.Compare(b.key) })
}

func keysOf(streams []*stream) []StreamKey {
	keys := make([]StreamKey, len(streams))
	for i, s := range streams {
		keys[i] = s.key
	}
	return keys
}

// read reads the counters that the entries can change, and the idempotency keys of deleted events.
// A missing counter is computed from the stored events.
//
// Invariant: the statements begin after the streams are locked, so they see the last commit on each
// stream.
func (l *ledger) read(ctx context.Context, streams []*stream) error {
	now := l.clock.Now()
	counters := make(map[StreamKey][]*Counter, len(streams))
	if err := l.readPools(ctx, streams, now, l.store.countersQuery(keysOf(streams), timeOfCounters(streams, now), counters)); err != nil {
		return err
	}
	var keys []eventKey
	for _, s := range streams {
		if s.pruned {
			keys = append(keys, s.keys()...)
		}
	}
	deleted, err := l.store.events().KeysOfDeleted(ctx, keys)
	if err != nil {
		return err
	}
	for _, s := range streams {
		s.counters, s.now = counters[s.key], now
		for _, e := range s.entries {
			e.keyUsed = e.IdempotencyKey != nil && deleted[e.key(s.key)]
		}
		if err := s.complete(ctx, l.store, now); err != nil {
			return err
		}
	}
	return nil
}

// timeOfCounters returns the time range that the counters must cover: the times of the entries and,
// for streams with interrupted windows, the time from the first such window until now.
func timeOfCounters(streams []*stream, now time.Time) Period {
	first := streams[0].entries[0].at
	p := Period{Start: first, End: first}
	include := func(at time.Time) {
		if at.Before(p.Start) {
			p.Start = at
		}
		if at.After(p.End) {
			p.End = at
		}
	}
	for _, s := range streams {
		for _, e := range s.entries {
			include(e.at)
		}
		if b := s.allowance.Billing; s.meter.Reset == ResetMonthly && b != nil && len(b.Former) > 0 {
			include(b.Former[0].Until.Add(-longestMonth))
			include(now)
		}
	}
	return p
}

// judge accepts or rejects the entries. A duplicate is reported as a duplicate even if it would
// exceed the quota, so that repeating a stored event always has the same outcome. If all entries of
// a stream fit, the insert detects duplicates. Otherwise their keys are looked up first.
func (l *ledger) judge(ctx context.Context, streams []*stream) error {
	var tight []*stream
	var keys []eventKey
	for _, s := range streams {
		if s.left == nil && !s.isExact() && s.judge(nil) {
			continue
		}
		tight = append(tight, s)
		keys = append(keys, s.keys()...)
	}
	used, err := l.store.events().KeysOfEvents(ctx, keys)
	if err != nil {
		return err
	}
	for _, s := range tight {
		s.judge(used)
	}
	return nil
}

// write stores the accepted entries that are not duplicates, updates the counters, queues the
// figures to bill, and raises alerts.
func (l *ledger) write(ctx context.Context, streams []*stream) error {
	now := l.clock.Now()
	var accepted []storedEvent
	for _, s := range streams {
		for _, e := range s.entries {
			if e.verdict.err == nil && e.hold == nil {
				accepted = append(accepted, s.accept(e, now))
			}
		}
	}
	stored, err := l.store.events().Insert(ctx, accepted)
	if err != nil {
		return err
	}
	var out outcome
	for _, s := range streams {
		s.settle(stored, now, &out)
	}
	later := sqldb.WithDeferred(ctx) // This transaction does not read the results again.
	if err := l.store.putCounters(later, out.changed, now); err != nil {
		return err
	}
	if err := (Records{l.store}).AddHours(later, HoursOf(out.late)); err != nil {
		return err
	}
	if len(out.billed) > 0 {
		if err := l.billing.Add(later, out.billed, now); err != nil {
			return err
		}
	}
	if err := l.writeGrants(ctx, out, now); err != nil {
		return err
	}
	if err := l.alarm.raiseAlerts(ctx, out.alerts, now); err != nil {
		return err
	}
	if err := l.countDay(later, streams, now); err != nil {
		return err
	}
	return l.countRefused(later, streams, now)
}
