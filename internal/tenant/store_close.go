package tenant

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant/tenantsql"
)

func (s store) isOwner(ctx context.Context, id uuid.UUID, userID int64) (bool, error) {
	n, err := s.q(ctx).IsOwner(ctx, tenantsql.IsOwnerParams{TenantID: id, UserID: userID, Owner: BuiltInOwner})
	return n > 0, sqldb.Wrap(err, "find owner")
}

// keepMembers removes all members from a tenant and stores them for a restore.
func (s store) keepMembers(ctx context.Context, id uuid.UUID) error {
	if err := s.q(ctx).KeepMembers(ctx, id); err != nil {
		return sqldb.Wrap(err, "store former members")
	}
	return sqldb.Wrap(s.q(ctx).DeleteMembers(ctx, id), "delete members")
}

// markDeleted stores when a tenant was deleted, or nil if it is live.
func (s store) markDeleted(ctx context.Context, id uuid.UUID, at *time.Time, now time.Time) error {
	err := s.q(ctx).MarkDeleted(ctx, tenantsql.MarkDeletedParams{ID: id, DeletedAt: at, Now: now})
	return sqldb.Wrap(err, "mark tenant as deleted")
}

// formerMembers lists the IDs of the users who were members of a deleted tenant.
func (s store) formerMembers(ctx context.Context, id uuid.UUID) ([]int64, error) {
	ids, err := s.q(ctx).FormerMembers(ctx, id)
	return ids, sqldb.Wrap(err, "list former members")
}

// restoreMembers restores the memberships of former members and ensures that there is an owner.
func (s store) restoreMembers(ctx context.Context, id uuid.UUID) error {
	if _, err := s.q(ctx).RestoreMembers(ctx, id); err != nil {
		return sqldb.Wrap(err, "restore members")
	}
	if err := s.q(ctx).DeleteFormerMembers(ctx, id); err != nil {
		return sqldb.Wrap(err, "delete former members")
	}
	_, err := s.q(ctx).PromoteOwner(ctx, tenantsql.PromoteOwnerParams{TenantID: id, Owner: BuiltInOwner, Admin: builtInAdmin})
	return sqldb.Wrap(err, "promote an owner")
}

// listPurgeable lists tenants that were deleted before a time and whose purge is not complete.
func (s store) listPurgeable(ctx context.Context, before time.Time, most int32) ([]uuid.UUID, error) {
	ids, err := s.q(ctx).PurgeableTenants(ctx, tenantsql.PurgeableTenantsParams{Before: &before, Most: most})
	return ids, sqldb.Wrap(err, "list tenants to purge")
}

// deleteContents clears the tenant's row, and deletes the tenant's records in tables with few rows
// per tenant.
func (s store) deleteContents(ctx context.Context, id uuid.UUID, now time.Time) error {
	q := s.q(ctx)
	for _, remove := range []func(context.Context, uuid.UUID) error{
		q.DeleteFormerMembers, q.DeleteDigestOfTenant, deleteKeys(q), deleteEndpoints(q), q.DeleteInvitationsOfTenant,
		q.DeleteDomainsOfTenant, q.DeleteConnectionOfTenant, q.DeleteOverridesOfTenant, deleteRoles(q),
	} {
		if err := remove(ctx, id); err != nil {
			return sqldb.Wrap(err, "empty tenant")
		}
	}
	if err := search.NewIndex(s.db).RemoveTenant(ctx, id); err != nil {
		return err
	}
	err := q.EmptyTenant(ctx, tenantsql.EmptyTenantParams{ID: id, Slug: id.String(), PurgedAt: &now})
	return sqldb.Wrap(err, "empty tenant")
}

func deleteKeys(q *tenantsql.Queries) func(context.Context, uuid.UUID) error {
	return func(ctx context.Context, id uuid.UUID) error { return q.DeleteKeysOfTenant(ctx, &id) }
}

func deleteEndpoints(q *tenantsql.Queries) func(context.Context, uuid.UUID) error {
	return func(ctx context.Context, id uuid.UUID) error { return q.DeleteEndpointsOfTenant(ctx, &id) }
}

func deleteRoles(q *tenantsql.Queries) func(context.Context, uuid.UUID) error {
	return func(ctx context.Context, id uuid.UUID) error { return q.DeleteRolesOfTenant(ctx, &id) }
}

func (s store) markEmptied(ctx context.Context, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).MarkEmptied(ctx, tenantsql.MarkEmptiedParams{ID: id, EmptiedAt: &now})
	return sqldb.Wrap(err, "mark tenant as empty")
}
