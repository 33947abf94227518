package billing

import (
	"cmp"
	"context"
	"errors"
	"slices"
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
	unitPrice  money.UnitPrice
	pspPriceID string // "" if the subscription's own prices are unknown
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
		meters[i] = pricedMeter{meterOf(row.Meter), unit, ""}
	}
	return meters, nil
}

// carriedMeter is a billable meter whose value is reported at the start of each period.
type carriedMeter struct {
	usage.Meter
	reportedUntil *time.Time // nil until it is processed for the first time
}

// carriedMeters lists the meters whose value is reported at the start of each period.
func (s store) carriedMeters(ctx context.Context) ([]carriedMeter, error) {
	rows, err := s.q(ctx).CarriedMeters(ctx)
	meters := make([]carriedMeter, len(rows))
	for i, row := range rows {
		meters[i] = carriedMeter{meterOf(row.Meter), row.ReportedUntil}
	}
	return meters, sqldb.Wrap(err, "list meters reported per period")
}

// deleteStaleCarryStates deletes the reporting state of meters that no longer report their value at the
// start of periods.
func (s store) deleteStaleCarryStates(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).DeleteStalePeaks(ctx), "delete stale peaks")
}

func (s store) putReportedUntil(ctx context.Context, meterID uuid.UUID, until time.Time) error {
	err := s.q(ctx).PutReportedUntil(ctx, billingsql.PutReportedUntilParams{MeterID: meterID, ReportedUntil: until})
	return sqldb.Wrap(err, "store the end of reported usage")
}

// tenantCounter is the aggregate of a tenant's events in a period.
type tenantCounter struct {
	tenantID uuid.UUID
	period   usage.Period
	value    money.Total
	granted  money.Total // the part that was drawn from grants
}

// countersEnding lists the counters of a meter whose periods end at the given time, by tenant.
func (s store) countersEnding(ctx context.Context, meterID uuid.UUID, end time.Time) ([]tenantCounter, error) {
	rows, err := s.q(ctx).CountersOfPeriodEnd(ctx, billingsql.CountersOfPeriodEndParams{MeterID: meterID, PeriodEnd: end})
	return countersOf(rows), sqldb.Wrap(err, "list counters of a period's end")
}

func countersOf(rows []billingsql.UsageCounter) []tenantCounter {
	counters := make([]tenantCounter, len(rows))
	for i, row := range rows {
		counters[i] = tenantCounter{
			row.TenantID,
			usage.Period{Start: row.PeriodStart, End: row.PeriodEnd},
			money.Total{Units: row.Units, Millionths: row.Millionths},
			money.Total{Units: row.GrantedUnits, Millionths: row.GrantedMillionths},
		}
	}
	return counters
}

// metersOfPrices lists the meters linked to prices of the provider, by code, with their unit
// prices. Prices that were never linked are skipped.
func (s store) metersOfPrices(ctx context.Context, prices []string) ([]pricedMeter, error) {
	var found []pricedMeter
	for _, id := range prices {
		row, err := s.q(ctx).MeterOfLink(ctx, id)
		if err := sqldb.WrapAbsent(err, "read meter of a price", errNotLinked); errors.Is(err, errNotLinked) {
			continue
		} else if err != nil {
			return nil, err
		}
		unit, err := money.ParseUnitPrice(row.UnitPriceCents)
		if err != nil {
			return nil, sqldb.Wrap(err, "parse price of meter "+row.Meter.Code)
		}
		found = append(found, pricedMeter{meterOf(row.Meter), unit, id})
	}
	slices.SortFunc(found, func(a, b pricedMeter) int { return cmp.Compare(a.Code, b.Code) })
	return found, nil
}

// countersDuring lists the counters of a stream whose periods overlap p.
func (s store) countersDuring(ctx context.Context, k usage.StreamKey, p usage.Period) ([]tenantCounter, error) {
	rows, err := s.q(ctx).CountersDuring(ctx, billingsql.CountersDuringParams{
		TenantID: k.TenantID, MeterID: k.MeterID, Since: p.Start, Until: p.End,
	})
	return countersOf(rows), sqldb.Wrap(err, "list counters of a billing period")
}

// metersByPrice returns the given prices of the provider by the meters that are or were linked to
// them.
func (s store) metersByPrice(ctx context.Context, prices []string) (map[uuid.UUID]string, error) {
	found := make(map[uuid.UUID]string, len(prices))
	for _, id := range prices {
		row, err := s.q(ctx).MeterOfLink(ctx, id)
		err = sqldb.WrapAbsent(err, "read meter of a price", errNotLinked)
		if err != nil && !errors.Is(err, errNotLinked) {
			return nil, err
		}
		if err == nil {
			found[row.Meter.ID] = id
		}
	}
	return found, nil
}
