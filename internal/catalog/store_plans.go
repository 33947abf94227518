package catalog

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// plans lists the plans that are not deleted, with prices and entitlements, by sort order and then
// by age. It runs three queries for any number of plans, so it can see part of a change that
// commits between them.
func (s store) plans(ctx context.Context) ([]Plan, error) {
	rows, err := s.q(ctx).Plans(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list plans")
	}
	prices, err := s.q(ctx).Prices(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list prices")
	}
	entitlements, err := s.q(ctx).Entitlements(ctx)
	if err != nil {
		return nil, sqldb.Wrap(err, "list entitlements")
	}
	return assemble(rows, prices, entitlements)
}

// assemble builds plans from their rows, in the order of rows.
func assemble(
	rows []catalogsql.PlansRow, prices []catalogsql.PlanPrice, entitlements []catalogsql.EntitlementsRow,
) ([]Plan, error) {
	pricesOf := map[uuid.UUID][]catalogsql.PlanPrice{}
	for _, p := range prices {
		pricesOf[p.PlanID] = append(pricesOf[p.PlanID], p)
	}
	entitlementsOf := map[uuid.UUID][]catalogsql.EntitlementsRow{}
	for _, e := range entitlements {
		entitlementsOf[e.Entitlement.PlanID] = append(entitlementsOf[e.Entitlement.PlanID], e)
	}
	return convertRows(rows, func(row catalogsql.PlansRow) (Plan, error) {
		return planOf(row, pricesOf[row.Plan.ID], entitlementsOf[row.Plan.ID])
	})
}

// plan returns a plan in any state, including deleted plans.
func (s store) plan(ctx context.Context, id uuid.UUID) (Plan, error) {
	row, err := s.q(ctx).Plan(ctx, id)
	if err != nil {
		return Plan{}, sqldb.WrapAbsent(err, "read plan", ErrNotFound)
	}
	return s.loadPlan(ctx, catalogsql.PlansRow(row))
}

// currentPlan returns a plan that is not deleted.
func (s store) currentPlan(ctx context.Context, id uuid.UUID) (Plan, error) {
	p, err := s.plan(ctx, id)
	if err == nil && p.Deleted {
		return Plan{}, ErrNotFound
	}
	return p, err
}

func (s store) planBySlug(ctx context.Context, slug string) (Plan, error) {
	row, err := s.q(ctx).PlanBySlug(ctx, slug)
	if err != nil {
		return Plan{}, sqldb.WrapAbsent(err, "read plan", ErrNotFound)
	}
	return s.loadPlan(ctx, catalogsql.PlansRow(row))
}

// defaultPlan returns the default plan, or ErrNotFound if there is none.
func (s store) defaultPlan(ctx context.Context) (Plan, error) {
	row, err := s.q(ctx).DefaultPlan(ctx)
	if err != nil {
		return Plan{}, sqldb.WrapAbsent(err, "read default plan", ErrNotFound)
	}
	return s.loadPlan(ctx, catalogsql.PlansRow(row))
}

// hasTrialWithoutCard reports whether a plan other than the given one offers a trial without a card.
func (s store) hasTrialWithoutCard(ctx context.Context, except uuid.UUID) (bool, error) {
	has, err := s.q(ctx).HasTrialWithoutCard(ctx, except)
	return has, sqldb.Wrap(err, "find a trial without a card")
}

// loadPlan adds prices and entitlements to a plan.
func (s store) loadPlan(ctx context.Context, row catalogsql.PlansRow) (Plan, error) {
	prices, err := s.q(ctx).PricesOfPlan(ctx, row.Plan.ID)
	if err != nil {
		return Plan{}, sqldb.Wrap(err, "list prices")
	}
	entitlements, err := s.entitlementRows(ctx, row.Plan.ID)
	if err != nil {
		return Plan{}, err
	}
	return planOf(row, prices, entitlements)
}

func (s store) entitlementRows(ctx context.Context, planID uuid.UUID) ([]catalogsql.EntitlementsRow, error) {
	rows, err := s.q(ctx).EntitlementsOfPlan(ctx, planID)
	if err != nil {
		return nil, sqldb.Wrap(err, "list entitlements")
	}
	out := make([]catalogsql.EntitlementsRow, len(rows))
	for i, row := range rows {
		out[i] = catalogsql.EntitlementsRow(row)
	}
	return out, nil
}

func planOf(row catalogsql.PlansRow, prices []catalogsql.PlanPrice, entitlements []catalogsql.EntitlementsRow) (Plan, error) {
	product, err := productOf(row.Product)
	if err != nil {
		return Plan{}, err
	}
	p := row.Plan
	name, description, err := texts(p.Name, p.Description)
	if err != nil {
		return Plan{}, fmt.Errorf("plan %s: %w", p.ID, err)
	}
	granted, err := entitlementsOf(entitlements)
	if err != nil {
		return Plan{}, err
	}
	return Plan{
		ID:           p.ID,
		Product:      product,
		Slug:         p.Slug,
		Name:         name,
		Description:  description,
		PricingType:  PricingType(p.PricingType),
		BillingCycle: p.BillingCycle,
		Interval:     Interval{Unit: p.IntervalUnit, Count: p.IntervalCount},
		TrialDays:    p.TrialDays,
		CardForTrial: p.TrialRequiresCard,
		SortOrder:    p.SortOrder,
		IsActive:     p.IsActive,
		IsDefault:    p.IsDefault,
		Metadata:     p.Metadata,
		Prices:       pricesOf(prices),
		Entitlements: granted,
		CreatedAt:    p.CreatedAt,
		UpdatedAt:    p.UpdatedAt,
		Deleted:      p.DeletedAt != nil,
	}, nil
}

func pricesOf(rows []catalogsql.PlanPrice) []Price {
	slices.SortFunc(rows, func(a, b catalogsql.PlanPrice) int { return cmp.Compare(a.Currency, b.Currency) })
	prices := make([]Price, len(rows))
	for i, p := range rows {
		prices[i] = Price{ID: p.ID, PlanID: p.PlanID, Currency: p.Currency, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID}
	}
	return prices
}

func entitlementsOf(rows []catalogsql.EntitlementsRow) ([]Entitlement, error) {
	slices.SortFunc(rows, func(a, b catalogsql.EntitlementsRow) int { return compareSortOrder(a.Feature, b.Feature) })
	return convertRows(rows, func(row catalogsql.EntitlementsRow) (Entitlement, error) {
		feature, err := featureOf(row.Feature)
		e := row.Entitlement
		return Entitlement{
			ID:        e.ID,
			PlanID:    e.PlanID,
			Feature:   feature,
			Type:      EntitlementType(e.Type),
			Value:     e.Value,
			CreatedAt: e.CreatedAt,
			UpdatedAt: e.UpdatedAt,
		}, err
	})
}

func (s store) insertPlan(ctx context.Context, p Plan) error {
	err := s.q(ctx).InsertPlan(ctx, catalogsql.InsertPlanParams{
		ID: p.ID, ProductID: p.Product.ID, Slug: p.Slug, Name: p.Name.Column(), Description: p.Description.Column(),
		PricingType: string(p.PricingType), BillingCycle: p.BillingCycle,
		IntervalUnit: p.Interval.Unit, IntervalCount: p.Interval.Count,
		TrialDays: p.TrialDays, TrialRequiresCard: p.CardForTrial, SortOrder: p.SortOrder,
		IsActive: p.IsActive, IsDefault: p.IsDefault, Metadata: p.Metadata, CreatedAt: p.CreatedAt,
	})
	if err != nil {
		return sqldb.Wrap(err, "insert plan")
	}
	return s.putWords(ctx, p)
}

// putWords stores the words by which a plan is found.
func (s store) putWords(ctx context.Context, p Plan) error {
	return s.words.Put(ctx, search.Object{
		Kind: search.Plan, ID: p.ID, Texts: slices.Collect(maps.Values(p.Name)), Wholes: []string{p.Slug},
	})
}

// savePlan updates the row of a plan, but not its prices and entitlements.
func (s store) savePlan(ctx context.Context, p Plan) error {
	err := s.q(ctx).SavePlan(ctx, catalogsql.SavePlanParams{
		ID: p.ID, ProductID: p.Product.ID, Slug: p.Slug, Name: p.Name.Column(), Description: p.Description.Column(),
		PricingType: string(p.PricingType), BillingCycle: p.BillingCycle,
		IntervalUnit: p.Interval.Unit, IntervalCount: p.Interval.Count,
		TrialDays: p.TrialDays, TrialRequiresCard: p.CardForTrial, SortOrder: p.SortOrder,
		IsActive: p.IsActive, IsDefault: p.IsDefault, Metadata: p.Metadata, UpdatedAt: p.UpdatedAt,
	})
	if err != nil {
		return sqldb.Wrap(err, "save plan")
	}
	return s.putWords(ctx, p)
}

// lockPlan locks the row of a plan that is not deleted, and returns the plan.
func (s store) lockPlan(ctx context.Context, id uuid.UUID) (Plan, error) {
	if _, err := s.q(ctx).LockPlan(ctx, id); err != nil {
		return Plan{}, sqldb.WrapAbsent(err, "lock plan", ErrNotFound)
	}
	return s.plan(ctx, id)
}

// lockPlansOfProduct locks the plans of a product and returns their IDs.
func (s store) lockPlansOfProduct(ctx context.Context, productID uuid.UUID) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).LockPlansOfProduct(ctx, productID)
	return ids, sqldb.Wrap(err, "lock the plans of a product")
}

// lockPlansOfFeature locks the plans that grant a feature and returns their IDs.
func (s store) lockPlansOfFeature(ctx context.Context, featureID uuid.UUID) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).LockPlansOfFeature(ctx, featureID)
	return ids, sqldb.Wrap(err, "lock the plans of a feature")
}

// slugsOfPlans lists the slugs that begin with a prefix.
func (s store) slugsOfPlans(ctx context.Context, prefix string) ([]string, error) {
	slugs, err := s.q(ctx).SlugsOfPlans(ctx, prefix)
	return slugs, sqldb.Wrap(err, "list slugs of plans")
}

func (s store) deletePlan(ctx context.Context, id uuid.UUID, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeletePlan(ctx, catalogsql.DeletePlanParams{ID: id, DeletedAt: &now}), "delete plan")
}
