// Package mover brings the events of streams that were recorded by the version before into
// the present layout: from usage_events to usage_records (docs/adr/0031-layout-of-events.md).
package mover

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/events"
	"github.com/tenantry/tenantry/internal/usage/months"
)

const (
	// eventsAtOnce is how many events one transaction moves. Recording waits for it.
	eventsAtOnce = 500
	// streamsAtOnce is how many streams one transaction locks.
	streamsAtOnce = 25
	// turn is how long one run goes on, less than a periodic job may take.
	turn = 40 * time.Second
)

// Mover moves events.
//
// Invariant: an event is in one of the two tables. It changes its table in one transaction,
// under its stream's lock, which recording takes as well. Once the stream has a number, new
// events go to usage_records; while it is moving, recording looks for their keys there and here.
// Keys of deleted events are moved last. The transaction that leaves nothing ends the move. So
// it can be interrupted at any time, and who reads both tables in one statement sees each event
// once.
type Mover struct {
	store   store
	records usage.Records
	months  *months.Months
	atOnce  int // events
}

// New returns a mover.
func New(db *sqldb.DB, m *months.Months) *Mover {
	return &Mover{store: store{db}, records: usage.NewRecords(db), months: m, atOnce: eventsAtOnce}
}

// Run is a periodic job: it moves events until none is left, or for a while; the next run
// goes on. It does nothing while instances of the version before may run.
func (m *Mover) Run(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, turn)
	defer cancel()
	err := m.run(limited)
	if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
		return nil
	}
	return err
}

// run goes through all streams. One that cannot be moved keeps none of the others from it.
func (m *Mover) run(ctx context.Context) error {
	var failed error // the first
	for after := (usage.StreamKey{}); ; {
		keys, err := m.store.streamsToMove(ctx, after, streamsAtOnce)
		if err != nil || len(keys) == 0 {
			return cmp.Or(err, failed)
		}
		if err := m.makeRoom(ctx, keys); err != nil {
			return err
		}
		if err := m.moveAll(ctx, keys); err != nil {
			for _, k := range keys {
				if err := m.moveAll(ctx, []usage.StreamKey{k}); err != nil && failed == nil {
					failed = err
				}
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		after = keys[len(keys)-1]
	}
}

// makeRoom makes partitions for the events of streams, so that what is old is dropped by the
// month later.
func (m *Mover) makeRoom(ctx context.Context, keys []usage.StreamKey) error {
	var first time.Time
	for _, k := range keys {
		at, found, err := m.store.firstEvent(ctx, k)
		if err != nil {
			return err
		}
		if found && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if first.IsZero() {
		return nil
	}
	return m.months.Since(ctx, first)
}

// moveAll moves all events of streams, which are sorted.
func (m *Mover) moveAll(ctx context.Context, keys []usage.StreamKey) (err error) {
	for len(keys) > 0 && err == nil {
		keys, err = m.move(ctx, keys)
	}
	return err
}

// move moves events of streams, which are sorted, in one transaction, and returns the
// streams that have more.
func (m *Mover) move(ctx context.Context, keys []usage.StreamKey) (rest []usage.StreamKey, err error) {
	err = m.store.db.Tx(ctx, func(ctx context.Context) error {
		if err := m.records.LockStreams(ctx, keys); err != nil {
			return err
		}
		budget := m.atOnce
		for rest = keys; len(rest) > 0 && budget > 0; {
			moved, more, err := m.moveSome(ctx, rest[0], budget)
			if err != nil {
				return err
			}
			if budget -= moved; !more {
				rest = rest[1:]
			}
		}
		return nil
	})
	return rest, err
}

// moveSome moves the oldest events of a stream, which is locked, at most so many, and
// reports how many, and whether there are more.
func (m *Mover) moveSome(ctx context.Context, k usage.StreamKey, most int) (moved int, more bool, err error) {
	number, moving, err := m.store.number(ctx, k)
	if err != nil || number != 0 && !moving {
		return 0, false, err
	}
	oldest, err := m.store.oldestEvents(ctx, k, most+1)
	if err != nil {
		return 0, false, err
	}
	if more = len(oldest) > most; more {
		oldest = oldest[:most]
	}
	if number == 0 {
		number = events.NewNumber()
		if err := m.store.setNumber(ctx, k, number); err != nil {
			return 0, false, err
		}
	}
	if len(oldest) > 0 {
		if err := m.store.insert(ctx, k, number, oldest); err != nil {
			return 0, false, err
		}
		if err := m.store.deleteUntil(ctx, k, oldest[len(oldest)-1], len(oldest)); err != nil {
			return 0, false, err
		}
	}
	moved = len(oldest)
	if !more {
		keys, err := m.store.moveKeys(ctx, k, number, most-moved+1)
		if err != nil {
			return 0, false, err
		}
		moved += keys
		more = keys > most-len(oldest)
	}
	if !more {
		err = m.store.setMoved(ctx, k)
	}
	return moved, more, err
}
