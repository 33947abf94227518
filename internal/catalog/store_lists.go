package catalog

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/sqldb"
)

func (s store) productPage(ctx context.Context, q page.Query) ([]ProductEntry, int64, error) {
	sel := page.Select{
		Columns: `p.id, p.slug, p.name, p.description, p.is_active, p.metadata, p.created_at, p.updated_at,
			(SELECT count(*) FROM plans WHERE plans.product_id = p.id AND plans.deleted_at IS NULL)`,
		From:  "products p",
		Where: "p.deleted_at IS NULL",
	}
	return page.Fetch(ctx, s.conn(ctx), q, sel, func(row page.Scanner) (ProductEntry, error) {
		var (
			p     catalogsql.Product
			entry ProductEntry
		)
		err := row.Scan(&p.ID, &p.Slug, &p.Name, &p.Description, &p.IsActive, &p.Metadata,
			&p.CreatedAt, &p.UpdatedAt, &entry.PlansCount)
		if err != nil {
			return ProductEntry{}, err
		}
		entry.Product, err = productOf(p)
		return entry, err
	})
}

func (s store) featurePage(ctx context.Context, q page.Query) (features []Feature, total int64, err error) {
	return page.Fetch(ctx, s.conn(ctx), q, page.Select{
		Columns: "f.id, f.code, f.name, f.description, f.is_active, f.is_system, f.sort_order, f.metadata, f.created_at, f.updated_at",
		From:    "features f",
		Where:   "f.deleted_at IS NULL",
	}, func(row page.Scanner) (Feature, error) {
		var f catalogsql.Feature
		err := row.Scan(&f.ID, &f.Code, &f.Name, &f.Description, &f.IsActive, &f.IsSystem, &f.SortOrder, &f.Metadata, &f.CreatedAt, &f.UpdatedAt)
		if err != nil {
			return Feature{}, err
		}
		return featureOf(f)
	})
}

func (s store) planPage(ctx context.Context, q page.Query) (plans []Plan, total int64, err error) {
	rows, total, err := page.Fetch(ctx, s.conn(ctx), q, page.Select{
		Columns: planColumns, From: planTables, Where: "p.deleted_at IS NULL",
	}, scanPlan)
	if err != nil {
		return nil, 0, err
	}
	plans, err = s.complete(page.WithByteLimit(ctx, len(rows)), rows)
	return plans, total, err
}

const (
	planTables  = "plans p JOIN products r ON r.id = p.product_id"
	planColumns = `p.id, p.product_id, p.slug, p.name, p.description, p.pricing_type, p.billing_cycle, p.interval_unit,
		p.interval_count, p.trial_days, p.trial_requires_card, p.sort_order, p.is_active, p.is_default, p.metadata, p.created_at, p.updated_at,
		r.id, r.slug, r.name, r.description, r.is_active, r.metadata, r.created_at, r.updated_at`
)

func scanPlan(row page.Scanner) (catalogsql.PlansRow, error) {
	var out catalogsql.PlansRow
	p, r := &out.Plan, &out.Product
	err := row.Scan(&p.ID, &p.ProductID, &p.Slug, &p.Name, &p.Description, &p.PricingType, &p.BillingCycle, &p.IntervalUnit,
		&p.IntervalCount, &p.TrialDays, &p.TrialRequiresCard, &p.SortOrder, &p.IsActive, &p.IsDefault, &p.Metadata, &p.CreatedAt, &p.UpdatedAt,
		&r.ID, &r.Slug, &r.Name, &r.Description, &r.IsActive, &r.Metadata, &r.CreatedAt, &r.UpdatedAt)
	return out, err
}

// plansOf lists the plans of products, except deleted plans, with prices and entitlements, by sort
// order and then by age. It runs three queries.
func (s store) plansOf(ctx context.Context, products []uuid.UUID) ([]Plan, error) {
	if len(products) == 0 {
		return nil, nil
	}
	var rows []catalogsql.PlansRow
	query := "SELECT " + planColumns + " FROM " + planTables + " WHERE p.deleted_at IS NULL AND p.product_id IN"
	err := page.FetchByIDs(ctx, s.conn(ctx), query, products, func(row page.Scanner) error {
		plan, err := scanPlan(row)
		rows = append(rows, plan)
		return err
	})
	if err != nil {
		return nil, sqldb.Wrap(err, "list plans of products")
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

// complete adds prices and entitlements to all plans with two queries.
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
		return nil, sqldb.Wrap(err, "list prices")
	}
	entitlements, err := s.entitlementsOf(ctx, ids)
	if err != nil {
		return nil, sqldb.Wrap(err, "list entitlements")
	}
	return assemble(rows, prices, entitlements)
}

func (s store) pricesOf(ctx context.Context, plans []uuid.UUID) (prices []catalogsql.PlanPrice, err error) {
	const query = `SELECT id, plan_id, currency, price_cents, psp_price_id FROM plan_prices WHERE plan_id IN`
	err = page.FetchByIDs(ctx, s.conn(ctx), query, plans, func(row page.Scanner) error {
		var p catalogsql.PlanPrice
		err := row.Scan(&p.ID, &p.PlanID, &p.Currency, &p.PriceCents, &p.PSPPriceID)
		prices = append(prices, p)
		return err
	})
	return prices, err
}

func (s store) entitlementsOf(ctx context.Context, plans []uuid.UUID) (entitlements []catalogsql.EntitlementsRow, err error) {
	const query = `SELECT e.id, e.plan_id, e.type, e.value, e.created_at, e.updated_at,
			f.id, f.code, f.name, f.description, f.is_active, f.is_system, f.sort_order, f.metadata, f.created_at, f.updated_at
		FROM entitlements e JOIN features f ON f.id = e.feature_id
		WHERE f.deleted_at IS NULL AND e.plan_id IN`
	err = page.FetchByIDs(ctx, s.conn(ctx), query, plans, func(row page.Scanner) error {
		var out catalogsql.EntitlementsRow
		e, f := &out.Entitlement, &out.Feature
		err := row.Scan(&e.ID, &e.PlanID, &e.Type, &e.Value, &e.CreatedAt, &e.UpdatedAt,
			&f.ID, &f.Code, &f.Name, &f.Description, &f.IsActive, &f.IsSystem, &f.SortOrder, &f.Metadata, &f.CreatedAt, &f.UpdatedAt)
		entitlements = append(entitlements, out)
		return err
	})
	return entitlements, err
}
