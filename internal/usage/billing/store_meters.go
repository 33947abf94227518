package billing

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/billing/billingsql"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

func meterOf(row billingsql.Meter) usage.Meter { return usage.MeterOf(usagesql.Meter(row)) }

// pricedMeter is a billable meter with its price in one currency.
type pricedMeter struct {
	usage.Meter
	unitPrice money.UnitPrice
}

// pricedMeters lists the meters with a linked price in a currency, by code.
func (s store) pricedMeters(ctx context.Context, currency string) ([]pricedMeter, error) {
	rows, err := s.q(ctx).BillableMeters(ctx, currency)
	if err != nil {
		return nil, sqldb.Wrap(err, "list billable meters")
	}
	meters := make([]pricedMeter, len(rows))
	for i, row := range rows {
		unit, err := money.ParseUnitPrice(row.UnitPriceCents)
		if err != nil {
			return nil, sqldb.Wrap(err, "parse price of meter "+row.Meter.Code)
		}
		meters[i] = pricedMeter{meterOf(row.Meter), unit}
	}
	return meters, nil
}

// periodMeter is a billable meter that is reported by periods.
type periodMeter struct {
	usage.Meter
	reportedUntil *time.Time // nil before it is seen for the first time
}

// metersByPeriod lists the meters that are reported by periods.
func (s store) metersByPeriod(ctx context.Context) ([]periodMeter, error) {
	rows, err := s.q(ctx).MetersByPeriod(ctx)
	meters := make([]periodMeter, len(rows))
	for i, row := range rows {
		meters[i] = periodMeter{meterOf(row.Meter), row.ReportedUntil}
	}
	return meters, sqldb.Wrap(err, "list meters that are reported by periods")
}

// deleteStalePeaks forgets until when the meters were reported that are not reported
// by periods any more.
func (s store) deleteStalePeaks(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).DeleteStalePeaks(ctx), "delete stale peaks")
}

func (s store) putReportedUntil(ctx context.Context, meterID uuid.UUID, until time.Time) error {
	err := s.q(ctx).PutReportedUntil(ctx, billingsql.PutReportedUntilParams{MeterID: meterID, ReportedUntil: until})
	return sqldb.Wrap(err, "store until when a meter is reported")
}

// tenantCounter is what a tenant's events of a period come to.
type tenantCounter struct {
	tenantID uuid.UUID
	period   usage.Period
	value    money.Quantity
}

// endedCounters lists the counters of a meter whose periods ended after one time and
// until another, by the end of the period.
func (s store) endedCounters(ctx context.Context, meterID uuid.UUID, after, until time.Time) ([]tenantCounter, error) {
	rows, err := s.q(ctx).EndedCounters(ctx, billingsql.EndedCountersParams{MeterID: meterID, After: after, Until: until})
	return countersOf(rows), sqldb.Wrap(err, "list ended counters")
}

// countersEnding lists the counters of a meter whose periods end at an instant, by
// tenant.
func (s store) countersEnding(ctx context.Context, meterID uuid.UUID, end time.Time) ([]tenantCounter, error) {
	rows, err := s.q(ctx).CountersOfPeriodEnd(ctx, billingsql.CountersOfPeriodEndParams{MeterID: meterID, PeriodEnd: end})
	return countersOf(rows), sqldb.Wrap(err, "list counters of a period's end")
}

func countersOf(rows []billingsql.UsageCounter) []tenantCounter {
	counters := make([]tenantCounter, len(rows))
	for i, row := range rows {
		counters[i] = tenantCounter{row.TenantID, usage.Period{Start: row.PeriodStart, End: row.PeriodEnd}, money.Quantity(row.Value)}
	}
	return counters
}
