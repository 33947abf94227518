package entitlement

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/tenant"
)

// Overview returns the status and the plan of each tenant's subscription, in one
// query; a tenant whose subscriptions are all over is left out.
func (s *Service) Overview(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]tenant.Overview, error) {
	if len(tenantIDs) == 0 {
		return map[uuid.UUID]tenant.Overview{}, nil
	}
	return s.store.overview(ctx, tenantIDs)
}

// HasBought reports whether a tenant ever paid for a subscription.
func (s *Service) HasBought(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	return s.store.hasBought(ctx, tenantID)
}

// AnyTo reports whether a subscription that is not over is to one of the plans.
func (s *Service) AnyTo(ctx context.Context, plans []uuid.UUID) (bool, error) {
	if len(plans) == 0 {
		return false, nil
	}
	return s.store.anyTo(ctx, plans)
}
