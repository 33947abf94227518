package usage

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// MeterOf converts a row to a Meter.
func MeterOf(row usagesql.Meter) Meter {
	return Meter{
		ID:          row.ID,
		Code:        row.Code,
		Name:        row.Name,
		Aggregation: Aggregation(row.AggregationType),
		Reset:       ResetInterval(row.ResetInterval),
		Enforcement: Enforcement(row.QuotaEnforcement),
		UnitLabel:   row.UnitLabel,
		Active:      row.IsActive,
	}
}

// meterColumns are the columns that meterInto scans.
const meterColumns = `id, code, name, aggregation_type, reset_interval, quota_enforcement, unit_label, is_active, is_billable`

// meterInto returns a function that scans rows of meterColumns.
func meterInto(add func(meterRules)) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var m meterRules
		err := scan(&m.ID, &m.Code, &m.Name, &m.Aggregation, &m.Reset, &m.Enforcement, &m.UnitLabel, &m.Active, &m.billable)
		add(m)
		return err
	}
}

// activeMetersQuery reads the active meters into found, ordered by code.
func activeMetersQuery(found *[]Meter) sqldb.Query {
	return sqldb.Query{
		Doing: "list active meters",
		Text:  `SELECT ` + meterColumns + ` FROM meters WHERE is_active AND deleted_at IS NULL ORDER BY code`,
		Row:   meterInto(func(m meterRules) { *found = append(*found, m.Meter) }),
	}
}

// meter returns a meter by its code, or errNoSuchMeter.
func (s store) meter(ctx context.Context, code string) (Meter, error) {
	row, err := s.q(ctx).MeterByCode(ctx, code)
	return MeterOf(row), sqldb.WrapAbsent(err, "read meter", errNoSuchMeter)
}

// lockMeter returns a meter that events refer to, even a deleted one, and locks its rules until the
// transaction ends.
func (s store) lockMeter(ctx context.Context, id uuid.UUID) (Meter, error) {
	var found *Meter
	err := s.db.QueryAll(ctx, append(distribution.ShareCatalog(s.db), sqldb.Query{
		Doing: "read meter of a stream",
		Text:  `SELECT ` + meterColumns + ` FROM meters WHERE id = $1` + distribution.RowLock(s.db, ` FOR KEY SHARE`),
		Args:  []any{id},
		Row:   meterInto(func(m meterRules) { found = &m.Meter }),
	})...)
	if err != nil || found == nil {
		return Meter{}, cmp.Or[error](err, errNoSuchMeter)
	}
	return *found, nil
}
