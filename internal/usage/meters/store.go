package meters

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/sqldb/distribution"
	"github.com/tenantry/tenantry/internal/usage"
	"github.com/tenantry/tenantry/internal/usage/meters/metersql"
	"github.com/tenantry/tenantry/internal/usage/usagesql"
)

// store has the SQL of meters. Its methods take part in the transaction of their context.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *metersql.Queries { return metersql.New(s.db.Conn(ctx)) }

func meterOf(row metersql.Meter) usage.Meter { return usage.MeterOf(usagesql.Meter(row)) }

func (s store) meterPage(ctx context.Context, q page.Query) ([]Entry, int64, error) {
	entries, total, err := page.Fetch(ctx, s.db.Conn(ctx), q, page.Select{
		Columns: `m.id, m.code, m.name, m.aggregation_type, m.reset_interval, m.quota_enforcement, m.unit_label, m.is_active,
			m.created_at, m.updated_at`,
		From:  "meters m",
		Where: "m.deleted_at IS NULL",
	}, func(row page.Scanner) (Entry, error) {
		var m metersql.Meter
		err := row.Scan(&m.ID, &m.Code, &m.Name, &m.AggregationType, &m.ResetInterval, &m.QuotaEnforcement, &m.UnitLabel, &m.IsActive,
			&m.CreatedAt, &m.UpdatedAt)
		return Entry{Meter: meterOf(m), CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}, err
	})
	if err != nil || len(entries) == 0 {
		return entries, total, err
	}
	// There are few meters, so one query for all prices beats a query per meter.
	prices, err := s.prices(ctx)
	for i := range entries {
		entries[i].Prices = prices[entries[i].ID]
	}
	return entries, total, err
}

// allMeters returns the meters that are not deleted, sorted by code.
func (s store) allMeters(ctx context.Context) ([]Entry, error) {
	rows, err := s.q(ctx).Meters(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list meters")
	}
	prices, err := s.prices(ctx)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(rows))
	for i, row := range rows {
		entries[i] = Entry{Meter: meterOf(row), Prices: prices[row.ID], CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Code, b.Code) })
	return entries, nil
}

// prices returns the prices of all meters that are not deleted, by meter.
func (s store) prices(ctx context.Context) (map[uuid.UUID][]Price, error) {
	rows, err := s.q(ctx).MeterPrices(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list meter prices")
	}
	rowsOf := map[uuid.UUID][]metersql.MeterPrice{}
	for _, row := range rows {
		rowsOf[row.MeterID] = append(rowsOf[row.MeterID], row)
	}
	prices := make(map[uuid.UUID][]Price, len(rowsOf))
	for id, rows := range rowsOf {
		if prices[id], err = pricesOf(rows); err != nil {
			return nil, err
		}
	}
	return prices, nil
}

// pricesOf converts rows to prices, sorted by currency.
func pricesOf(rows []metersql.MeterPrice) ([]Price, error) {
	prices := make([]Price, len(rows))
	for i, row := range rows {
		unit, err := money.ParseUnitPrice(row.UnitPriceCents)
		if err != nil {
			return nil, sqldb.Wrap(err, "parse meter price "+row.ID.String())
		}
		prices[i] = Price{ID: row.ID, Currency: row.Currency, UnitPrice: unit, PSPPriceID: row.PSPPriceID}
	}
	slices.SortFunc(prices, func(a, b Price) int { return cmp.Compare(a.Currency, b.Currency) })
	return prices, nil
}

// meterEntry returns a meter that is not deleted, or errNoSuchMeter.
func (s store) meterEntry(ctx context.Context, id uuid.UUID) (Entry, error) {
	row, err := s.q(ctx).MeterByID(ctx, id)
	return s.entry(ctx, row, err)
}

// lockMeter is like meterEntry, and blocks recording on the meter and changes to it until the
// transaction ends.
func (s store) lockMeter(ctx context.Context, id uuid.UUID) (Entry, error) {
	if err := distribution.LockCatalog(ctx, s.db); err != nil {
		return Entry{}, err
	}
	row, err := s.q(ctx).MeterForChange(ctx, id)
	return s.entry(ctx, row, err)
}

func (s store) entry(ctx context.Context, row metersql.Meter, err error) (Entry, error) {
	if err != nil {
		return Entry{}, sqldb.WrapAbsent(err, "read meter", errNoSuchMeter)
	}
	rows, err := s.q(ctx).PricesOfMeter(ctx, row.ID)
	if err != nil {
		return Entry{}, sqldb.Wrap(err, "list prices of a meter")
	}
	prices, err := pricesOf(rows)
	return Entry{Meter: meterOf(row), Prices: prices, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt}, err
}

// insertMeter stores a meter and reports whether its code was available.
func (s store) insertMeter(ctx context.Context, e Entry) (bool, error) {
	inserted, err := s.q(ctx).InsertMeter(ctx, metersql.InsertMeterParams{
		ID: e.ID, Code: e.Code, Name: e.Name,
		AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset), QuotaEnforcement: string(e.Enforcement),
		UnitLabel: e.UnitLabel, IsActive: e.Active, IsBillable: e.Billable(), CreatedAt: e.CreatedAt,
	})
	if err != nil || inserted == 0 {
		return false, sqldb.Wrap(err, "insert meter")
	}
	return true, s.putWords(ctx, e)
}

// putWords stores the words of a meter in the search index.
func (s store) putWords(ctx context.Context, e Entry) error {
	return search.NewIndex(s.db).Put(ctx, search.Object{Kind: search.Meter, ID: e.ID, Texts: []string{e.Name}, Wholes: []string{e.Code}})
}

func (s store) updateMeter(ctx context.Context, e Entry) error {
	err := s.q(ctx).UpdateMeter(ctx, metersql.UpdateMeterParams{
		ID: e.ID, Code: e.Code, Name: e.Name,
		AggregationType: string(e.Aggregation), ResetInterval: string(e.Reset), QuotaEnforcement: string(e.Enforcement),
		UnitLabel: e.UnitLabel, IsActive: e.Active, IsBillable: e.Billable(), UpdatedAt: e.UpdatedAt,
	})
	if err != nil {
		return sqldb.Wrap(err, "update meter")
	}
	return s.putWords(ctx, e)
}

func (s store) deleteMeter(ctx context.Context, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).DeleteMeter(ctx, metersql.DeleteMeterParams{ID: id, DeletedAt: &now})
	return sqldb.Wrap(err, "delete meter")
}

// dropCounters deletes the counters of a meter, which must be locked.
func (s store) dropCounters(ctx context.Context, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).DeleteCountersOfMeter(ctx, id), "delete counters of a meter")
}

// setPrices replaces the stored prices, old, with wanted. A currency in both sets keeps its row and
// ID, and is only written if it changes.
func (s store) setPrices(ctx context.Context, meterID uuid.UUID, old, wanted []Price, now time.Time) error {
	gone := make(map[string]Price, len(old))
	for _, p := range old {
		gone[p.Currency] = p
	}
	for _, p := range wanted {
		stored, exists := gone[p.Currency]
		delete(gone, p.Currency)
		var err error
		switch {
		case !exists:
			err = s.q(ctx).InsertMeterPrice(ctx, metersql.InsertMeterPriceParams{
				ID: sqldb.NewID(), MeterID: meterID, Currency: p.Currency,
				UnitPriceCents: p.UnitPrice.String(), PSPPriceID: p.PSPPriceID, CreatedAt: now,
			})
		case stored.UnitPrice != p.UnitPrice || !equal(stored.PSPPriceID, p.PSPPriceID):
			err = s.q(ctx).UpdateMeterPrice(ctx, metersql.UpdateMeterPriceParams{
				ID: stored.ID, UnitPriceCents: p.UnitPrice.String(), PSPPriceID: p.PSPPriceID, UpdatedAt: now,
			})
		}
		if err == nil && p.PSPPriceID != nil {
			err = s.q(ctx).KeepLink(ctx, metersql.KeepLinkParams{
				PSPPriceID: *p.PSPPriceID, MeterID: meterID, Currency: p.Currency, UnitPriceCents: p.UnitPrice.String(), CreatedAt: now,
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

// linkedPrices lists the provider's prices of the active billed meters in a currency, sorted by the
// meter's code.
func (s store) linkedPrices(ctx context.Context, currency string) ([]LinkedPrice, error) {
	rows, err := s.q(ctx).LinkedPrices(ctx, currency)
	if err != nil {
		return nil, sqldb.Wrap(err, "list linked prices")
	}
	prices := make([]LinkedPrice, len(rows))
	for i, row := range rows {
		unit, err := money.ParseUnitPrice(row.UnitPriceCents)
		if err != nil {
			return nil, sqldb.Wrap(err, "parse the price of meter "+row.Code)
		}
		prices[i] = LinkedPrice{MeterCode: row.Code, PSPPriceID: *row.PSPPriceID, UnitPrice: unit}
	}
	return prices, nil
}

// isLinkedElsewhere reports whether a meter other than id is linked to a price.
func (s store) isLinkedElsewhere(ctx context.Context, id uuid.UUID, pspPriceID string) (bool, error) {
	found, err := s.q(ctx).PriceOfAnotherMeter(ctx, metersql.PriceOfAnotherMeterParams{PSPPriceID: &pspPriceID, MeterID: id})
	return found, sqldb.Wrap(err, "find the meter of a price")
}
