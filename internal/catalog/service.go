package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Deps is what the service needs.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Subscriptions Subscriptions
	Audit         Audit
}

// Service reads and changes the catalog. It is safe for concurrent use.
type Service struct {
	db            *sqldb.DB
	clock         clock.Clock
	subscriptions Subscriptions
	audit         Audit
	store         store
	cache         *cache[Public]
}

// New returns the catalog's service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, clock: d.Clock, subscriptions: d.Subscriptions, audit: d.Audit, store: store{conn: d.DB.Conn}}
	s.cache = newCache(d.Clock, PublicMaxAge, s.read, sqldb.IsUnavailable)
	return s
}

// Plan returns a plan in any state, deleted included, because a subscription and its
// history keep the plan that they were created with. Ask OnSale before selling it. It
// is ErrNotFound if there never was such a plan.
func (s *Service) Plan(ctx context.Context, id uuid.UUID) (Plan, error) { return s.store.plan(ctx, id) }

// CurrentPlan returns a plan that is not deleted, else ErrNotFound.
func (s *Service) CurrentPlan(ctx context.Context, id uuid.UUID) (Plan, error) {
	return s.store.currentPlan(ctx, id)
}

// AllPlans lists the plans that are not deleted, by sort order and then age.
func (s *Service) AllPlans(ctx context.Context) ([]Plan, error) { return s.store.plans(ctx) }

// AllProducts lists the products that are not deleted, oldest first.
func (s *Service) AllProducts(ctx context.Context) ([]Product, error) { return s.store.products(ctx) }

// AllFeatures lists the features that are not deleted, by code.
func (s *Service) AllFeatures(ctx context.Context) ([]Feature, error) { return s.store.features(ctx) }

// ProductBySlug returns the product with a slug that is not deleted, else
// ErrNotFound.
func (s *Service) ProductBySlug(ctx context.Context, slug string) (Product, error) {
	return s.store.productBySlug(ctx, slug)
}

// FeatureByCode returns the feature with a code that is not deleted, else
// ErrNotFound.
func (s *Service) FeatureByCode(ctx context.Context, code string) (Feature, error) {
	return s.store.featureByCode(ctx, code)
}

// PlanBySlug returns the plan with a slug that is not deleted, active or not, else
// ErrNotFound.
func (s *Service) PlanBySlug(ctx context.Context, slug string) (Plan, error) {
	return s.store.planBySlug(ctx, slug)
}

// PlansForTenant lists the plans on sale, always from the database: what a tenant is
// about to buy must be up to date. They have entitlements that are not shown too.
func (s *Service) PlansForTenant(ctx context.Context) ([]Plan, error) {
	currencies, err := s.store.currencies(ctx)
	if err != nil {
		return nil, err
	}
	plans, err := s.store.plans(ctx)
	if err != nil {
		return nil, err
	}
	return filterOnSale(plans, currencies), nil
}
