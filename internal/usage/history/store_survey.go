package history

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/history/historysql"
)

// tallies returns an empty tally for each stream from first to last.
func (s store) tallies(ctx context.Context, first, last usage.StreamKey) (map[usage.StreamKey]*tally, error) {
	rows, err := s.q(ctx).StatesBetween(ctx, historysql.StatesBetweenParams{
		FirstTenant: first.TenantID, FirstMeter: first.MeterID, LastTenant: last.TenantID, LastMeter: last.MeterID,
	})
	found := make(map[usage.StreamKey]*tally, len(rows))
	for _, row := range rows {
		k := usage.StreamKey{TenantID: row.TenantID, MeterID: row.MeterID}
		var of state
		if row.SummedBefore != nil {
			of.summedBefore = row.SummedBefore.UTC()
		}
		if row.PrunedBefore != nil {
			of.prunedBefore = row.PrunedBefore.UTC()
		}
		found[k] = newTally(k, of)
	}
	return found, sqldb.Wrap(err, "read states of streams")
}

// hoursBetween calls f for every hour of the streams from first to last.
func (s store) hoursBetween(ctx context.Context, first, last usage.StreamKey, f func(usage.Hour)) error {
	return s.queryRows(ctx, `SELECT tenant_id, meter_id, hour, events, units, millionths, highest, last, last_at FROM usage_hours WHERE `+ofStreams, first, last,
		func(scan func(...any) error) error {
			var h usage.Hour
			err := scan(&h.Stream.TenantID, &h.Stream.MeterID, &h.Hour, &h.Events, &h.Units, &h.Millionths, (*int64)(&h.Highest), (*int64)(&h.Last), &h.LastAt)
			h.LastAt = h.LastAt.UTC()
			f(h)
			return err
		})
}

// eventsBetween calls f for every event of the streams from first to last.
func (s store) eventsBetween(ctx context.Context, first, last usage.StreamKey, f func(usage.CountedEvent)) error {
	return s.queryRows(ctx, `SELECT tenant_id, meter_id, id, quantity, recorded_at, coalesce(granted, 0) FROM usage_events WHERE `+ofStreams, first, last,
		func(scan func(...any) error) error {
			var e usage.CountedEvent
			err := scan(&e.Stream.TenantID, &e.Stream.MeterID, &e.ID, (*int64)(&e.Quantity), &e.At, (*int64)(&e.Granted))
			e.At = e.At.UTC()
			f(e)
			return err
		})
}

// ofStreams is the condition that selects the streams from first to last.
const ofStreams = `(tenant_id, meter_id) >= ($1::uuid, $2::uuid) AND (tenant_id, meter_id) <= ($3::uuid, $4::uuid)`

// queryRows runs a query for the streams from first to last, without loading all rows into memory.
func (s store) queryRows(ctx context.Context, query string, first, last usage.StreamKey, row func(scan func(...any) error) error) error {
	rows, err := s.db.Conn(ctx).QueryContext(ctx, query, first.TenantID, first.MeterID, last.TenantID, last.MeterID)
	if err != nil {
		return sqldb.Wrap(err, "survey streams")
	}
	defer func() { _ = rows.Close() }() // rows.Err returns the error
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return sqldb.Wrap(err, "survey streams")
		}
	}
	return sqldb.Wrap(rows.Err(), "survey streams")
}
