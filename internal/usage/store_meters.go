package usage

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

func meterOf(row usagesql.Meter) Meter {
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
		meters[i] = meterOf(row)
	}
	return meters, nil
}

// meter finds a meter by its code, errNoSuchMeter where there is none.
func (s store) meter(ctx context.Context, code string) (Meter, error) {
	row, err := s.q(ctx).MeterByCode(ctx, code)
	return meterOf(row), sqldb.WrapAbsent(err, "read meter", errNoSuchMeter)
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
	return meterRules{meterOf(row), row.IsBillable}, sqldb.WrapAbsent(err, "read meter for recording", errNoSuchMeter)
}

// anyMeter finds a meter that events refer to, deleted or not, and keeps its rules
// as they are until the transaction ends.
func (s store) anyMeter(ctx context.Context, id uuid.UUID) (Meter, error) {
	row, err := s.q(ctx).AnyMeter(ctx, id)
	return meterOf(row), sqldb.WrapAbsent(err, "read meter of a stream", errNoSuchMeter)
}

func (s store) meterPage(ctx context.Context, q page.Query) ([]MeterEntry, int64, error) {
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, page.Select{
		Columns: `m.id, m.code, m.name, m.aggregation_type, m.reset_interval, m.quota_enforcement, m.unit_label, m.is_active,
			m.created_at, m.updated_at`,
		From:  "meters m",
		Where: "m.deleted_at IS NULL",
	}, func(row page.Scanner) (MeterEntry, error) {
		var m usagesql.Meter
		err := row.Scan(&m.ID, &m.Code, &m.Name, &m.AggregationType, &m.ResetInterval, &m.QuotaEnforcement, &m.UnitLabel, &m.IsActive,
			&m.CreatedAt, &m.UpdatedAt)
		return MeterEntry{Meter: meterOf(m), CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}, err
	})
	if err != nil || len(entries) == 0 {
		return entries, total, err
	}
	// There are few meters: all prices in one query beat a query per meter.
	prices, err := s.prices(ctx)
	for i := range entries {
		entries[i].Prices = prices[entries[i].ID]
	}
	return entries, total, err
}

// allMeters reads the meters that are not deleted, by code.
func (s store) allMeters(ctx context.Context) ([]MeterEntry, error) {
	rows, err := s.q(ctx).Meters(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list meters")
	}
	prices, err := s.prices(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]MeterEntry, len(rows))
	for i, row := range rows {
		entries[i] = MeterEntry{Meter: meterOf(row), Prices: prices[row.ID], CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}
	}
	slices.SortFunc(entries, func(a, b MeterEntry) int { return cmp.Compare(a.Code, b.Code) })
	return entries, nil
}

// prices reads the prices of all meters that are not deleted, by meter.
func (s store) prices(ctx context.Context) (map[uuid.UUID][]MeterPrice, error) {
	rows, err := s.q(ctx).MeterPrices(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list meter prices")
	}
	rowsOf := map[uuid.UUID][]usagesql.MeterPrice{}
	for _, row := range rows {
		rowsOf[row.MeterID] = append(rowsOf[row.MeterID], row)
	}
	prices := make(map[uuid.UUID][]MeterPrice, len(rowsOf))
	for id, rows := range rowsOf {
		if prices[id], err = pricesOf(rows); err != nil {
			return nil, err
		}
	}
	return prices, nil
}

// pricesOf returns the prices of rows, by currency.
func pricesOf(rows []usagesql.MeterPrice) ([]MeterPrice, error) {
	prices := make([]MeterPrice, len(rows))
	for i, row := range rows {
		unit, err := money.ParseUnitPrice(row.UnitPriceCents)
		if err != nil {
			return nil, sqldb.Wrap(err, "parse meter price "+row.ID.String())
		}
		prices[i] = MeterPrice{ID: row.ID, Currency: row.Currency, UnitPrice: unit, PSPPriceID: row.PSPPriceID}
	}
	slices.SortFunc(prices, func(a, b MeterPrice) int { return cmp.Compare(a.Currency, b.Currency) })
	return prices, nil
}

// meterEntry reads a meter that is not deleted, errNoSuchMeter where there is none.
func (s store) meterEntry(ctx context.Context, id uuid.UUID) (MeterEntry, error) {
	row, err := s.q(ctx).MeterByID(ctx, id)
	return s.entry(ctx, row, err)
}

// lockMeter is meterEntry, and keeps everybody from recording on the meter and
// from changing it until the transaction ends.
func (s store) lockMeter(ctx context.Context, id uuid.UUID) (MeterEntry, error) {
	row, err := s.q(ctx).MeterForChange(ctx, id)
	return s.entry(ctx, row, err)
}

func (s store) entry(ctx context.Context, row usagesql.Meter, err error) (MeterEntry, error) {
	if err != nil {
		return MeterEntry{}, sqldb.WrapAbsent(err, "read meter", errNoSuchMeter)
	}
	rows, err := s.q(ctx).PricesOfMeter(ctx, row.ID)
	if err != nil {
		return MeterEntry{}, sqldb.Wrap(err, "list prices of a meter")
	}
	prices, err := pricesOf(rows)
	return MeterEntry{Meter: meterOf(row), Prices: prices, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}, err
}

// insertMeter stores a meter and reports whether its code was free.
func (s store) insertMeter(ctx context.Context, e MeterEntry) (bool, error) {
	inserted, err := s.q(ctx).InsertMeter(ctx, usagesql.InsertMeterParams{
		ID: e.ID, Code: e.Code, Name: e.Name,
		AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset), QuotaEnforcement: string(e.Enforcement),
		UnitLabel: e.UnitLabel, IsActive: e.Active, IsBillable: e.Billable(), CreatedAt: e.CreatedAt,
	})
	return inserted > 0, sqldb.Wrap(err, "insert meter")
}

func (s store) updateMeter(ctx context.Context, e MeterEntry) error {
	err := s.q(ctx).UpdateMeter(ctx, usagesql.UpdateMeterParams{
		ID: e.ID, Code: e.Code, Name: e.Name,
		AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset), QuotaEnforcement: string(e.Enforcement),
		UnitLabel: e.UnitLabel, IsActive: e.Active, IsBillable: e.Billable(), UpdatedAt: e.UpdatedAt,
	})
	return sqldb.Wrap(err, "update meter")
}

func (s store) deleteMeter(ctx context.Context, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).DeleteMeter(ctx, usagesql.DeleteMeterParams{ID: id, DeletedAt: &now})
	return sqldb.Wrap(err, "delete meter")
}

// dropCounters deletes what a meter shows. The meter must be locked.
func (s store) dropCounters(ctx context.Context, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).DeleteCountersOfMeter(ctx, id), "delete counters of a meter")
}

// setPrices replaces the stored prices, old, by wanted. The row of a currency that is
// in both keeps its id, and is not written when nothing about it changes.
func (s store) setPrices(ctx context.Context, meterID uuid.UUID, old, wanted []MeterPrice, now time.Time) error {
	gone := make(map[string]MeterPrice, len(old))
	for _, p := range old {
		gone[p.Currency] = p
	}
	for _, p := range wanted {
		stored, exists := gone[p.Currency]
		delete(gone, p.Currency)
		var err error
		switch {
		case !exists:
			err = s.q(ctx).InsertMeterPrice(ctx, usagesql.InsertMeterPriceParams{
				ID: sqldb.NewID(), MeterID: meterID, Currency: p.Currency,
				UnitPriceCents: p.UnitPrice.String(), PSPPriceID: p.PSPPriceID, CreatedAt: now,
			})
		case stored.UnitPrice != p.UnitPrice || !equal(stored.PSPPriceID, p.PSPPriceID):
			err = s.q(ctx).UpdateMeterPrice(ctx, usagesql.UpdateMeterPriceParams{
				ID: stored.ID, UnitPriceCents: p.UnitPrice.String(), PSPPriceID: p.PSPPriceID, UpdatedAt: now,
			})
		}
		if err != nil {
			return sqldb.Wrap(err, "store price in "+p.Currency)
		}
	}
	for _, p := range gone {
		if err := s.q(ctx).DeleteMeterPrice(ctx, p.ID); err != nil {
			return sqldb.Wrap(err, "delete price in "+p.Currency)
		}
	}
	return nil
}

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// linkedPrices lists the provider's prices, in a currency, of the active meters that
// are billed, by the meter's code.
func (s store) linkedPrices(ctx context.Context, currency string) ([]string, error) {
	rows, err := s.q(ctx).LinkedPrices(ctx, currency)
	prices := make([]string, len(rows))
	for i, price := range rows {
		prices[i] = *price
	}
	return prices, sqldb.Wrap(err, "list linked prices")
}
