package retention

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/retention/retentionsql"
)

// deleteEventsOfTenant deletes up to most events of a tenant and returns their number.
func (s store) deleteEventsOfTenant(ctx context.Context, id uuid.UUID, most int32) (int64, error) {
	n, err := s.q(ctx).DeleteEventsOfTenant(ctx, retentionsql.DeleteEventsOfTenantParams{TenantID: id, Most: most})
	return n, sqldb.Wrap(err, "delete events of tenant")
}

// deleteKeysOfTenant deletes up to most idempotency keys of a tenant's deleted events.
func (s store) deleteKeysOfTenant(ctx context.Context, id uuid.UUID, most int32) (int64, error) {
	n, err := s.q(ctx).DeleteKeysOfTenant(ctx, retentionsql.DeleteKeysOfTenantParams{TenantID: id, Most: most})
	return n, sqldb.Wrap(err, "delete keys of tenant")
}

// deleteFiguresOfTenant deletes the data derived from a tenant's events.
func (s store) deleteFiguresOfTenant(ctx context.Context, id uuid.UUID) error {
	q := s.q(ctx)
	for _, remove := range []func(context.Context, uuid.UUID) error{
		q.DeleteCountersOfTenant, q.DeleteHoursOfTenant, q.DeleteAlertsOfTenant, q.DeleteRefusalsOfTenant, q.DeleteQuotaRefusalsOfTenant,
		q.DeleteGrantsOfTenant, q.DeleteReservationsOfTenant,
	} {
		if err := remove(ctx, id); err != nil {
			return sqldb.Wrap(err, "delete figures of tenant")
		}
	}
	return nil
}
