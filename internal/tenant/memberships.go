package tenant

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
)

// MembershipsOf lists the tenants that a user belongs to, for the account domain. The list is
// shared, so callers must not modify it.
func (s *Service) MembershipsOf(ctx context.Context, userID int64) ([]account.Membership, error) {
	memberships, _, err := s.memberships.Get(ctx, userID)
	return memberships, err
}

// membershipTables are the tables that loadMemberships reads.
func membershipTables() []string {
	return []string{"memberships", "tenants", "roles", "subscriptions", "plans"}
}

// loadMemberships reads the memberships of users. Users without memberships get an empty list.
func (s *Service) loadMemberships(ctx context.Context, userIDs []int64) (map[int64][]account.Membership, error) {
	found, err := s.store.membershipsOf(ctx, userIDs)
	if err != nil {
		return nil, err
	}
	var tenantIDs []uuid.UUID
	for _, memberships := range found {
		for _, m := range memberships {
			tenantIDs = append(tenantIDs, m.tenant.ID)
		}
	}
	overviews, err := s.deps.Subscriptions.Overview(ctx, tenantIDs)
	if err != nil {
		return nil, err
	}
	all := make(map[int64][]account.Membership, len(userIDs))
	for _, userID := range userIDs {
		memberships := make([]account.Membership, len(found[userID]))
		for i, m := range found[userID] {
			subscribed := overviews[m.tenant.ID]
			memberships[i] = account.Membership{
				TenantID: m.tenant.ID, Name: m.tenant.Name, Slug: m.tenant.Slug, Role: m.role,
				HasActiveSubscription: subscribed.IsActive(), SubscriptionStatus: subscribed.Status, PlanName: subscribed.PlanName,
				HasBillingDetails: m.tenant.Billing.Complete(), OnboardingCompletedAt: m.tenant.OnboardingCompletedAt,
			}
		}
		all[userID] = memberships
	}
	return all, nil
}
