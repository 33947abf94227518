package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Deps are the dependencies of the service.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Subscriptions subscriptionChecker
	// Jobs receives a job after each change. The job publishes the changed entitlements. Can be
	// nil.
	Jobs  jobQueue
	Audit Audit
}

// Service reads and changes the catalog. It is safe for concurrent use.
type Service struct {
	db            *sqldb.DB
	clock         clock.Clock
	subscriptions subscriptionChecker
	jobs          jobQueue
	audit         Audit
	store         store
	cache         *cache[PublicCatalog]
}

// New returns a Service.
func New(d Deps) *Service {
	s := &Service{db: d.DB, clock: d.Clock, subscriptions: d.Subscriptions, jobs: d.Jobs, audit: d.Audit, store: store{conn: d.DB.Conn, words: search.NewIndex(d.DB)}}
	s.cache = newCache(d.Clock, PublicMaxAge, s.read, sqldb.IsUnavailable)
	return s
}

// Plan returns a plan in any state, including deleted plans, because subscriptions and their
// history keep the plan that they were created with. Callers must check IsOnSale before they sell
// it. Plan returns ErrNotFound if the plan never existed.
func (s *Service) Plan(ctx context.Context, id uuid.UUID) (Plan, error) { return s.store.plan(ctx, id) }

// CurrentPlan returns a plan that is not deleted, or ErrNotFound.
func (s *Service) CurrentPlan(ctx context.Context, id uuid.UUID) (Plan, error) {
	return s.store.currentPlan(ctx, id)
}

// AllPlans lists the plans that are not deleted, by sort order and then by age.
func (s *Service) AllPlans(ctx context.Context) ([]Plan, error) { return s.store.plans(ctx) }

// AllProducts lists the products that are not deleted, oldest first.
func (s *Service) AllProducts(ctx context.Context) ([]Product, error) { return s.store.products(ctx) }

// AllFeatures lists the features that are not deleted, by sort order.
func (s *Service) AllFeatures(ctx context.Context) ([]Feature, error) { return s.store.features(ctx) }

// ProductBySlug returns the product with the slug, or ErrNotFound. It ignores deleted products.
func (s *Service) ProductBySlug(ctx context.Context, slug string) (Product, error) {
	return s.store.productBySlug(ctx, slug)
}

// FeatureByCode returns the feature with the code, or ErrNotFound. It ignores deleted features.
func (s *Service) FeatureByCode(ctx context.Context, code string) (Feature, error) {
	return s.store.featureByCode(ctx, code)
}

// PlanBySlug returns the active or inactive plan with the slug, or ErrNotFound. It ignores deleted
// plans.
func (s *Service) PlanBySlug(ctx context.Context, slug string) (Plan, error) {
	return s.store.planBySlug(ctx, slug)
}

// PlansForTenant lists the plans on sale. It bypasses the cache, because a plan that a tenant is
// about to buy must be up to date. The plans include entitlements that are hidden from the public.
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
