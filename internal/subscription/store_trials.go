package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// hadTrial reports whether a tenant has had a trial of a plan's product. Under the tenant's lock,
// the result includes every trial that has begun.
func (s store) hadTrial(ctx context.Context, tenantID, planID uuid.UUID) (bool, error) {
	had, err := s.q(ctx).HadTrial(ctx, subscriptionsql.HadTrialParams{TenantID: tenantID, PlanID: planID})
	return had, sqldb.Wrap(err, "find trial")
}

// hadTrialAsOwner reports whether a user was the owner of a tenant when the tenant began a trial of a
// plan's product.
func (s store) hadTrialAsOwner(ctx context.Context, userID int64, planID uuid.UUID) (bool, error) {
	had, err := s.q(ctx).HadTrialAsOwner(ctx, subscriptionsql.HadTrialAsOwnerParams{OwnerID: &userID, PlanID: planID})
	return had, sqldb.Wrap(err, "find trial of owner")
}

// markCardAsked records that the tenant is asked for a payment method before the current end of its
// trial. It reports false if that was recorded before.
func (s store) markCardAsked(ctx context.Context, sub Subscription) (bool, error) {
	n, err := s.q(ctx).MarkCardAsked(ctx, subscriptionsql.MarkCardAskedParams{TenantID: sub.TenantID, ID: sub.ID})
	return n == 1, sqldb.Wrap(err, "record the request for a payment method")
}

// insertTrial records that a tenant's trial of a plan's product has begun with a subscription. Call
// it in the transaction that stores the subscription. If the tenant already had a trial of the
// product, the first record stays. ownerID can be nil.
func (s store) insertTrial(ctx context.Context, planID uuid.UUID, sub Subscription, ownerID *int64) error {
	err := s.q(ctx).InsertTrial(ctx, subscriptionsql.InsertTrialParams{
		TenantID: sub.TenantID, SubscriptionID: sub.ID, BeganAt: sub.CreatedAt, OwnerID: ownerID, PlanID: planID,
	})
	return sqldb.Wrap(err, "record trial")
}
