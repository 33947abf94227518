package mover

import (
	"context"
	"fmt"
	"time"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
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
func (s store) insert(ctx context.Context, k usage.StreamKey, number int64, events []moversql.OldestEventsRow) error {
	padded := sqldb.Padded(events) // a repeated row is in conflict with itself
	args := make([]any, 0, 8*len(padded))
	for _, e := range padded {
		delay := e.CreatedAt.Sub(e.RecordedAt) / time.Microsecond
		args = append(args, sqldb.ID(k.TenantID), number, e.RecordedAt, e.Quantity, int64(delay), sqldb.ID(e.ID), e.IdempotencyKey, e.Metadata)
	}
	done, err := s.db.Conn(ctx).ExecContext(ctx, `INSERT INTO usage_records (tenant_id, stream, recorded_at, quantity, delay, id, idempotency_key, metadata) VALUES `+
		sqldb.Tuples(1, len(padded), "uuid", "bigint", "timestamptz", "bigint", "bigint", "uuid", "text", "jsonb")+` ON CONFLICT DO NOTHING`, args...)
	if err != nil {
		return sqldb.Wrap(err, "insert moved events")
	}
	n, err := done.RowsAffected()
	return wantAll("insert moved events", n, len(events), err)
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
