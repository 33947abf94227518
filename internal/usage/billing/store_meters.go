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
	pspPriceID string // "" where the subscription's own prices are not known
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

// carriedMeter is a billable meter whose value is reported when a period begins.
type carriedMeter struct {
	usage.Meter
	reportedUntil *time.Time // nil before it is seen for the first time
}

// carriedMeters lists the meters whose value is reported when a period begins.
func (s store) carriedMeters(ctx context.Context) ([]carriedMeter, error) {
	rows, err := s.q(ctx).CarriedMeters(ctx)
	meters := make([]carriedMeter, len(rows))
	for i, row := range rows {
		meters[i] = carriedMeter{meterOf(row.Meter), row.ReportedUntil}
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
	value    money.Total
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
		counters[i] = tenantCounter{row.TenantID, usage.Period{Start: row.PeriodStart, End: row.PeriodEnd}, money.Total{Units: row.Units, Millionths: row.Millionths}}
	}
	return counters
}

// metersOfPrices lists the meters behind prices of the provider, by code, with what a
// unit costs by each. A price that no meter was ever linked to is left out.
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

// countersDuring lists the counters of a stream whose periods overlap another one.
func (s store) countersDuring(ctx context.Context, k usage.StreamKey, p usage.Period) ([]tenantCounter, error) {
	rows, err := s.q(ctx).CountersDuring(ctx, billingsql.CountersDuringParams{
		TenantID: k.TenantID, MeterID: k.MeterID, Since: p.Start, Until: p.End,
	})
	return countersOf(rows), sqldb.Wrap(err, "list counters of a billing period")
}

// metersByPrice returns prices of the provider by the meters that are or were linked to
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
