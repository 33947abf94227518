package usage

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// ledger decides recordings and stores those that it accepts.
type ledger struct {
	store store
	plans Plans
	clock clock.Clock
	alarm alarm
	bill  bill
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

// decide judges requests of any tenants, in their order, and stores what it
// accepts, all in one transaction; verdicts[i] is requests[i]'s. An error means
// that nothing was stored.
//
// Streams are locked in one order everywhere, so that writers wait for each
// other but never deadlock. While the locks are held nobody else stores an event
// of these streams, so what is read under them stays true until the commit.
func (l *ledger) decide(ctx context.Context, requests []*request) ([]verdict, error) {
	var verdicts []verdict
	err := l.store.db.Tx(ctx, func(ctx context.Context) error {
		verdicts = make([]verdict, len(requests)) // anew each time: Tx may repeat
		streams, err := l.streams(ctx, requests, verdicts)
		if err != nil || len(streams) == 0 {
			return err
		}
		if err := l.open(ctx, streams); err != nil {
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

// streams sorts the requests by tenant and meter and refuses those without an
// active meter.
func (l *ledger) streams(ctx context.Context, requests []*request, verdicts []verdict) ([]*stream, error) {
	meters, err := l.meters(ctx, requests)
	if err != nil {
		return nil, err
	}
	streams := map[streamKey]*stream{}
	var tenants []uuid.UUID
	for i, r := range requests {
		m := meters[r.MeterCode]
		if m == nil {
			verdicts[i].err = ErrUnknownMeter
			continue
		}
		key := streamKey{r.tenantID, m.ID}
		if streams[key] == nil {
			streams[key] = &stream{key: key, meter: m.Meter, billable: m.billable}
			tenants = append(tenants, r.tenantID)
		}
		streams[key].entries = append(streams[key].entries, &entry{request: r, verdict: &verdicts[i]})
	}
	allowances, err := l.plans.Allowances(ctx, tenants)
	if err != nil {
		return nil, err
	}
	for key, s := range streams {
		s.allowance = allowances[key.tenantID]
	}
	return slices.SortedFunc(maps.Values(streams), func(a, b *stream) int { return a.key.compare(b.key) }), nil
}

// meters finds the active meters of the requests, and keeps their rules as they
// are until the transaction ends. They are locked in the order of their codes.
func (l *ledger) meters(ctx context.Context, requests []*request) (map[string]*measured, error) {
	meters := map[string]*measured{}
	for _, r := range requests {
		meters[r.MeterCode] = nil
	}
	for _, code := range slices.Sorted(maps.Keys(meters)) {
		m, found, err := l.store.meterForRecording(ctx, code)
		if err != nil {
			return nil, err
		}
		if found && m.Active {
			meters[code] = &m
		}
	}
	return meters, nil
}

// open locks the streams and reads their counters.
func (l *ledger) open(ctx context.Context, streams []*stream) error {
	keys := make([]streamKey, len(streams))
	earliest, latest := streams[0].entries[0].at, streams[0].entries[0].at
	for i, s := range streams {
		keys[i] = s.key
		for _, e := range s.entries {
			if e.at.Before(earliest) {
				earliest = e.at
			}
			if e.at.After(latest) {
				latest = e.at
			}
		}
	}
	pruned, err := l.store.lockStreams(ctx, keys)
	if err != nil {
		return err
	}
	if len(pruned) > 0 {
		if err := l.markSpent(ctx, streams, pruned); err != nil {
			return err
		}
	}
	counters, err := l.store.counters(ctx, keys, earliest, latest)
	if err != nil {
		return err
	}
	for _, s := range streams {
		s.counters = counters[s.key]
		if err := s.complete(ctx, l.store); err != nil {
			return err
		}
	}
	return nil
}

// markSpent finds the entries whose keys belong to deleted events.
func (l *ledger) markSpent(ctx context.Context, streams []*stream, pruned map[streamKey]bool) error {
	var keyed []*entry
	var keys []eventKey
	for _, s := range streams {
		for _, e := range s.entries {
			if pruned[s.key] && e.IdempotencyKey != nil {
				keyed, keys = append(keyed, e), append(keys, e.key(s.key))
			}
		}
	}
	spent, err := l.store.spentKeys(ctx, keys)
	if err != nil {
		return err
	}
	for i, e := range keyed {
		e.spent = spent[keys[i]]
	}
	return nil
}

// judge decides the entries. A duplicate is a duplicate before it is too much,
// so that repeating a stored event is one even at the limit. Where all entries
// would fit if they were all new, the insert finds the duplicates by itself;
// only where one would not, their keys are looked up first.
func (l *ledger) judge(ctx context.Context, streams []*stream) error {
	var tight []*stream
	var keys []eventKey
	for _, s := range streams {
		if s.judge(nil) {
			continue
		}
		tight = append(tight, s)
		for _, e := range s.entries {
			if e.IdempotencyKey != nil {
				keys = append(keys, e.key(s.key))
			}
		}
	}
	used, err := l.store.usedKeys(ctx, keys)
	if err != nil {
		return err
	}
	for _, s := range tight {
		s.judge(used)
	}
	return nil
}

// write stores the accepted entries that are no duplicates, counts them,
// notes what is to be billed, and raises the alerts that follow.
func (l *ledger) write(ctx context.Context, streams []*stream) error {
	now := l.clock.Now()
	var events []usagesql.UsageEvent
	for _, s := range streams {
		for _, e := range s.entries {
			if e.verdict.err == nil {
				events = append(events, s.accept(e, now))
			}
		}
	}
	stored, err := l.store.insertEvents(ctx, events)
	if err != nil {
		return err
	}
	var changed []changedCounter
	var alerts []Alert
	var billed []reported
	for _, s := range streams {
		for _, e := range s.entries {
			switch {
			case stored[e.id]:
				s.count(e, s.counters)
				if alert, due := s.observe(e, now); due {
					alerts = append(alerts, alert)
				}
				if s.billedByEvent() {
					billed = append(billed, s.reported(e))
				}
			case e.verdict.err == nil:
				*e.verdict = verdict{err: ErrDuplicate}
			}
		}
		for _, c := range s.counters {
			if c.changed {
				changed = append(changed, changedCounter{s.key, c})
			}
		}
	}
	if err := l.store.putCounters(ctx, changed, now); err != nil {
		return err
	}
	if err := l.bill.add(ctx, billed, now); err != nil {
		return err
	}
	return l.alarm.raise(ctx, alerts, now)
}
