package pack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pack/packsql"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the package's queries in the transaction of the context, or else directly on the
// database.
type store struct {
	conn func(ctx context.Context) sqldb.DBTX
}

func (s store) q(ctx context.Context) *packsql.Queries { return packsql.New(s.conn(ctx)) }

// packs lists the packs that are not deleted, oldest first.
func (s store) packs(ctx context.Context) ([]Pack, error) {
	rows, err := s.q(ctx).Packs(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list packs")
	}
	prices, err := s.q(ctx).Prices(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list prices of packs")
	}
	return assemble(rows, prices)
}

// pack returns a pack that is not deleted, or catalog.ErrNotFound.
func (s store) pack(ctx context.Context, id uuid.UUID) (Pack, error) {
	row, err := s.q(ctx).Pack(ctx, id)
	if err != nil {
		return Pack{}, sqldb.WrapAbsent(err, "read pack", catalog.ErrNotFound)
	}
	return s.load(ctx, row)
}

func (s store) packBySlug(ctx context.Context, slug string) (Pack, error) {
	row, err := s.q(ctx).PackBySlug(ctx, slug)
	if err != nil {
		return Pack{}, sqldb.WrapAbsent(err, "read pack", catalog.ErrNotFound)
	}
	return s.load(ctx, row)
}

// load adds the prices to a pack.
func (s store) load(ctx context.Context, row packsql.Pack) (Pack, error) {
	prices, err := s.q(ctx).PricesOfPack(ctx, row.ID)
	if err != nil {
		return Pack{}, sqldb.Wrap(err, "list prices of a pack")
	}
	return packOf(row, prices)
}

func (s store) page(ctx context.Context, q page.Query) ([]Pack, int64, error) {
	rows, total, err := page.Fetch(ctx, s.conn(ctx), q, page.Select{
		Columns: "p.id, p.slug, p.name, p.description, p.feature_code, p.amount, p.expires_after_days, p.is_active, p.created_at, p.updated_at",
		From:    "packs p",
		Where:   "p.deleted_at IS NULL",
	}, func(row page.Scanner) (p packsql.Pack, err error) {
		err = row.Scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.FeatureCode, &p.Amount, &p.ExpiresAfterDays, &p.IsActive, &p.CreatedAt, &p.UpdatedAt)
		return p, err
	})
	if err != nil || len(rows) == 0 {
		return nil, total, err
	}
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	var prices []packsql.PackPrice
	const query = `SELECT id, pack_id, currency, price_cents FROM pack_prices WHERE pack_id IN`
	err = page.FetchByIDs(page.WithByteLimit(ctx, len(ids)), s.conn(ctx), query, ids, func(row page.Scanner) error {
		var p packsql.PackPrice
		err := row.Scan(&p.ID, &p.PackID, &p.Currency, &p.PriceCents)
		prices = append(prices, p)
		return err
	})
	if err != nil {
		return nil, 0, sqldb.Wrap(err, "list prices of packs")
	}
	packs, err := assemble(rows, prices)
	return packs, total, err
}

// assemble builds packs from their rows, in the order of rows.
func assemble(rows []packsql.Pack, prices []packsql.PackPrice) ([]Pack, error) {
	pricesOf := map[uuid.UUID][]packsql.PackPrice{}
	for _, p := range prices {
		pricesOf[p.PackID] = append(pricesOf[p.PackID], p)
	}
	packs := make([]Pack, len(rows))
	for i, row := range rows {
		var err error
		if packs[i], err = packOf(row, pricesOf[row.ID]); err != nil {
			return nil, err
		}
	}
	return packs, nil
}

func packOf(row packsql.Pack, prices []packsql.PackPrice) (Pack, error) {
	p := Pack{
		ID: row.ID, Slug: row.Slug, FeatureCode: row.FeatureCode, Amount: money.Quantity(row.Amount), ExpiresAfterDays: row.ExpiresAfterDays,
		IsActive: row.IsActive, Prices: make([]Price, len(prices)), CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if err := json.Unmarshal(row.Name, &p.Name); err != nil {
		return p, fmt.Errorf("pack %s: name: %w", row.ID, err)
	}
	if row.Description != nil {
		if err := json.Unmarshal(row.Description, &p.Description); err != nil {
			return p, fmt.Errorf("pack %s: description: %w", row.ID, err)
		}
	}
	for i, price := range prices {
		p.Prices[i] = Price{ID: price.ID, Currency: price.Currency, PriceCents: price.PriceCents}
	}
	slices.SortFunc(p.Prices, func(a, b Price) int { return cmp.Compare(a.Currency, b.Currency) })
	return p, nil
}

func (s store) insert(ctx context.Context, p Pack) error {
	return sqldb.Wrap(s.q(ctx).InsertPack(ctx, packsql.InsertPackParams{
		ID: p.ID, Slug: p.Slug, Name: p.Name.Column(), Description: p.Description.Column(), FeatureCode: p.FeatureCode,
		Amount: int64(p.Amount), ExpiresAfterDays: p.ExpiresAfterDays, IsActive: p.IsActive, CreatedAt: p.CreatedAt,
	}), "insert pack")
}

func (s store) save(ctx context.Context, p Pack) error {
	return sqldb.Wrap(s.q(ctx).SavePack(ctx, packsql.SavePackParams{
		ID: p.ID, Slug: p.Slug, Name: p.Name.Column(), Description: p.Description.Column(), FeatureCode: p.FeatureCode,
		Amount: int64(p.Amount), ExpiresAfterDays: p.ExpiresAfterDays, IsActive: p.IsActive, UpdatedAt: p.UpdatedAt,
	}), "save pack")
}

func (s store) delete(ctx context.Context, id uuid.UUID, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeletePack(ctx, packsql.DeletePackParams{ID: id, DeletedAt: &now}), "delete pack")
}

func (s store) insertPrice(ctx context.Context, packID uuid.UUID, p Price, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).InsertPrice(ctx, packsql.InsertPriceParams{
		ID: p.ID, PackID: packID, Currency: p.Currency, PriceCents: p.PriceCents, CreatedAt: now,
	}), "insert price of a pack")
}

func (s store) savePrice(ctx context.Context, p Price, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).SavePrice(ctx, packsql.SavePriceParams{ID: p.ID, PriceCents: p.PriceCents, UpdatedAt: now}), "save price of a pack")
}

func (s store) deletePrice(ctx context.Context, id uuid.UUID) error {
	return sqldb.Wrap(s.q(ctx).DeletePrice(ctx, id), "delete price of a pack")
}

// lockMeter locks a meter and returns its aggregation, or catalog.ErrNotFound.
func (s store) lockMeter(ctx context.Context, code string) (string, error) {
	aggregation, err := s.q(ctx).LockMeter(ctx, code)
	return aggregation, sqldb.WrapAbsent(err, "lock meter", catalog.ErrNotFound)
}

// aggregation returns the aggregation of a meter, or catalog.ErrNotFound.
func (s store) aggregation(ctx context.Context, code string) (string, error) {
	aggregation, err := s.q(ctx).Aggregation(ctx, code)
	return aggregation, sqldb.WrapAbsent(err, "read meter", catalog.ErrNotFound)
}
