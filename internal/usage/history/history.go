// Package history shows what tenants have used over time: as series of sums, and event by
// event (rules: usage#series).
//
// Series are read from sums by the hour. An event that is recorded for the present is not
// added to these, which would cost recording a write more: a job adds the hours that are
// over, and moves on the time before which a stream is summed. What is recorded later for a
// time before that is added with the event. The rest is read from the events themselves.
//
// Invariant: of each stream the hours have exactly the events that were recorded for a time
// before its summed_before. That time, the hours and the events of a stream change under
// its lock alone, and in one transaction.
package history

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
)

const (
	// settleTime is how long an hour is over when its events are added: most events arrive in
	// time, and one that does not costs a write more.
	settleTime = 10 * time.Minute
	// eventsAtOnce is how many events one transaction adds.
	eventsAtOnce = 4000
	// streamsAtOnce is how many streams one transaction locks.
	streamsAtOnce = 25
	// maxRunTime is how long one run goes on, less than a periodic job may take.
	maxRunTime = 40 * time.Second
)

// Sums adds events to the hours of their streams.
type Sums struct {
	store   store
	records usage.Records
	clock   clock.Clock
}

// NewSums returns the sums.
func NewSums(db *sqldb.DB, c clock.Clock) *Sums {
	return &Sums{store: store{db}, records: usage.NewRecords(db), clock: c}
}

// Run is a periodic job: it adds the events of all hours that are over. It stops after a
// while, and the next run goes on.
func (s *Sums) Run(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, maxRunTime)
	defer cancel()
	err := s.run(limited, s.clock.Now().Add(-settleTime).Truncate(time.Hour))
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

func (s *Sums) run(ctx context.Context, until time.Time) error {
	for after := (usage.StreamKey{}); ; {
		keys, err := s.store.listUnsummed(ctx, after, until, streamsAtOnce)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := s.Until(ctx, keys, until); err != nil {
			return err
		}
		after = keys[len(keys)-1]
	}
}

// Until adds the events of streams, which are sorted, that were recorded before a time.
func (s *Sums) Until(ctx context.Context, streams []usage.StreamKey, until time.Time) (err error) {
	for len(streams) > 0 && err == nil {
		streams, err = s.add(ctx, streams, until)
	}
	return err
}

// add adds events of streams, which are sorted, in one transaction, and returns the
// streams that have more.
func (s *Sums) add(ctx context.Context, keys []usage.StreamKey, until time.Time) (rest []usage.StreamKey, err error) {
	err = s.store.db.Tx(ctx, func(ctx context.Context) error {
		rest = nil
		if err := s.records.LockStreams(ctx, keys); err != nil {
			return err
		}
		budget := eventsAtOnce
		for i, k := range keys {
			if budget <= 0 {
				rest = append(rest, keys[i:]...)
				return nil
			}
			n, more, err := s.addSome(ctx, k, until, budget)
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

// addSome adds the oldest events of a stream, which is locked, and reports how many, and
// whether there are more before until.
func (s *Sums) addSome(ctx context.Context, k usage.StreamKey, until time.Time, most int) (n int, more bool, err error) {
	state, err := s.store.state(ctx, k)
	if err != nil || !state.summedBefore.Before(until) {
		return 0, false, err
	}
	events, err := s.store.events(ctx, k, usage.Period{Start: state.summedBefore, End: until}, most+1)
	if err != nil {
		return 0, false, err
	}
	hours, reached := []usage.Hour(nil), until
	if more = len(events) > most; more {
		// Those of the last time are for the next transaction: there may be more of them.
		reached = events[most].At
		for len(events) > 0 && events[len(events)-1].At.Equal(reached) {
			events = events[:len(events)-1]
		}
		if len(events) == 0 { // more than fit were recorded for one time
			instant := usage.Period{Start: reached, End: reached.Add(time.Microsecond)}
			one, err := s.store.tally(ctx, k, instant)
			if err != nil {
				return 0, false, err
			}
			one.Hour = usage.HourOf(reached)
			hours, reached = []usage.Hour{one}, instant.End
		}
	}
	n = len(events)
	if n > 0 {
		hours = usage.HoursOf(events)
	}
	if err := s.records.AddHours(ctx, hours); err != nil {
		return 0, false, err
	}
	return n + 1, more, s.store.setSummed(ctx, k, reached)
}

// Recount compares the hours of a stream with its events, from the first hour on whose
// events are all there, and reports those that differ: each as it is and as it has to be.
// With fix, for which the stream is locked, they are corrected.
func (s *Sums) Recount(ctx context.Context, k usage.StreamKey, fix bool) (wrong []WrongHour, err error) {
	state, err := s.store.state(ctx, k)
	if err != nil {
		return nil, err
	}
	from := state.complete()
	stored, err := s.store.hours(ctx, k, usage.HourOf(from))
	if err != nil {
		return nil, err
	}
	counted := newTally(k, state)
	if err := s.store.walk(ctx, k, usage.Period{Start: from, End: state.summedBefore}, counted.add); err != nil {
		return nil, err
	}
	wrong = counted.compareHours(stored)
	if !fix {
		return wrong, nil
	}
	for _, w := range wrong {
		if err := s.store.deleteHour(ctx, k, w.Stored.Hour); err != nil {
			return nil, err
		}
		if w.Counted.Events > 0 {
			if err := s.records.AddHours(ctx, []usage.Hour{w.Counted}); err != nil {
				return nil, err
			}
		}
	}
	return wrong, nil
}
