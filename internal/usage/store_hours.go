package usage

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
)

// hoursAtOnce is how many hours one statement adds to.
const hoursAtOnce = 500

// AddHours adds to the hours of streams, which must be locked. The hours are all
// different. What was recorded last stays that; of two at the same time the one counts
// that is added later.
func (r Records) AddHours(ctx context.Context, hours []Hour) error {
	for len(hours) > 0 {
		n := min(len(hours), hoursAtOnce)
		if err := r.store.addHours(ctx, hours[:n]); err != nil {
			return err
		}
		hours = hours[n:]
	}
	return nil
}

// addHours is AddHours for at least one hour. The DISTINCT removes the repetitions that
// Values may add.
func (s store) addHours(ctx context.Context, hours []Hour) error {
	rows := make([]any, 0, 9*len(hours))
	for _, h := range hours {
		rows = append(rows, h.Stream.TenantID, h.Stream.MeterID, h.Hour, h.Events, h.Units, h.Millionths, int64(h.Highest), int64(h.Last), h.LastAt)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "uuid", "bigint", "bigint", "bigint", "bigint", "bigint", "bigint", "timestamptz")
	err := s.exec(ctx, `INSERT INTO usage_hours (tenant_id, meter_id, hour, events, units, millionths, highest, last, last_at)
SELECT DISTINCT * FROM (`+values+`) AS added
WHERE true
ON CONFLICT (tenant_id, meter_id, hour) DO UPDATE
SET events = usage_hours.events + excluded.events, units = usage_hours.units + excluded.units,
    millionths = usage_hours.millionths + excluded.millionths,
    highest = CASE WHEN excluded.highest > usage_hours.highest THEN excluded.highest ELSE usage_hours.highest END,
    last = CASE WHEN excluded.last_at >= usage_hours.last_at THEN excluded.last ELSE usage_hours.last END,
    last_at = CASE WHEN excluded.last_at >= usage_hours.last_at THEN excluded.last_at ELSE usage_hours.last_at END`, args)
	return sqldb.Wrap(err, "add to hours")
}
