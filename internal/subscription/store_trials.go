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

// insertTrial records that a tenant's trial of a plan's product has begun with a subscription. Call
// it in the transaction that stores the subscription. If the tenant already had a trial of the
// product, the first record stays.
func (s store) insertTrial(ctx context.Context, planID uuid.UUID, sub Subscription) error {
	err := s.q(ctx).InsertTrial(ctx, subscriptionsql.InsertTrialParams{
		TenantID: sub.TenantID, SubscriptionID: sub.ID, BeganAt: sub.CreatedAt, PlanID: planID,
	})
	return sqldb.Wrap(err, "record trial")
}
