package entitlement

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Register looks up which tenants are subscribed. It only needs the database, so that the domains
// that subscriptions depend on can use it.
type Register struct {
	store store
	clock clock.Clock
	grace time.Duration
}

// NewRegister returns a Register. grace is how long a subscription that is past_due keeps its
// features.
func NewRegister(db *sqldb.DB, c clock.Clock, grace time.Duration) Register {
	return Register{store: store{db}, clock: c, grace: grace}
}

// endOfGrace returns the end of the grace period of an invoice that has been unpaid since the given
// time, or nil without a grace period.
func (r Register) endOfGrace(since time.Time) *time.Time {
	if r.grace == 0 {
		return nil
	}
	end := since.Add(r.grace)
	return &end
}

// HasActive reports whether the tenant has a subscription that grants features.
func (r Register) HasActive(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	return r.store.hasActive(ctx, tenantID)
}

// Overview returns the status and the plan of each tenant's subscription that has not ended, or the
// default plan. A tenant with neither is left out.
func (r Register) Overview(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]tenant.Overview, error) {
	if len(tenantIDs) == 0 {
		return map[uuid.UUID]tenant.Overview{}, nil
	}
	return r.store.overview(ctx, tenantIDs)
}

// HasBought reports whether the tenant has ever paid for a subscription.
func (r Register) HasBought(ctx context.Context, tenantID uuid.UUID) (bool, error) {
	return r.store.hasBought(ctx, tenantID)
}

// HasSubscribers reports whether any of the plans has a subscription that is not over.
func (r Register) HasSubscribers(ctx context.Context, plans []uuid.UUID) (bool, error) {
	if len(plans) == 0 {
		return false, nil
	}
	return r.store.hasSubscribers(ctx, plans)
}
