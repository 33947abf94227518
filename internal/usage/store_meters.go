package usage

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// MeterOf is the meter of a row.
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

func (s store) activeMeters(ctx context.Context) ([]Meter, error) {
	rows, err := s.q(ctx).ActiveMeters(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list active meters")
	}
	meters := make([]Meter, len(rows))
	for i, row := range rows {
		meters[i] = MeterOf(row)
	}
	return meters, nil
}

// meter finds a meter by its code, errNoSuchMeter where there is none.
func (s store) meter(ctx context.Context, code string) (Meter, error) {
	row, err := s.q(ctx).MeterByCode(ctx, code)
	return MeterOf(row), sqldb.WrapAbsent(err, "read meter", errNoSuchMeter)
}

// meterRules is a meter with all that recording on it depends on.
type meterRules struct {
	Meter
	billable bool // it has a price that is linked to one of the payment provider
}

// meterForRecording is meter, and keeps the meter's rules as they are until the
// transaction ends.
func (s store) meterForRecording(ctx context.Context, code string) (meterRules, error) {
	row, err := s.q(ctx).MeterForRecording(ctx, code)
	return meterRules{MeterOf(row), row.IsBillable}, sqldb.WrapAbsent(err, "read meter for recording", errNoSuchMeter)
}

// anyMeter finds a meter that events refer to, deleted or not, and keeps its rules
// as they are until the transaction ends.
func (s store) anyMeter(ctx context.Context, id uuid.UUID) (Meter, error) {
	row, err := s.q(ctx).AnyMeter(ctx, id)
	return MeterOf(row), sqldb.WrapAbsent(err, "read meter of a stream", errNoSuchMeter)
}
