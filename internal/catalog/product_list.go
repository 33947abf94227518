package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
)

// ProductEntry is a product in the admin list.
type ProductEntry struct {
	Product
	PlansCount int64  // number of plans that are not deleted
	Plans      []Plan // set only if the plans were requested
}

// ProductList returns the filters, sort orders and includes of the admin product list
// (rules: catalog#products).
func (*HTTP) ProductList() page.Spec {
	return page.Spec{
		Filters:     commonFilters("p", "slug"),
		Sorts:       map[string]string{"created_at": "p.created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "p.id",
		Includes:    []string{"plans", "plansCount"},
	}
}

// Product returns a product that is not deleted, with its number of plans, or ErrNotFound.
func (s *Service) Product(ctx context.Context, id uuid.UUID) (ProductEntry, error) {
	product, err := s.store.product(ctx, id)
	if err != nil {
		return ProductEntry{}, err
	}
	plans, err := s.store.countPlans(ctx, id)
	return ProductEntry{Product: product, PlansCount: plans}, err
}

// Products returns the page of products for q, which ProductList parses, and the total number of
// matches. With the include "plans", each product has its plans. It runs two queries, plus three
// for the plans.
func (s *Service) Products(ctx context.Context, q page.Query) (entries []ProductEntry, total int64, err error) {
	entries, total, err = s.store.productPage(ctx, q)
	if err != nil || !q.Includes("plans") {
		return entries, total, err
	}
	ids := viewAll(entries, func(e ProductEntry) uuid.UUID { return e.ID })
	plans, err := s.store.plansOf(page.WithByteLimit(ctx, len(ids)), ids)
	if err != nil {
		return nil, 0, err
	}
	index := map[uuid.UUID]int{}
	for i, id := range ids {
		index[id] = i
	}
	for _, plan := range plans {
		entry := &entries[index[plan.Product.ID]]
		entry.Plans = append(entry.Plans, plan)
	}
	return entries, total, nil
}
