package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/events"
	"github.com/tenantry/tenantry/internal/usage/window"
)

// ledger decides about submissions and stores those that it accepts.
type ledger struct {
	store   store
	plans   Plans
	clock   clock.Clock
	alarm   alarm
	billing BillingQueue
	guess   guess
	memory  memory
}

// submission is one recording that a tenant submits. at is its recorded_at.
type submission struct {
	Recording
	tenantID uuid.UUID
	at       time.Time
}

// verdict is what became of a submission: the event that was stored, or err.
type verdict struct {
	event Event
	err   error
}

// decide judges submissions of any tenants, in their order, and stores what it
// accepts, all in one transaction; verdicts[i] belongs to submissions[i]. An error
// means that nothing was stored.
//
// Streams are locked in one order everywhere, so that writers wait for each other
// but never deadlock. While the locks are held nobody else stores an event of these
// streams, so what is read under them stays true until the commit.
func (l *ledger) decide(ctx context.Context, submissions []*submission) ([]verdict, error) {
	var verdicts []verdict
	err := l.store.db.Tx(ctx, func(ctx context.Context) error {
		verdicts = make([]verdict, len(submissions)) // new each time: Tx may repeat
		streams, recalled, err := l.open(ctx, submissions, verdicts)
		if err != nil || len(streams) == 0 {
			return err
		}
		if err := l.judge(ctx, streams); err != nil {
			return err
		}
		if err := l.write(ctx, streams); err != nil {
			return err
		}
		recalled.keep(ctx, streams)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return verdicts, nil
}

// streamsOf groups the submissions by tenant and meter, in the order of locking, and
// refuses those without an active meter.
func streamsOf(submissions []*submission, verdicts []verdict, meters map[string]*meterRules, allowances map[uuid.UUID]Allowance) []*stream {
	streams := map[StreamKey]*stream{}
	for i, r := range submissions {
		m := meters[r.MeterCode]
		if m == nil || !m.Active {
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

// complete tells the streams what was read under their locks, and reads what is left.
func (l *ledger) complete(ctx context.Context, streams []*stream, latest time.Time, states map[StreamKey]streamState, counters map[StreamKey][]*Counter) error {
	for _, s := range streams {
		s.streamState = states[s.key]
	}
	if err := l.markUsedKeys(ctx, streams); err != nil {
		return err
	}
	now := l.clock.Now()
	if now.After(latest) {
		latest = now
	}
	if err := l.addInterrupted(ctx, streams, counters, latest); err != nil {
		return err
	}
	for _, s := range streams {
		s.counters = counters[s.key]
		if err := s.complete(ctx, l.store, now); err != nil {
			return err
		}
	}
	return nil
}

// addInterrupted reads the counters of interrupted windows, and of what followed them
// until a time, of the streams that have any.
func (l *ledger) addInterrupted(ctx context.Context, streams []*stream, counters map[StreamKey][]*Counter, until time.Time) error {
	var keys []StreamKey
	since := until
	for _, s := range streams {
		b := s.allowance.Billing
		if s.meter.Reset != Monthly || b == nil || len(b.Former) == 0 {
			continue
		}
		keys = append(keys, s.key)
		if begun := b.Former[0].Until.Add(-window.LongestMonth); begun.Before(since) {
			since = begun
		}
	}
	return l.store.addCounters(ctx, keys, Period{Start: since, End: until}, counters)
}

// markUsedKeys marks the entries whose idempotency keys deleted events used. Insert finds the
// keys of stored events.
func (l *ledger) markUsedKeys(ctx context.Context, streams []*stream) error {
	var keys []events.Key
	for _, s := range streams {
		if s.pruned {
			keys = append(keys, s.keys()...)
		}
	}
	used, err := l.store.events().KeysOfDeleted(ctx, keys)
	if err != nil {
		return err
	}
	for _, s := range streams {
		for _, e := range s.entries {
			e.keyUsed = e.IdempotencyKey != nil && used[e.key(s.key)]
		}
	}
	return nil
}

// judge decides about the entries. A duplicate is answered as a duplicate even where
// it would exceed the quota, so that a caller who repeats a stored event is always
// told so. Where all entries would fit if they were all new, the insert finds the
// duplicates; only where one would not fit, its stream's keys are looked up first.
func (l *ledger) judge(ctx context.Context, streams []*stream) error {
	var tight []*stream
	var keys []events.Key
	for _, s := range streams {
		if s.judge(nil) {
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

// write stores the accepted entries that are no duplicates, counts them, queues
// what is to be billed, and raises the alerts that follow.
func (l *ledger) write(ctx context.Context, streams []*stream) error {
	now := l.clock.Now()
	var accepted []events.Event
	for _, s := range streams {
		for _, e := range s.entries {
			if e.verdict.err == nil {
				accepted = append(accepted, s.accept(e, now))
			}
		}
	}
	stored, err := l.store.events().Insert(ctx, accepted)
	if err != nil {
		return err
	}
	var changed []changedCounter
	var late []Happened
	var alerts []Alert
	var billed []Figure
	for _, s := range streams {
		for _, e := range s.entries {
			switch {
			case stored[e.id]:
				before := find(s.counters, e.period).Value
				s.count(e, s.counters)
				if alert, due := s.alertAfter(e, now); due {
					alerts = append(alerts, alert)
				}
				if f, needed := s.figure(e, before); s.billable && needed {
					billed = append(billed, f)
				}
			case e.verdict.err == nil:
				*e.verdict = verdict{err: ErrDuplicate}
			}
		}
		late = append(late, s.late(stored)...)
		for _, c := range s.counters {
			if c.changed {
				changed = append(changed, changedCounter{s.key, c})
			}
		}
	}
	// Nothing of this is read again: it may go with the commit.
	later := sqldb.Later(ctx)
	if err := l.store.putCounters(later, changed, now); err != nil {
		return err
	}
	if err := (Records{l.store}).AddHours(later, HoursOf(late)); err != nil {
		return err
	}
	if len(billed) > 0 {
		if err := l.billing.Add(later, billed, now); err != nil {
			return err
		}
	}
	if err := l.alarm.raise(ctx, alerts, now); err != nil {
		return err
	}
	return l.countRefused(later, streams, now)
}
