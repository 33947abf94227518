// Package history reports the usage of tenants over time: as series of aggregates, and as exports
// of single events (rules: usage#series).
//
// Series are read from hourly aggregates. Adding each current event to its hour would cost
// recording an extra write. Instead, a job adds the events of past hours and advances the
// summed_before of the stream. A late event, recorded for a time before summed_before, is added to
// its hour when it is recorded. The remaining events are read directly.
//
// Invariant: the hours of a stream contain exactly the events recorded for a time before its
// summed_before. That time, the hours and the events of a stream change only under its lock and in
// one transaction.
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
	// settleTime is the age of an hour when its events are added. Most events arrive within that
	// time; a later event costs an extra write.
	settleTime = 10 * time.Minute
	// eventsAtOnce limits the events added per transaction.
	eventsAtOnce = 4000
	// streamsAtOnce limits the streams locked per transaction.
	streamsAtOnce = 25
	// maxRunTime is the maximum duration of a run; shorter than the limit for periodic jobs.
	maxRunTime = 40 * time.Second
)

// Sums adds events to the hours of their streams.
type Sums struct {
	store   store
	records usage.Records
	clock   clock.Clock
}

// NewSums returns Sums.
func NewSums(db *sqldb.DB, c clock.Clock) *Sums {
	return &Sums{store: store{db}, records: usage.NewRecords(db), clock: c}
}

// Run is a periodic job. It adds the events of all hours that are over, for at most maxRunTime. The
// next run continues.
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
		if err := s.AddUntil(ctx, keys, until); err != nil {
			return err
		}
		after = keys[len(keys)-1]
	}
}

// AddUntil adds the events that were recorded on the streams for a time before until. streams must
// be sorted.
func (s *Sums) AddUntil(ctx context.Context, streams []usage.StreamKey, until time.Time) (err error) {
	for len(streams) > 0 && err == nil {
		streams, err = s.add(ctx, streams, until)
	}
	return err
}

// add adds a limited number of events of the streams in one transaction. keys must be sorted. It
// returns the streams with events still to add.
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

// addSome adds up to most of the oldest events of a locked stream. n is their number plus one, so
// that a stream without events also counts as work. more reports whether the stream has more events
// before until.
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
		// Leave events with the last time to the next transaction, because there can be more of
		// them.
		reached = events[most].At
		for len(events) > 0 && events[len(events)-1].At.Equal(reached) {
			events = events[:len(events)-1]
		}
		if len(events) == 0 { // too many events have the same time
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

// Recount compares the hours of a stream with its events, starting with the first hour whose events
// are complete, and returns the hours that differ. With fix, it corrects them; the caller must then
// hold the lock of the stream.
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
