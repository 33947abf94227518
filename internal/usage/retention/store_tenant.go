package retention

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/usage/retention/retentionsql"
)

// deleteEventsOfTenant deletes at most so many events of a tenant, and returns how many. Its
// streams are locked, so that no event changes its table meanwhile.
func (s store) deleteEventsOfTenant(ctx context.Context, id uuid.UUID, most int32) (deleted int64, err error) {
	err = s.db.Tx(ctx, func(ctx context.Context) error {
		numbers, err := s.q(ctx).LockStreamsOfTenant(ctx, id)
		if err != nil {
			return err
		}
		if deleted, err = s.q(ctx).DeleteEventsOfTenant(ctx, retentionsql.DeleteEventsOfTenantParams{TenantID: id, Most: most}); err != nil {
			return err
		}
		for _, number := range numbers {
			if number == nil || deleted >= int64(most) {
				continue
			}
			n, err := s.q(ctx).DeleteRecordsOfStream(ctx, retentionsql.DeleteRecordsOfStreamParams{
				TenantID: sqldb.ID(id), Stream: *number, Most: most - int32(deleted),
			})
			if err != nil {
				return err
			}
			deleted += n
		}
		return nil
	})
	return deleted, sqldb.Wrap(err, "delete events of tenant")
}

// deleteKeysOfTenant deletes at most so many keys of deleted events.
func (s store) deleteKeysOfTenant(ctx context.Context, id uuid.UUID, most int32) (int64, error) {
	n, err := s.q(ctx).DeleteKeysOfTenant(ctx, retentionsql.DeleteKeysOfTenantParams{TenantID: id, Most: most})
	return n, sqldb.Wrap(err, "delete keys of tenant")
}

// deleteRecordKeysOfTenant deletes at most so many keys of a tenant's streams.
func (s store) deleteRecordKeysOfTenant(ctx context.Context, id uuid.UUID, most int32) (deleted int64, err error) {
	numbers, err := s.q(ctx).NumbersOfTenant(ctx, id)
	if err != nil {
		return 0, sqldb.Wrap(err, "read streams of tenant")
	}
	for _, number := range numbers {
		if deleted >= int64(most) {
			break
		}
		n, err := s.q(ctx).DeleteRecordKeysOfStream(ctx, retentionsql.DeleteRecordKeysOfStreamParams{
			TenantID: sqldb.ID(id), Stream: *number, Most: most - int32(deleted),
		})
		if err != nil {
			return deleted, sqldb.Wrap(err, "delete keys of tenant")
		}
		deleted += n
	}
	return deleted, nil
}

// deleteFiguresOfTenant deletes what was made of a tenant's events.
func (s store) deleteFiguresOfTenant(ctx context.Context, id uuid.UUID) error {
	q := s.q(ctx)
	for _, remove := range []func(context.Context, uuid.UUID) error{
		q.DeleteCountersOfTenant, q.DeleteHoursOfTenant, q.DeleteAlertsOfTenant, q.DeleteRefusalsOfTenant, q.DeleteQuotaRefusalsOfTenant,
	} {
		if err := remove(ctx, id); err != nil {
			return sqldb.Wrap(err, "delete figures of tenant")
		}
	}
	return nil
}
