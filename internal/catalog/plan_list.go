package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/page"
)

// PlanList is what the administration's list of plans can be asked for (spec:
// Admin catalog endpoints). Entitlements and their features are always there;
// their includes are accepted and change nothing.
func PlanList() page.Spec {
	filters := commonFilters("p", "slug")
	filters["product_id"] = page.Filter{Kind: page.UUID, Exprs: []string{"p.product_id"}}
	filters["pricing_type"] = page.Filter{
		Kind: page.Enum, Exprs: []string{"p.pricing_type"}, Values: []string{string(Flat), string(Seat), string(Usage)},
	}
	filters["billing_cycle"] = page.Filter{Kind: page.Enum, Exprs: []string{"p.billing_cycle"}, Values: BillingCycles()}
	return page.Spec{
		Filters:     filters,
		Sorts:       map[string]string{"sort_order": "p.sort_order", "created_at": "p.created_at"},
		DefaultSort: "sort_order",
		Tiebreak:    "p.id",
		Includes:    []string{"product", "entitlements", "entitlements.feature"},
	}
}

// Plans lists the plans that q asks for, whole, and counts all that match, with
// four queries however many there are; q is parsed by PlanList.
func (s *Service) Plans(ctx context.Context, q page.Query) (plans []Plan, total int64, err error) {
	rows, total, err := page.Fetch(ctx, s.store.conn(ctx), q, page.Select{
		Columns: planColumns, From: planTables, Where: "p.deleted_at IS NULL",
	}, scanPlan)
	if err != nil {
		return nil, 0, err
	}
	plans, err = s.store.complete(ctx, rows)
	return plans, total, err
}

const (
	planTables  = "plans p JOIN products r ON r.id = p.product_id"
	planColumns = `p.id, p.product_id, p.slug, p.name, p.description, p.pricing_type, p.billing_cycle, p.interval_unit,
		p.interval_count, p.trial_days, p.sort_order, p.is_active, p.metadata, p.created_at, p.updated_at,
		r.id, r.slug, r.name, r.description, r.is_active, r.metadata, r.psp_product_id, r.created_at, r.updated_at`
)

func scanPlan(row page.Scanner) (catalogsql.PlansRow, error) {
	var out catalogsql.PlansRow
	p, r := &out.Plan, &out.Product
	err := row.Scan(&p.ID, &p.ProductID, &p.Slug, &p.Name, &p.Description, &p.PricingType, &p.BillingCycle, &p.IntervalUnit,
		&p.IntervalCount, &p.TrialDays, &p.SortOrder, &p.IsActive, &p.Metadata, &p.CreatedAt, &p.UpdatedAt,
		&r.ID, &r.Slug, &r.Name, &r.Description, &r.IsActive, &r.Metadata, &r.PSPProductID, &r.CreatedAt, &r.UpdatedAt)
	return out, err
}

// plansOf returns the plans of products that are not deleted, whole and by sort
// order and then age, with three queries.
func (s store) plansOf(ctx context.Context, products []uuid.UUID) ([]Plan, error) {
	if len(products) == 0 {
		return nil, nil
	}
	var rows []catalogsql.PlansRow
	query := "SELECT " + planColumns + " FROM " + planTables + " WHERE p.deleted_at IS NULL AND p.product_id IN"
	err := s.among(ctx, query, products, func(row page.Scanner) error {
		plan, err := scanPlan(row)
		rows = append(rows, plan)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read plans: %w", err)
	}
	slices.SortFunc(rows, func(a, b catalogsql.PlansRow) int {
		return cmp.Or(
			cmp.Compare(a.Plan.SortOrder, b.Plan.SortOrder),
			a.Plan.CreatedAt.Compare(b.Plan.CreatedAt),
			slices.Compare(a.Plan.ID[:], b.Plan.ID[:]),
		)
	})
	return s.complete(ctx, rows)
}

// complete adds prices and entitlements to plans: two queries for all.
func (s store) complete(ctx context.Context, rows []catalogsql.PlansRow) ([]Plan, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.Plan.ID
	}
	prices, err := s.pricesOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	entitlements, err := s.entitlementsOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read entitlements: %w", err)
	}
	return assemble(rows, prices, entitlements)
}

func (s store) pricesOf(ctx context.Context, plans []uuid.UUID) (prices []catalogsql.PlanPrice, err error) {
	const query = `SELECT id, plan_id, currency, price_cents, psp_price_id FROM plan_prices WHERE plan_id IN`
	err = s.among(ctx, query, plans, func(row page.Scanner) error {
		var p catalogsql.PlanPrice
		err := row.Scan(&p.ID, &p.PlanID, &p.Currency, &p.PriceCents, &p.PSPPriceID)
		prices = append(prices, p)
		return err
	})
	return prices, err
}

func (s store) entitlementsOf(ctx context.Context, plans []uuid.UUID) (entitlements []catalogsql.EntitlementsRow, err error) {
	const query = `SELECT e.id, e.plan_id, e.type, e.value, e.created_at, e.updated_at,
			f.id, f.code, f.name, f.description, f.is_active, f.is_system, f.metadata, f.created_at, f.updated_at
		FROM entitlements e JOIN features f ON f.id = e.feature_id
		WHERE f.deleted_at IS NULL AND e.plan_id IN`
	err = s.among(ctx, query, plans, func(row page.Scanner) error {
		var out catalogsql.EntitlementsRow
		e, f := &out.Entitlement, &out.Feature
		err := row.Scan(&e.ID, &e.PlanID, &e.Type, &e.Value, &e.CreatedAt, &e.UpdatedAt,
			&f.ID, &f.Code, &f.Name, &f.Description, &f.IsActive, &f.IsSystem, &f.Metadata, &f.CreatedAt, &f.UpdatedAt)
		entitlements = append(entitlements, out)
		return err
	})
	return entitlements, err
}
