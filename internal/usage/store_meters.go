package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

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
		return nil, fmt.Errorf("usage: meters: %w", err)
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
		return nil, fmt.Errorf("usage: meter prices: %w", err)
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

// pricedMeter is a billable meter with its price in one currency.
type pricedMeter struct {
	Meter
	UnitPrice UnitPrice
}

// billableMeters reads the meters with a linked price in a currency, by code.
func (s store) billableMeters(ctx context.Context, currency string) ([]pricedMeter, error) {
	rows, err := s.q(ctx).BillableMeters(ctx, currency)
	if err != nil {
		return nil, fmt.Errorf("usage: billable meters: %w", err)
	}
	meters := make([]pricedMeter, len(rows))
	for i, row := range rows {
		unit, err := money.ParseUnitPrice(row.UnitPriceCents)
		if err != nil {
			return nil, fmt.Errorf("usage: price of meter %s: %w", row.Meter.Code, err)
		}
		meters[i] = pricedMeter{Meter: meterOf(row.Meter), UnitPrice: unit}
	}
	return meters, nil
}

// pricesOf sorts by currency.
func pricesOf(rows []usagesql.MeterPrice) ([]MeterPrice, error) {
	prices := make([]MeterPrice, len(rows))
	for i, row := range rows {
		unit, err := money.ParseUnitPrice(row.UnitPriceCents)
		if err != nil {
			return nil, fmt.Errorf("usage: meter price %s: %w", row.ID, err)
		}
		prices[i] = MeterPrice{ID: row.ID, Currency: row.Currency, UnitPrice: unit, PSPPriceID: row.PSPPriceID}
	}
	slices.SortFunc(prices, func(a, b MeterPrice) int { return cmp.Compare(a.Currency, b.Currency) })
	return prices, nil
}

// meterEntry reads a meter that is not deleted; else it is not found.
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
	if errors.Is(err, sqldb.ErrNoRows) {
		return MeterEntry{}, errNoSuchMeter
	}
	if err != nil {
		return MeterEntry{}, fmt.Errorf("usage: meter: %w", err)
	}
	rows, err := s.q(ctx).PricesOfMeter(ctx, row.ID)
	if err != nil {
		return MeterEntry{}, fmt.Errorf("usage: prices of a meter: %w", err)
	}
	prices, err := pricesOf(rows)
	return MeterEntry{Meter: meterOf(row), Prices: prices, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}, err
}

// insertMeter tells whether the meter's code was free.
func (s store) insertMeter(ctx context.Context, e MeterEntry) (bool, error) {
	inserted, err := s.q(ctx).InsertMeter(ctx, usagesql.InsertMeterParams{
		ID: e.ID, Code: e.Code, Name: e.Name,
		AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset), QuotaEnforcement: string(e.Enforcement),
		UnitLabel: e.UnitLabel, IsActive: e.Active, IsBillable: e.Billable(), CreatedAt: e.CreatedAt,
	})
	if err != nil {
		return false, fmt.Errorf("usage: insert meter: %w", err)
	}
	return inserted > 0, nil
}

func (s store) updateMeter(ctx context.Context, e MeterEntry) error {
	err := s.q(ctx).UpdateMeter(ctx, usagesql.UpdateMeterParams{
		ID: e.ID, Code: e.Code, Name: e.Name,
		AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset), QuotaEnforcement: string(e.Enforcement),
		UnitLabel: e.UnitLabel, IsActive: e.Active, IsBillable: e.Billable(), UpdatedAt: e.UpdatedAt,
	})
	if err != nil {
		return fmt.Errorf("usage: update meter: %w", err)
	}
	return nil
}

func (s store) deleteMeter(ctx context.Context, id uuid.UUID, now time.Time) error {
	if err := s.q(ctx).DeleteMeter(ctx, usagesql.DeleteMeterParams{ID: id, DeletedAt: &now}); err != nil {
		return fmt.Errorf("usage: delete meter: %w", err)
	}
	return nil
}

// dropCounters deletes what a meter shows. The meter must be locked.
func (s store) dropCounters(ctx context.Context, id uuid.UUID) error {
	if err := s.q(ctx).DeleteCountersOfMeter(ctx, id); err != nil {
		return fmt.Errorf("usage: delete counters: %w", err)
	}
	return nil
}

// setPrices turns the set old, which is stored, into the set wanted. Rows of
// currencies that are in both keep their ids, and stay as they are when nothing
// differs.
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
			return fmt.Errorf("usage: price in %s: %w", p.Currency, err)
		}
	}
	for _, p := range gone {
		if err := s.q(ctx).DeleteMeterPrice(ctx, p.ID); err != nil {
			return fmt.Errorf("usage: delete price in %s: %w", p.Currency, err)
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
