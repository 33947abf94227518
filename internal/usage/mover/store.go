package mover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/events"
	"github.com/tenantry/tenantry/internal/usage/mover/moversql"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *moversql.Queries { return moversql.New(s.db.Conn(ctx)) }

// streamsToMove lists streams after one, in their order, whose events are not all moved.
func (s store) streamsToMove(ctx context.Context, after usage.StreamKey, most int32) ([]usage.StreamKey, error) {
	rows, err := s.q(ctx).StreamsToMove(ctx, moversql.StreamsToMoveParams{TenantID: after.TenantID, MeterID: after.MeterID, Most: most})
	keys := make([]usage.StreamKey, len(rows))
	for i, row := range rows {
		keys[i] = usage.StreamKey(row)
	}
	return keys, sqldb.Wrap(err, "list streams to move")
}

// number reads a stream's number, 0 where it has none, and whether it is moving.
func (s store) number(ctx context.Context, k usage.StreamKey) (number int64, moving bool, err error) {
	row, err := s.q(ctx).StreamToMove(ctx, moversql.StreamToMoveParams{TenantID: k.TenantID, MeterID: k.MeterID})
	if row.Number != nil {
		number = *row.Number
	}
	return number, row.Moving, sqldb.Wrap(err, "read stream to move")
}

func (s store) setNumber(ctx context.Context, k usage.StreamKey, number int64) error {
	err := s.q(ctx).SetNumber(ctx, moversql.SetNumberParams{TenantID: k.TenantID, MeterID: k.MeterID, Number: &number})
	return sqldb.Wrap(err, "number stream")
}

func (s store) setMoved(ctx context.Context, k usage.StreamKey) error {
	err := s.q(ctx).SetMoved(ctx, moversql.SetMovedParams{TenantID: k.TenantID, MeterID: k.MeterID})
	return sqldb.Wrap(err, "end move of stream")
}

// oldestEvents reads at most n events that are to be moved.
func (s store) oldestEvents(ctx context.Context, k usage.StreamKey, n int) ([]moversql.OldestEventsRow, error) {
	rows, err := s.q(ctx).OldestEvents(ctx, moversql.OldestEventsParams{TenantID: k.TenantID, MeterID: k.MeterID, Most: int32(n)})
	return rows, sqldb.Wrap(err, "read events to move")
}

// insert stores events under their stream's number.
func (s store) insert(ctx context.Context, k usage.StreamKey, number int64, rows []moversql.OldestEventsRow) error {
	moved := make([]events.Event, len(rows))
	for i, e := range rows {
		moved[i] = events.Event{
			Stream: k, Number: &number, ID: e.ID, Quantity: money.Quantity(e.Quantity), IdempotencyKey: e.IdempotencyKey,
			RecordedAt: e.RecordedAt, Metadata: e.Metadata, StoredAt: e.CreatedAt,
		}
	}
	stored, err := events.NewStore(s.db).Insert(ctx, moved)
	return wantAll("insert moved events", int64(len(stored)), len(rows), err)
}

var errNothing = errors.New("nothing is to be moved")

// firstEvent reads for when the first event of a stream that is to be moved was recorded.
func (s store) firstEvent(ctx context.Context, k usage.StreamKey) (at time.Time, found bool, err error) {
	at, err = s.q(ctx).FirstEvent(ctx, moversql.FirstEventParams{TenantID: k.TenantID, MeterID: k.MeterID})
	err = sqldb.WrapAbsent(err, "read first event to move", errNothing)
	if errors.Is(err, errNothing) {
		return at, false, nil
	}
	return at, err == nil, err
}

// moveKeys brings at most so many keys of events that were deleted before they could be moved to
// where the stream's other keys are, and reports how many.
func (s store) moveKeys(ctx context.Context, k usage.StreamKey, number int64, most int) (int, error) {
	if !events.NewStore(s.db).KeysApart() {
		return 0, nil // they stay where they are
	}
	keys, err := s.q(ctx).OldKeys(ctx, moversql.OldKeysParams{TenantID: k.TenantID, MeterID: k.MeterID, Most: int32(most)})
	if err != nil || len(keys) == 0 {
		return 0, sqldb.Wrap(err, "read keys to move")
	}
	if err := events.NewStore(s.db).InsertOldKeys(ctx, k, number, keys); err != nil {
		return 0, err
	}
	n, err := s.q(ctx).DeleteOldKeys(ctx, moversql.DeleteOldKeysParams{TenantID: k.TenantID, MeterID: k.MeterID, Last: keys[len(keys)-1]})
	return len(keys), wantAll("delete moved keys", n, len(keys), err)
}

// deleteUntil deletes the events up to one, of which there are so many.
func (s store) deleteUntil(ctx context.Context, k usage.StreamKey, last moversql.OldestEventsRow, events int) error {
	n, err := s.q(ctx).DeleteOldest(ctx, moversql.DeleteOldestParams{TenantID: k.TenantID, MeterID: k.MeterID, LastAt: last.RecordedAt, LastID: last.ID})
	return wantAll("delete moved events", n, events, err)
}

// wantAll returns an error, which undoes the move, unless a statement was about all events.
func wantAll(what string, got int64, want int, err error) error {
	if err == nil && got != int64(want) {
		err = fmt.Errorf("%d of %d", got, want)
	}
	return sqldb.Wrap(err, what)
}
