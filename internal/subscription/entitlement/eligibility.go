package entitlement

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
)

// Violation means that a tenant uses more than a plan allows, in whole units.
type Violation struct {
	FeatureCode  string `json:"feature_code"`
	CurrentUsage int64  `json:"current_usage"`
	PlanLimit    int64  `json:"plan_limit"`
}

// Offer is a plan as it is offered to a tenant.
type Offer struct {
	Plan       catalog.Plan
	Violations []Violation // why this tenant cannot select the plan
	// Obstacle is why no tenant can buy the plan in the currency, or nil.
	Obstacle *pricelink.Obstacle
}

// Offers lists the active plans, each with the reasons why the tenant cannot select it in a
// currency (rules: subscription#eligibility). TrialDays is 0 for plans that would not start a trial
// for the tenant.
func (s *Service) Offers(ctx context.Context, tenantID uuid.UUID, currency string) ([]Offer, error) {
	plans, err := s.deps.Catalog.PlansForTenant(ctx)
	if err != nil {
		return nil, err
	}
	used, err := s.currentUse(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	obstacles, err := s.deps.Prices.Obstacles(ctx, plans, currency, used[catalog.TeamMembers])
	if err != nil {
		return nil, err
	}
	withoutTrial, err := s.store.productsWithoutTrial(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	overridden, err := s.overriddenFeatures(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	offers := make([]Offer, len(plans))
	for i, plan := range plans {
		if slices.Contains(withoutTrial, plan.Product.ID) {
			plan.TrialDays = 0
		}
		offers[i] = Offer{Plan: plan.WithActiveEntitlements(), Violations: violations(plan, used, overridden)}
		if o, is := obstacles[plan.ID]; is {
			offers[i].Obstacle = &o
		}
	}
	return offers, nil
}

// Violations returns the reasons why the tenant cannot select a plan, or nil if it can.
func (s *Service) Violations(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) ([]Violation, error) {
	used, err := s.currentUse(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	overridden, err := s.overriddenFeatures(ctx, tenantID)
	return violations(plan, used, overridden), err
}

// TeamTooLarge reports whether the tenant's team takes more seats than a plan allows. While the
// caller holds the tenant's lock, the count includes every invitation.
func (s *Service) TeamTooLarge(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) (bool, error) {
	taken, err := s.deps.Team.TakenSeats(ctx, tenantID)
	if err != nil {
		return false, err
	}
	overridden, err := s.overriddenFeatures(ctx, tenantID)
	return len(violations(plan, map[string]int64{catalog.TeamMembers: taken}, overridden)) > 0, err
}

// overriddenFeatures returns the features of a tenant with an override, by code.
func (s *Service) overriddenFeatures(ctx context.Context, tenantID uuid.UUID) (map[string]bool, error) {
	terms, err := s.loadTerms(ctx, []uuid.UUID{tenantID})
	codes := map[string]bool{}
	for _, o := range terms[tenantID].Overrides {
		codes[o.FeatureCode] = o.applies(s.clock.Now())
	}
	return codes, err
}

// currentUse returns the tenant's usage of each feature that can have a quota, by feature code.
func (s *Service) currentUse(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error) {
	used := map[string]int64{}
	metered, err := s.deps.Consumption.CurrentUsage(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	maps.Copy(used, metered)
	used[catalog.TeamMembers], err = s.deps.Team.TakenSeats(ctx, tenantID)
	return used, err
}

// violations compares usage with the quotas of a plan. The plan does not matter for overridden
// features.
func violations(plan catalog.Plan, used map[string]int64, overridden map[string]bool) []Violation {
	var found []Violation
	for _, e := range plan.Entitlements {
		if e.Value != nil && used[e.Feature.Code] > *e.Value && !overridden[e.Feature.Code] {
			found = append(found, Violation{FeatureCode: e.Feature.Code, CurrentUsage: used[e.Feature.Code], PlanLimit: *e.Value})
		}
	}
	return found
}
