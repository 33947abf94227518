package retention

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/retention/retentionsql"
)

// countersBetween calls f for the counters of the tenants from first to last.
func (s store) countersBetween(ctx context.Context, first, last uuid.UUID, f func(usage.StreamKey, usage.Counter)) error {
	rows, err := s.q(ctx).CountersBetween(ctx, retentionsql.CountersBetweenParams{FirstTenant: first, LastTenant: last})
	for _, row := range rows {
		f(usage.StreamKey{TenantID: row.TenantID, MeterID: row.MeterID}, counterOf(row))
	}
	return sqldb.Wrap(err, "list counters of streams")
}

func counterOf(row retentionsql.UsageCounter) usage.Counter {
	return usage.Counter{
		Period: usage.Period{Start: row.PeriodStart, End: row.PeriodEnd}, Value: money.Total{Units: row.Units, Millionths: row.Millionths},
		Granted: money.Total{Units: row.GrantedUnits, Millionths: row.GrantedMillionths}, Rejected: row.Rejected, LastRecordedAt: row.LastRecordedAt,
	}
}

// countStreams returns the number of streams, of one tenant unless tenantID is nil.
func (s store) countStreams(ctx context.Context, tenantID *uuid.UUID) (int, error) {
	n, err := s.q(ctx).CountStreams(ctx, tenantID)
	return int(n), sqldb.Wrap(err, "count streams")
}

// cursor is the progress of a recount of all streams.
type cursor struct {
	after usage.StreamKey
	found RecountResult // without Events
	at    time.Time     // when it was stored
}

// errNoCursor means that no recount was interrupted.
var errNoCursor = errors.New("no recount was interrupted")

func (s store) loadCursor(ctx context.Context) (cursor, error) {
	row, err := s.q(ctx).RecountPlace(ctx)
	return cursor{
		after: usage.StreamKey{TenantID: row.AfterTenant, MeterID: row.AfterMeter},
		found: RecountResult{Streams: int(row.Streams), Counters: int(row.Counters), Skipped: int(row.Skipped), Wrong: int(row.Wrong)},
		at:    row.ReachedAt,
	}, sqldb.WrapAbsent(err, "read place of recount", errNoCursor)
}

func (s store) storeCursor(ctx context.Context, p cursor) error {
	err := s.q(ctx).PutRecountPlace(ctx, retentionsql.PutRecountPlaceParams{
		AfterTenant: p.after.TenantID, AfterMeter: p.after.MeterID, Streams: int64(p.found.Streams), Counters: int64(p.found.Counters),
		Skipped: int64(p.found.Skipped), Wrong: int64(p.found.Wrong), ReachedAt: p.at,
	})
	return sqldb.Wrap(err, "store recount progress")
}

func (s store) deleteCursor(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).ForgetRecountPlace(ctx), "forget place of recount")
}
