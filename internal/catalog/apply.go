package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tenantry/tenantry/internal/catalog/catalogsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Apply brings c into the database in one transaction: what is missing is
// created, what differs is changed and keeps its id, and what c does not name
// stays. Applying it again changes nothing. Prices and entitlements refer to
// currencies and features of c or of the database; another is an error. Meters
// are left to the usage domain.
func (s *Service) Apply(ctx context.Context, c Catalog) error {
	if err := c.Check(); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context) error {
		a := applier{store: s.store, now: s.clock.Now()}
		if err := a.apply(ctx, c); err != nil {
			return err
		}
		s.db.AfterCommit(ctx, s.Changed)
		return nil
	})
}

// applier is one run of Apply.
type applier struct {
	store store
	now   time.Time
}

func (a applier) apply(ctx context.Context, c Catalog) error {
	// Two instances that start on one database apply one after the other.
	if err := a.store.q(ctx).LockCatalog(ctx); err != nil {
		return fmt.Errorf("lock the catalog: %w", err)
	}
	for _, f := range c.Features {
		if err := a.feature(ctx, f); err != nil {
			return fmt.Errorf("feature %s: %w", f.Code, err)
		}
	}
	for _, p := range c.Products {
		product, err := a.product(ctx, p)
		if err != nil {
			return fmt.Errorf("product %s: %w", p.Slug, err)
		}
		for _, plan := range p.Plans {
			if err := a.plan(ctx, product, plan); err != nil {
				return fmt.Errorf("plan %s: %w", plan.Slug, err)
			}
		}
	}
	return nil
}

func (a applier) feature(ctx context.Context, f FeatureData) error {
	old, err := a.store.featureByCode(ctx, f.Code)
	switch {
	case errors.Is(err, ErrNotFound):
		return a.store.q(ctx).InsertFeature(ctx, catalogsql.InsertFeatureParams{
			ID: sqldb.NewID(), Code: f.Code, Name: f.Name.column(), Description: f.Description.column(),
			IsActive: active(f.IsActive), CreatedAt: a.now,
		})
	case err != nil:
		return err
	case maps.Equal(old.Name, f.Name) && maps.Equal(old.Description, f.Description) && old.IsActive == active(f.IsActive):
		return nil
	}
	return a.store.q(ctx).UpdateFeature(ctx, catalogsql.UpdateFeatureParams{
		ID: old.ID, Name: f.Name.column(), Description: f.Description.column(), IsActive: active(f.IsActive), UpdatedAt: a.now,
	})
}

func (a applier) product(ctx context.Context, p ProductData) (Product, error) {
	old, err := a.store.productBySlug(ctx, p.Slug)
	switch {
	case errors.Is(err, ErrNotFound):
		created := Product{ID: sqldb.NewID()}
		return created, a.store.q(ctx).InsertProduct(ctx, catalogsql.InsertProductParams{
			ID: created.ID, Slug: p.Slug, Name: p.Name.column(), Description: p.Description.column(),
			IsActive: active(p.IsActive), CreatedAt: a.now,
		})
	case err != nil:
		return Product{}, err
	case maps.Equal(old.Name, p.Name) && maps.Equal(old.Description, p.Description) && old.IsActive == active(p.IsActive):
		return old, nil
	}
	return old, a.store.q(ctx).UpdateProduct(ctx, catalogsql.UpdateProductParams{
		ID: old.ID, Name: p.Name.column(), Description: p.Description.column(), IsActive: active(p.IsActive), UpdatedAt: a.now,
	})
}

func (a applier) plan(ctx context.Context, product Product, p PlanData) error {
	interval, _ := CycleInterval(p.BillingCycle) // Check has seen to it
	plan, err := a.store.planBySlug(ctx, p.Slug)
	switch {
	case errors.Is(err, ErrNotFound):
		plan = Plan{ID: sqldb.NewID(), PricingType: p.PricingType, Interval: interval}
		err = a.store.q(ctx).InsertPlan(ctx, catalogsql.InsertPlanParams{
			ID: plan.ID, ProductID: product.ID, Slug: p.Slug, Name: p.Name.column(), Description: p.Description.column(),
			PricingType: string(p.PricingType), BillingCycle: p.BillingCycle,
			IntervalUnit: interval.Unit, IntervalCount: interval.Count,
			TrialDays: p.TrialDays, SortOrder: p.SortOrder, IsActive: active(p.IsActive), CreatedAt: a.now,
		})
	case err == nil && !samePlan(plan, product, p, interval):
		err = a.store.q(ctx).UpdatePlan(ctx, catalogsql.UpdatePlanParams{
			ID: plan.ID, ProductID: product.ID, Name: p.Name.column(), Description: p.Description.column(),
			PricingType: string(p.PricingType), BillingCycle: p.BillingCycle,
			IntervalUnit: interval.Unit, IntervalCount: interval.Count,
			TrialDays: p.TrialDays, SortOrder: p.SortOrder, IsActive: active(p.IsActive), UpdatedAt: a.now,
		})
	}
	if err != nil {
		return err
	}
	if err := a.prices(ctx, plan, p, interval); err != nil {
		return err
	}
	return a.entitlements(ctx, plan, p)
}

func samePlan(old Plan, product Product, p PlanData, interval Interval) bool {
	return old.Product.ID == product.ID && maps.Equal(old.Name, p.Name) && maps.Equal(old.Description, p.Description) &&
		old.PricingType == p.PricingType && old.BillingCycle == p.BillingCycle && old.Interval == interval &&
		old.TrialDays == p.TrialDays && old.SortOrder == p.SortOrder && old.IsActive == active(p.IsActive)
}

// prices are created and changed. A price of the payment provider never changes
// its amount, interval or kind, so a change that it cannot follow unlinks it.
func (a applier) prices(ctx context.Context, plan Plan, p PlanData, interval Interval) error {
	if plan.Interval != interval || plan.PricingType != p.PricingType {
		err := a.store.q(ctx).UnlinkPrices(ctx, catalogsql.UnlinkPricesParams{PlanID: plan.ID, UpdatedAt: a.now})
		if err != nil {
			return fmt.Errorf("unlink prices: %w", err)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(p.Prices)) {
		if _, err := a.store.currency(ctx, code); err != nil {
			return fmt.Errorf("price in %s: %w", code, err)
		}
		old, exists := plan.PriceIn(code)
		var err error
		switch {
		case !exists:
			err = a.store.q(ctx).InsertPrice(ctx, catalogsql.InsertPriceParams{
				ID: sqldb.NewID(), PlanID: plan.ID, Currency: code, PriceCents: p.Prices[code], CreatedAt: a.now,
			})
		case old.PriceCents != p.Prices[code]:
			err = a.store.q(ctx).ChangePrice(ctx, catalogsql.ChangePriceParams{
				ID: old.ID, PriceCents: p.Prices[code], UpdatedAt: a.now,
			})
		}
		if err != nil {
			return fmt.Errorf("price in %s: %w", code, err)
		}
	}
	return nil
}

func (a applier) entitlements(ctx context.Context, plan Plan, p PlanData) error {
	granted := map[string]Entitlement{}
	for _, e := range plan.Entitlements {
		granted[e.Feature.Code] = e
	}
	for _, code := range slices.Sorted(maps.Keys(p.Entitlements)) {
		grant := p.Entitlements[code]
		feature, err := a.store.featureByCode(ctx, code)
		if err != nil {
			return fmt.Errorf("entitlement %s: %w", code, err)
		}
		old, exists := granted[code]
		switch {
		case !exists:
			err = a.store.q(ctx).InsertEntitlement(ctx, catalogsql.InsertEntitlementParams{
				ID: sqldb.NewID(), PlanID: plan.ID, FeatureID: feature.ID,
				Type: string(grant.Type()), Value: grant.Quota, CreatedAt: a.now,
			})
		case old.Type != grant.Type() || !equal(old.Value, grant.Quota):
			err = a.store.q(ctx).UpdateEntitlement(ctx, catalogsql.UpdateEntitlementParams{
				ID: old.ID, Type: string(grant.Type()), Value: grant.Quota, UpdatedAt: a.now,
			})
		}
		if err != nil {
			return fmt.Errorf("entitlement %s: %w", code, err)
		}
	}
	return nil
}

// active reads a switch that is on unless it is turned off.
func active(is *bool) bool { return is == nil || *is }

func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
