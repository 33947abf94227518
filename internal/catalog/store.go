package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store runs the catalog's queries on what conn gives: the transaction of the
// context, or the database.
type store struct {
	conn func(ctx context.Context) sqldb.DBTX
}

func (s store) q(ctx context.Context) *catalogsql.Queries { return catalogsql.New(s.conn(ctx)) }

// lock holds the catalog's lock until the transaction ends.
func (s store) lock(ctx context.Context) error {
	return sqldb.Wrap(s.q(ctx).LockCatalog(ctx), "lock the catalog")
}

// found turns the absence of a row into ErrNotFound.
func found(err error) error {
	if errors.Is(err, sqldb.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// currencies are sorted by code. As everywhere below, the order is made here,
// because the databases sort text by different rules.
func (s store) currencies(ctx context.Context) ([]Currency, error) {
	rows, err := s.q(ctx).Currencies(ctx)
	if err != nil {
		return nil, fmt.Errorf("read currencies: %w", err)
	}
	slices.SortFunc(rows, func(a, b catalogsql.Currency) int { return cmp.Compare(a.Code, b.Code) })
	return each(rows, currencyOf)
}

func (s store) currency(ctx context.Context, code string) (Currency, error) {
	row, err := s.q(ctx).Currency(ctx, code)
	if err != nil {
		return Currency{}, fmt.Errorf("read currency: %w", found(err))
	}
	return currencyOf(row)
}

// products are those that are not deleted, oldest first.
func (s store) products(ctx context.Context) ([]Product, error) {
	rows, err := s.q(ctx).Products(ctx)
	if err != nil {
		return nil, fmt.Errorf("read products: %w", err)
	}
	return each(rows, productOf)
}

func (s store) product(ctx context.Context, id uuid.UUID) (Product, error) {
	row, err := s.q(ctx).Product(ctx, id)
	if err != nil {
		return Product{}, fmt.Errorf("read product: %w", found(err))
	}
	return productOf(row)
}

func (s store) productBySlug(ctx context.Context, slug string) (Product, error) {
	row, err := s.q(ctx).ProductBySlug(ctx, slug)
	if err != nil {
		return Product{}, fmt.Errorf("read product: %w", found(err))
	}
	return productOf(row)
}

func (s store) productOfPlan(ctx context.Context, planID uuid.UUID) (Product, error) {
	row, err := s.q(ctx).ProductOfPlan(ctx, planID)
	if err != nil {
		return Product{}, fmt.Errorf("read product: %w", found(err))
	}
	return productOf(row)
}

// features are those that are not deleted, by code.
func (s store) features(ctx context.Context) ([]Feature, error) {
	rows, err := s.q(ctx).Features(ctx)
	if err != nil {
		return nil, fmt.Errorf("read features: %w", err)
	}
	slices.SortFunc(rows, func(a, b catalogsql.Feature) int { return cmp.Compare(a.Code, b.Code) })
	return each(rows, featureOf)
}

func (s store) feature(ctx context.Context, id uuid.UUID) (Feature, error) {
	row, err := s.q(ctx).Feature(ctx, id)
	if err != nil {
		return Feature{}, fmt.Errorf("read feature: %w", found(err))
	}
	return featureOf(row)
}

func (s store) featureByCode(ctx context.Context, code string) (Feature, error) {
	row, err := s.q(ctx).FeatureByCode(ctx, code)
	if err != nil {
		return Feature{}, fmt.Errorf("read feature: %w", found(err))
	}
	return featureOf(row)
}

// each converts rows; the first error ends it.
func each[R, T any](rows []R, convert func(R) (T, error)) ([]T, error) {
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
