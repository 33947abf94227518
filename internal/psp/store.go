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

func (s store) markHandled(ctx context.Context, id string, now time.Time) error {
	return s.q(ctx).MarkEventHandled(ctx, pspsql.MarkEventHandledParams{HandledAt: &now, ID: id})
}
