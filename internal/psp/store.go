package psp

import (
	"context"
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

func (s store) markHandled(ctx context.Context, id string, now time.Time) error {
	return s.q(ctx).MarkEventHandled(ctx, pspsql.MarkEventHandledParams{HandledAt: &now, ID: id})
}
