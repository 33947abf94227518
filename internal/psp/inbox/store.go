package inbox

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/inbox/inboxsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store is the inbox of notifications. It stores each event ID once.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *inboxsql.Queries { return inboxsql.New(s.db.Conn(ctx)) }

// errNoCursor means that the provider's list was never read.
var errNoCursor = errors.New("no cursor yet")

// insert stores an event. It reports whether the event is new.
func (s store) insert(ctx context.Context, e psp.Event, now time.Time) (bool, error) {
	n, err := s.q(ctx).InsertEvent(ctx, inboxsql.InsertEventParams{
		ID: e.ID, Type: e.Type, ObjectID: e.ObjectID, ReceivedAt: now,
	})
	return n == 1, sqldb.Wrap(err, "store a notification")
}

// cursor returns the time up to which the provider's list was processed, or errNoCursor.
func (s store) cursor(ctx context.Context) (time.Time, error) {
	at, err := s.q(ctx).Cursor(ctx)
	return at, sqldb.WrapAbsent(err, "read the cursor of provider events", errNoCursor)
}

// moveCursor moves the cursor forward, never backward.
func (s store) moveCursor(ctx context.Context, to time.Time) error {
	return sqldb.Wrap(s.q(ctx).MoveCursor(ctx, to), "move the cursor of provider events")
}

// isStored reports whether an event is already stored.
func (s store) isStored(ctx context.Context, id string) (bool, error) {
	known, err := s.q(ctx).EventIsKnown(ctx, id)
	return known, sqldb.Wrap(err, "find notification")
}

// listPending returns the unhandled events about e's object, in the order in which they arrived.
func (s store) listPending(ctx context.Context, e psp.Event) ([]psp.Event, error) {
	rows, err := s.q(ctx).WaitingEvents(ctx, e.ObjectID)
	events := make([]psp.Event, len(rows))
	for i, row := range rows {
		events[i] = psp.Event{ID: row.ID, Type: row.Type, ObjectID: e.ObjectID}
	}
	return events, sqldb.Wrap(err, "list waiting notifications")
}

// backlogLimit is the maximum number of notifications that are counted.
const backlogLimit = 10_000

// backlog counts the unhandled events and returns when the oldest was received. The time is zero if
// no event is unhandled.
func (s store) backlog(ctx context.Context) (waiting int64, oldest time.Time, err error) {
	waiting, err = s.q(ctx).CountWaiting(ctx, backlogLimit)
	if err != nil || waiting == 0 {
		return 0, time.Time{}, sqldb.Wrap(err, "count waiting notifications")
	}
	oldest, err = s.q(ctx).OldestWaiting(ctx, backlogLimit)
	if errors.Is(err, sqldb.ErrNoRows) {
		return 0, time.Time{}, nil // handled since the count
	}
	return waiting, oldest, sqldb.Wrap(err, "read the oldest waiting notification")
}

// deleteHandled deletes handled events that were received in a time range, oldest first. It returns
// their times.
func (s store) deleteHandled(ctx context.Context, earliest, before time.Time, most int32) ([]time.Time, error) {
	at, err := s.q(ctx).DeleteHandledEvents(ctx, inboxsql.DeleteHandledEventsParams{Earliest: earliest, Before: before, Most: most})
	return at, sqldb.Wrap(err, "delete handled notifications")
}

func (s store) markHandled(ctx context.Context, events []psp.Event, now time.Time) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		for _, e := range events {
			if err := s.q(ctx).MarkEventHandled(ctx, inboxsql.MarkEventHandledParams{HandledAt: &now, ID: e.ID}); err != nil {
				return sqldb.Wrap(err, "mark a notification as handled")
			}
		}
		return nil
	})
}

// ErrNoEvent means that no event was ever stored.
var ErrNoEvent = errors.New("no event is stored yet")

// LastEventAt returns when the last event was stored, or ErrNoEvent.
func LastEventAt(ctx context.Context, db *sqldb.DB) (time.Time, error) {
	at, err := store{db}.q(ctx).LastEventAt(ctx)
	return at, sqldb.WrapAbsent(err, "read the time of the last event", ErrNoEvent)
}
