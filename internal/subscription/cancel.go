package subscription

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// Cancellation says how a subscription is to end.
type Cancellation struct {
	// Immediately ends it now, else with its current period.
	Immediately bool
	Reason      *string
}

// cancelable tells whether a subscription in this state can be canceled (spec:
// Subscription status).
func (s Status) cancelable() bool { return s == Active || s == Trialing || s == PastDue }

// OfTenant lists every subscription that a tenant has had, the newest first.
func (s *Service) OfTenant(ctx context.Context, tenantID uuid.UUID) ([]Subscription, error) {
	rows, err := s.store.q(ctx).SubscriptionsOfTenant(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	list := make([]Subscription, len(rows))
	for i, row := range rows {
		sub, err := toSubscription(row, nil)
		if err != nil {
			return nil, err
		}
		list[i] = *sub
	}
	return list, nil
}

// Cancel ends a tenant's subscription, at the provider first: when it cannot be
// reached nothing changes. It refuses one that the tenant does not have (404)
// and one whose status does not allow it (SUBSCRIPTION_CANNOT_BE_CANCELED).
//
// The provider's idempotency key is made of the stored state, so that a
// repetition after an unknown outcome is the same write.
func (s *Service) Cancel(ctx context.Context, tenantID, id uuid.UUID, c Cancellation) (*Subscription, error) {
	before, err := toSubscription(s.store.q(ctx).SubscriptionOfTenant(ctx, subscriptionsql.SubscriptionOfTenantParams{TenantID: tenantID, ID: id}))
	switch {
	case err != nil:
		return nil, err
	case before == nil:
		return nil, errNotFound
	case !before.Status.cancelable():
		return nil, errNotCancelable
	}
	key := fmt.Sprintf("cancel-%s-%d", before.ID, before.syncVersion)
	if c.Immediately {
		_, err = s.deps.Provider.CancelSubscription(ctx, before.PSPSubscriptionID, key)
	} else {
		_, err = s.deps.Provider.SetCancelAtPeriodEnd(ctx, before.PSPSubscriptionID, true, key)
	}
	if errors.Is(err, psp.ErrNotFound) {
		err = errNotCancelable // it is gone there, and the notification about it under way
	}
	if err != nil {
		return nil, err
	}
	if err := s.sync(ctx, before.PSPSubscriptionID, ""); err != nil {
		return nil, err
	}
	return s.noteCancellation(ctx, *before, c)
}

// noteCancellation keeps what the provider does not: the reason, and who did it.
func (s *Service) noteCancellation(ctx context.Context, before Subscription, c Cancellation) (*Subscription, error) {
	var after *Subscription
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, before.TenantID); err != nil {
			return err
		}
		err := s.store.q(ctx).SetCancellationReason(ctx, subscriptionsql.SetCancellationReasonParams{
			TenantID: before.TenantID, ID: before.ID, CancellationReason: c.Reason, UpdatedAt: s.deps.Clock.Now(),
		})
		if err != nil {
			return err
		}
		if after, err = s.store.byPSPID(ctx, before.PSPSubscriptionID); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "subscription.canceled", TenantID: &before.TenantID, Resource: "subscription", ResourceID: before.ID.String(),
			Before: map[string]any{"status": before.Status, "cancel_at_period_end": before.CancelAtPeriodEnd},
			After: map[string]any{
				"status": after.Status, "cancel_at_period_end": after.CancelAtPeriodEnd,
				"immediately": c.Immediately, "reason": c.Reason,
			},
		})
	})
	return after, err
}

// SeatLimit is the quota of team members on the tenant's plan; nil is unlimited.
func (s *Service) SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error) {
	limit, err := s.store.q(ctx).QuotaOfFeature(ctx, subscriptionsql.QuotaOfFeatureParams{TenantID: tenantID, Code: "team-members"})
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil
	}
	return limit, err
}
