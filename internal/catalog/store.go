package catalog

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the catalog's queries in the transaction of the context, or else directly on the
// database. Methods that read a single record return ErrNotFound if it does not exist.
type store struct {
	conn  func(ctx context.Context) sqldb.DBTX
	words search.Index
}

func (s store) q(ctx context.Context) *catalogsql.Queries { return catalogsql.New(s.conn(ctx)) }

// lock holds the catalog lock until the transaction ends.
func (s store) lock(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).LockCatalog(ctx), "lock the catalog")
}

// currencies lists all currencies by code. Like all lists that are sorted by a text, it is sorted
// in Go, because the databases have different collations.
func (s store) currencies(ctx context.Context) ([]Currency, error) {
	rows, err := s.q(ctx).Currencies(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list currencies")
	}
	slices.SortFunc(rows, func(a, b catalogsql.Currency) int { return cmp.Compare(a.Code, b.Code) })
	return convertRows(rows, currencyOf)
}

func (s store) currency(ctx context.Context, code string) (Currency, error) {
	row, err := s.q(ctx).Currency(ctx, code)
	if err != nil {
		return Currency{}, sqldb.WrapAbsent(err, "read currency", ErrNotFound)
	}
	return currencyOf(row)
}

// products lists the products that are not deleted, oldest first.
func (s store) products(ctx context.Context) ([]Product, error) {
	rows, err := s.q(ctx).Products(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list products")
	}
	return convertRows(rows, productOf)
}

func (s store) product(ctx context.Context, id uuid.UUID) (Product, error) {
	row, err := s.q(ctx).Product(ctx, id)
	if err != nil {
		return Product{}, sqldb.WrapAbsent(err, "read product", ErrNotFound)
	}
	return productOf(row)
}

func (s store) productBySlug(ctx context.Context, slug string) (Product, error) {
	row, err := s.q(ctx).ProductBySlug(ctx, slug)
	if err != nil {
		return Product{}, sqldb.WrapAbsent(err, "read product", ErrNotFound)
	}
	return productOf(row)
}

// compareSortOrder compares features by their sort order, then by code.
func compareSortOrder(a, b catalogsql.Feature) int {
	return cmp.Or(cmp.Compare(a.SortOrder, b.SortOrder), cmp.Compare(a.Code, b.Code))
}

// features lists the features that are not deleted, by sort order.
func (s store) features(ctx context.Context) ([]Feature, error) {
	rows, err := s.q(ctx).Features(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list features")
	}
	slices.SortFunc(rows, compareSortOrder)
	return convertRows(rows, featureOf)
}

func (s store) feature(ctx context.Context, id uuid.UUID) (Feature, error) {
	row, err := s.q(ctx).Feature(ctx, id)
	if err != nil {
		return Feature{}, sqldb.WrapAbsent(err, "read feature", ErrNotFound)
	}
	return featureOf(row)
}

func (s store) featureByCode(ctx context.Context, code string) (Feature, error) {
	row, err := s.q(ctx).FeatureByCode(ctx, code)
	if err != nil {
		return Feature{}, sqldb.WrapAbsent(err, "read feature", ErrNotFound)
	}
	return featureOf(row)
}

// meteredPrices lists the prices of the meters that usage plans bill, by code and currency.
func (s store) meteredPrices(ctx context.Context) ([]meteredPrice, error) {
	rows, err := s.q(ctx).MeteredPrices(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list prices of meters")
	}
	slices.SortFunc(rows, func(a, b catalogsql.MeteredPricesRow) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Currency, b.Currency))
	})
	return convertRows(rows, func(row catalogsql.MeteredPricesRow) (meteredPrice, error) {
		price, err := money.ParseUnitPrice(row.UnitPriceCents)
		return meteredPrice{Code: row.Code, Name: row.Name, UnitLabel: row.UnitLabel, Currency: row.Currency, UnitPrice: price}, err
	})
}

func (s store) insertProduct(ctx context.Context, p Product) error {
	return sqldb.Wrap(s.q(ctx).InsertProduct(ctx, catalogsql.InsertProductParams{
		ID: p.ID, Slug: p.Slug, Name: p.Name.Column(), Description: p.Description.Column(),
		IsActive: p.IsActive, Metadata: p.Metadata, CreatedAt: p.CreatedAt,
	}), "insert product")
}

func (s store) saveProduct(ctx context.Context, p Product) error {
	return sqldb.Wrap(s.q(ctx).SaveProduct(ctx, catalogsql.SaveProductParams{
		ID: p.ID, Slug: p.Slug, Name: p.Name.Column(), Description: p.Description.Column(),
		IsActive: p.IsActive, Metadata: p.Metadata, UpdatedAt: p.UpdatedAt,
	}), "save product")
}

// deleteProduct deletes a product and its plans.
func (s store) deleteProduct(ctx context.Context, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).DeletePlansOfProduct(ctx, catalogsql.DeletePlansOfProductParams{ProductID: id, DeletedAt: &now})
	if err == nil {
		err = s.q(ctx).DeleteProduct(ctx, catalogsql.DeleteProductParams{ID: id, DeletedAt: &now})
	}
	return sqldb.Wrap(err, "delete product")
}

// countPlans counts the plans of a product that are not deleted.
func (s store) countPlans(ctx context.Context, productID uuid.UUID) (int64, error) {
	n, err := s.q(ctx).CountPlansOfProduct(ctx, productID)
	return n, sqldb.Wrap(err, "count plans")
}

func (s store) insertFeature(ctx context.Context, f Feature) error {
	return sqldb.Wrap(s.q(ctx).InsertFeature(ctx, catalogsql.InsertFeatureParams{
		ID: f.ID, Code: f.Code, Name: f.Name.Column(), Description: f.Description.Column(),
		IsActive: f.IsActive, SortOrder: f.SortOrder, Metadata: f.Metadata, CreatedAt: f.CreatedAt,
	}), "insert feature")
}

func (s store) saveFeature(ctx context.Context, f Feature) error {
	return sqldb.Wrap(s.q(ctx).SaveFeature(ctx, catalogsql.SaveFeatureParams{
		ID: f.ID, Code: f.Code, Name: f.Name.Column(), Description: f.Description.Column(),
		IsActive: f.IsActive, SortOrder: f.SortOrder, Metadata: f.Metadata, UpdatedAt: f.UpdatedAt,
	}), "save feature")
}

func (s store) deleteFeature(ctx context.Context, id uuid.UUID, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteFeature(ctx, catalogsql.DeleteFeatureParams{ID: id, DeletedAt: &now}), "delete feature")
}

// convertRows converts rows and stops at the first error.
func convertRows[R, T any](rows []R, convert func(R) (T, error)) ([]T, error) {
	out := make([]T, 0, len(rows))
	for _, row := range rows {
		item, err := convert(row)
		if err != nil {
			return nil, err
		}
		out = append(out, item)
	}
	return out, nil
}
