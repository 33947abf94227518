package usage

import (
	"context"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// addRefused adds to what was refused in an hour. The streams are all different, and at
// least one; the DISTINCT removes the repetitions that Values may add.
func (s store) addRefused(ctx context.Context, hour int64, of []refusedOf) error {
	rows := make([]any, 0, 4*len(of))
	for _, r := range of {
		rows = append(rows, r.stream.TenantID, hour, r.stream.MeterID, r.events)
	}
	values, args := sqldb.Values(s.db, 1, rows, "uuid", "bigint", "uuid", "bigint")
	err := s.exec(ctx, `INSERT INTO quota_refusals (tenant_id, hour, meter_id, refused)
SELECT DISTINCT * FROM (`+values+`) AS added
WHERE true
ON CONFLICT (tenant_id, hour, meter_id) DO UPDATE SET refused = quota_refusals.refused + excluded.refused`, args)
	return sqldb.Wrap(err, "count refused events")
}

// addRefusedOfDay adds to what was refused to all tenants of a part on a day.
func (s store) addRefusedOfDay(ctx context.Context, day int64, part int32, events int64) error {
	err := s.q(ctx).AddRefusedOfDay(ctx, usagesql.AddRefusedOfDayParams{Day: day, Part: part, Refused: events})
	return sqldb.Wrap(err, "count refused events of a day")
}
