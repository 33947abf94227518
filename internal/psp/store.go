package psp

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/psp/pspsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store is the inbox of notifications: each event id once.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *pspsql.Queries { return pspsql.New(s.db.Conn(ctx)) }

// insert stores an event and tells whether it was new.
func (s store) insert(ctx context.Context, e Event, now time.Time) (bool, error) {
	n, err := s.q(ctx).InsertEvent(ctx, pspsql.InsertEventParams{
		ID: e.ID, Type: e.Type, ObjectID: e.ObjectID, ReceivedAt: now,
	})
	return n == 1, err
}

// cursor is the time up to which the provider's list was taken over; orElse when
// it never was.
func (s store) cursor(ctx context.Context, orElse time.Time) (time.Time, error) {
	at, err := s.q(ctx).Cursor(ctx)
	if errors.Is(err, sqldb.ErrNoRows) {
		return orElse, nil
	}
	return at, err
}

// moveCursor moves it forward, never back.
func (s store) moveCursor(ctx context.Context, to time.Time) error {
	return s.q(ctx).MoveCursor(ctx, to)
}

// known tells whether an event was stored before.
func (s store) known(ctx context.Context, id string) (bool, error) {
	return s.q(ctx).EventIsKnown(ctx, id)
}

// waiting are the events that are not handled yet: those about e's object, in the
// order in which they came, or e alone if it is about nothing with an id.
func (s store) waiting(ctx context.Context, e Event) ([]Event, error) {
	if e.ObjectID == "" {
		return []Event{e}, nil
	}
	rows, err := s.q(ctx).WaitingEvents(ctx, e.ObjectID)
	events := make([]Event, len(rows))
	for i, row := range rows {
		events[i] = Event{ID: row.ID, Type: row.Type, ObjectID: e.ObjectID}
	}
	return events, err
}

func (s store) markHandled(ctx context.Context, events []Event, now time.Time) error {
	return s.db.Tx(ctx, func(ctx context.Context) error {
		for _, e := range events {
			if err := s.q(ctx).MarkEventHandled(ctx, pspsql.MarkEventHandledParams{HandledAt: &now, ID: e.ID}); err != nil {
				return err
			}
		}
		return nil
	})
}
