package subscription

import (
	"context"
	"maps"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
)

// Offer is a plan as one tenant sees it.
type Offer struct {
	Plan       catalog.Plan
	Violations []Violation // why the tenant cannot select it
}

// Offers lists the active plans with what stands against each: a tenant cannot
// select a plan with a quota below its current usage (spec: Subscription
// endpoints).
func (s *Service) Offers(ctx context.Context, tenantID uuid.UUID) ([]Offer, error) {
	plans, err := s.deps.Catalog.PlansForTenant(ctx)
	if err != nil {
		return nil, err
	}
	used, err := s.used(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	offers := make([]Offer, len(plans))
	for i, plan := range plans {
		offers[i] = Offer{Plan: plan, Violations: violations(plan, used)}
	}
	return offers, nil
}

// used tells what the tenant uses of each feature with a quota.
func (s *Service) used(ctx context.Context, tenantID uuid.UUID) (map[string]int64, error) {
	used := map[string]int64{}
	metered, err := s.deps.Consumption.Current(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	maps.Copy(used, metered)
	used[catalog.TeamMembers], err = s.deps.Tenants.CountMembers(ctx, tenantID)
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
