package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/page"
)

// ProductEntry is a product as the administration lists it.
type ProductEntry struct {
	Product
	PlansCount int64  // plans that are not deleted
	Plans      []Plan // only where they were asked for
}

// ProductList is what the administration's list of products can be asked for
// (spec: Admin catalog endpoints).
func ProductList() page.Spec {
	return page.Spec{
		Filters:     commonFilters("p", "slug"),
		Sorts:       map[string]string{"created_at": "p.created_at"},
		DefaultSort: "-created_at",
		Tiebreak:    "p.id",
		Includes:    []string{"plans", "plansCount"},
	}
}

// Product returns a product that is not deleted, with the number of its plans,
// else ErrNotFound.
func (s *Service) Product(ctx context.Context, id uuid.UUID) (ProductEntry, error) {
	product, err := s.store.product(ctx, id)
	if err != nil {
		return ProductEntry{}, err
	}
	plans, err := s.store.q(ctx).CountPlansOfProduct(ctx, id)
	return ProductEntry{Product: product, PlansCount: plans}, err
}

// Products lists the products that q asks for, and counts all that match; q is
// parsed by ProductList. With the include "plans" each has its plans. It takes two
// queries, and three more for the plans.
func (s *Service) Products(ctx context.Context, q page.Query) (entries []ProductEntry, total int64, err error) {
	entries, total, err = s.store.productPage(ctx, q)
	if err != nil || !q.Includes("plans") {
		return entries, total, err
	}
	ids := all(entries, func(e ProductEntry) uuid.UUID { return e.ID })
	plans, err := s.store.plansOf(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	place := map[uuid.UUID]int{}
	for i, id := range ids {
		place[id] = i
	}
	for _, plan := range plans {
		entry := &entries[place[plan.Product.ID]]
		entry.Plans = append(entry.Plans, plan)
	}
	return entries, total, nil
}

func (s store) productPage(ctx context.Context, q page.Query) ([]ProductEntry, int64, error) {
	sel := page.Select{
		Columns: `p.id, p.slug, p.name, p.description, p.is_active, p.metadata, p.psp_product_id, p.created_at, p.updated_at,
			(SELECT count(*) FROM plans WHERE plans.product_id = p.id AND plans.deleted_at IS NULL)`,
		From:  "products p",
		Where: "p.deleted_at IS NULL",
	}
	return page.Fetch(ctx, s.conn(ctx), q, sel, func(row page.Scanner) (ProductEntry, error) {
		var (
			p     catalogsql.Product
			entry ProductEntry
		)
		err := row.Scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.IsActive, &p.Metadata, &p.PSPProductID,
			&p.CreatedAt, &p.UpdatedAt, &entry.PlansCount)
		if err != nil {
			return ProductEntry{}, err
		}
		entry.Product, err = productOf(p)
		return entry, err
	})
}
