package entitlement

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
)

// Violation says that a tenant uses more than a plan allows, in whole units.
type Violation struct {
	FeatureCode  string `json:"feature_code"`
	CurrentUsage int64  `json:"current_usage"`
	PlanLimit    int64  `json:"plan_limit"`
}

// Offer is a plan as one tenant sees it.
type Offer struct {
	Plan       catalog.Plan
	Violations []Violation // why the tenant cannot select it
	// Obstacle is why nobody can buy it in the currency; nil if nothing is.
	Obstacle *pricelink.Obstacle
}

// Offers lists the active plans, each with the reasons why the tenant cannot select
// it in a currency (rules: subscription#eligibility). A plan has no trial days where the
// tenant would not get a trial.
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
	offers := make([]Offer, len(plans))
	for i, plan := range plans {
		if slices.Contains(withoutTrial, plan.Product.ID) {
			plan.TrialDays = 0
		}
		offers[i] = Offer{Plan: plan.WithActiveEntitlements(), Violations: violations(plan, used)}
		if o, is := obstacles[plan.ID]; is {
			offers[i].Obstacle = &o
		}
	}
	return offers, nil
}

// Violations returns the reasons why the tenant cannot select a plan; none where it
// can.
func (s *Service) Violations(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) ([]Violation, error) {
	used, err := s.currentUse(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	return violations(plan, used), nil
}

// TeamTooLarge reports whether the tenant's team takes more seats than a plan allows. Who
// holds the tenant's lock is told of every invitation.
func (s *Service) TeamTooLarge(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) (bool, error) {
	taken, err := s.deps.Team.TakenSeats(ctx, tenantID)
	return err == nil && len(violations(plan, map[string]int64{catalog.TeamMembers: taken})) > 0, err
}

// currentUse returns what the tenant uses of each feature that can have a quota, by
// feature code.
func (s *Service) currentUse(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error) {
	used := map[string]int64{}
	metered, err := s.deps.Consumption.Current(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	maps.Copy(used, metered)
	used[catalog.TeamMembers], err = s.deps.Team.TakenSeats(ctx, tenantID)
	return used, err
}

// violations compares what is used with the quotas of a plan.
func violations(plan catalog.Plan, used map[string]int64) []Violation {
	var found []Violation
	for _, e := range plan.Entitlements {
		if e.Value != nil && used[e.Feature.Code] > *e.Value {
			found = append(found, Violation{FeatureCode: e.Feature.Code, CurrentUsage: used[e.Feature.Code], PlanLimit: *e.Value})
		}
	}
	return found
}
