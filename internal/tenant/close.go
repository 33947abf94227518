package tenant

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/hook"
)

// Accounts is the part of the account domain that tenants use.
type Accounts interface {
	VerifyPassword(ctx context.Context, caller *authz.Caller, password string) (account.Proof, error)
	RunInPersonWithPassword(ctx context.Context, caller *authz.Caller, proof account.Proof, do func(context.Context, account.Self) error) error
	// LockTenantAccess locks users and their impersonators, before EndTenantAccessForAll.
	LockTenantAccess(ctx context.Context, userIDs []int64) error
	// EndTenantAccessForAll ends the access that depends on users' membership in a tenant, which
	// must be locked.
	EndTenantAccessForAll(ctx context.Context, userIDs []int64) error
	// CheckOwner returns the validation errors of AssignOwner.
	CheckOwner(ctx context.Context, o account.NewOwner) error
	// AssignOwner finds or creates the account of an owner, and calls join to add it to the tenant.
	AssignOwner(ctx context.Context, o account.NewOwner, tenantName string, join func(ctx context.Context, userID int64) error) (int64, error)
	// LockExisting locks a user. It returns an error if the account was deleted.
	LockExisting(ctx context.Context, userID int64) error
	// LockAll locks users. It skips users that no longer exist.
	LockAll(ctx context.Context, userIDs []int64) error
}

// GetLive returns a tenant that is not deleted, or ErrNotFound.
func (s *Service) GetLive(ctx context.Context, id uuid.UUID) (Tenant, error) {
	return requireLive(s.store.get(ctx, id))
}

// LockLive is like Lock, but returns ErrNotFound for a deleted tenant, and checks the caller's
// permissions again under the lock. Every permanent change of members, invitations, roles, API keys
// and webhook endpoints uses LockLive. If two admins remove each other concurrently, the second
// removal fails, because its caller has been removed. The payment provider's state is stored under
// Lock, also for deleted tenants.
func (s *Service) LockLive(ctx context.Context, id uuid.UUID) (Tenant, error) {
	t, err := requireLive(s.Lock(ctx, id))
	if err == nil {
		err = authz.Recheck(ctx)
	}
	return t, err
}

func requireLive(t Tenant, err error) (Tenant, error) {
	if err == nil && t.DeletedAt != nil {
		return Tenant{}, ErrNotFound
	}
	return t, err
}

// RequireOwner rejects a user who does not own the tenant (403).
func (s *Service) RequireOwner(ctx context.Context, id uuid.UUID, userID int64) error {
	owner, err := s.store.isOwner(ctx, id, userID)
	if err == nil && !owner {
		err = errNotOwner
	}
	return err
}

// Delete deletes a tenant on behalf of its owner. The members lose access from the next request.
// The tenant can be restored until it is purged (rules: tenant#deletion). Delete rejects a tenant
// with a subscription that has not ended (409).
//
// Invariant: the tenant is locked before its members. Joining, leaving and transferring ownership
// also lock the tenant. So when Delete commits, no member remains, and the caller is still the
// owner.
func (s *Service) Delete(ctx context.Context, caller *authz.Caller, id uuid.UUID, password string) error {
	proof, err := s.deps.Accounts.VerifyPassword(ctx, caller, password)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.LockLive(ctx, id)
		if errors.Is(err, ErrNotFound) { // the tenant has been deleted concurrently
			err = errNotOwner
		}
		if err != nil {
			return err
		}
		if err := s.RequireOwner(ctx, id, caller.UserID); err != nil {
			return err
		}
		members, err := s.memberIDs(ctx, id)
		if err != nil {
			return err
		}
		if err := s.deps.Accounts.LockTenantAccess(ctx, members); err != nil {
			return err
		}
		return s.deps.Accounts.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, _ account.Self) error {
			if err := s.deps.Accounts.EndTenantAccessForAll(ctx, members); err != nil {
				return err
			}
			return s.close(ctx, t)
		})
	})
}

// endAllTenantAccess ends the access of all members of a tenant, which must be locked.
func (s *Service) endAllTenantAccess(ctx context.Context, id uuid.UUID) error {
	ids, err := s.memberIDs(ctx, id)
	if err != nil {
		return err
	}
	return s.deps.Accounts.EndTenantAccessForAll(ctx, ids)
}

// memberIDs returns the IDs of the members of a tenant.
func (s *Service) memberIDs(ctx context.Context, id uuid.UUID) ([]int64, error) {
	members, err := s.store.members(ctx, id)
	ids := make([]int64, len(members))
	for i, m := range members {
		ids[i] = m.UserID
	}
	return ids, err
}

// close deletes a locked tenant and its memberships.
func (s *Service) close(ctx context.Context, t Tenant) error {
	subscribed, err := s.hasSubscription(ctx, t.ID)
	if err != nil {
		return err
	}
	if subscribed {
		return errSubscribed
	}
	if err := s.publish(ctx, hook.TenantDeleted, t.ID); err != nil {
		return err
	}
	now := s.deps.Clock.Now()
	if err := s.store.keepMembers(ctx, t.ID); err != nil {
		return err
	}
	if err := s.store.markDeleted(ctx, t.ID, &now, now); err != nil {
		return err
	}
	return s.record(ctx, actionDeleted, t.ID, map[string]any{"name": t.Name, "slug": t.Slug}, nil)
}

// Restore restores a deleted tenant, without the members who have joined another tenant in the
// meantime. If the owner has joined another tenant, the longest-serving admin becomes the owner, or
// else the longest-serving member. It returns ErrNotFound if the tenant's data was purged, and
// errNotDeleted (409) if the tenant is not deleted.
func (s *Service) Restore(ctx context.Context, id uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.Lock(ctx, id)
		switch {
		case err != nil:
			return err
		case t.PurgedAt != nil:
			return ErrNotFound
		case t.DeletedAt == nil:
			return errNotDeleted
		}
		former, err := s.store.formerMembers(ctx, id)
		if err != nil {
			return err
		}
		// A user who deletes the account concurrently is either gone before the next statement, or
		// deletes the account afterwards.
		if err := s.deps.Accounts.LockAll(ctx, former); err != nil {
			return err
		}
		if err := s.store.restoreMembers(ctx, id); err != nil {
			return err
		}
		if err := s.store.markDeleted(ctx, id, nil, s.deps.Clock.Now()); err != nil {
			return err
		}
		if err := s.publish(ctx, hook.TenantUpdated, id); err != nil {
			return err
		}
		return s.recordRestored(ctx, t, former)
	})
}

// recordRestored records the restored and the omitted members.
func (s *Service) recordRestored(ctx context.Context, t Tenant, former []int64) error {
	members, err := s.store.members(ctx, t.ID)
	if err != nil {
		return err
	}
	after, absent := map[string]any{"owner_id": nil, "members": len(members)}, []int64{}
	for _, m := range members {
		if m.Role == BuiltInOwner {
			after["owner_id"] = m.UserID
		}
	}
	for _, id := range former {
		if !slices.ContainsFunc(members, func(m Member) bool { return m.UserID == id }) {
			absent = append(absent, id)
		}
	}
	after["left_out"] = absent
	return s.record(ctx, actionRestored, t.ID, map[string]any{"deleted_at": t.DeletedAt}, after)
}

// Purge deletes the data of tenants that were deleted long enough ago. The empty row remains for
// the invoices and subscriptions that refer to it (rules: tenant#deletion).
//
// Invariant: the row is marked as purged before any data is deleted, under the lock that Restore
// also takes. So Restore never restores a tenant partially. The next run continues an interrupted
// purge.
func (s *Service) Purge(ctx context.Context) error {
	before := s.deps.Clock.Now().Add(-s.deps.Keep)
	ids, err := s.store.listPurgeable(ctx, before, purgeBatch)
	if err != nil {
		return err
	}
	for _, id := range ids {
		err = errors.Join(err, s.purge(ctx, id)) // the others are still purged
	}
	return err
}

// purgeBatch is the maximum number of tenants that one run purges.
const purgeBatch = 100

func (s *Service) purge(ctx context.Context, id uuid.UUID) error {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.Lock(ctx, id)
		if err != nil || t.DeletedAt == nil || t.PurgedAt != nil { // restored, or the purge has already begun
			return err
		}
		if err := s.store.deleteContents(ctx, id, s.deps.Clock.Now()); err != nil {
			return err
		}
		return s.record(ctx, actionPurged, id, nil, nil)
	})
	if err != nil {
		return err
	}
	if t, err := s.store.get(ctx, id); err != nil || t.PurgedAt == nil {
		return err
	}
	if s.deps.Purger != nil {
		if err := s.deps.Purger.Purge(ctx, id); err != nil {
			return err
		}
	}
	return s.store.markEmptied(ctx, id, s.deps.Clock.Now())
}

// CloseOwnedTenant deletes the tenant of a user who is deleting their account, if the user owns it
// and is its only member, in the transaction of ctx. It returns the user's tenant, or Nil, and
// whether the user owned it. It rejects a tenant that has other members or a subscription that has
// not ended (OWNS_TENANT). It locks the tenant.
func (s *Service) CloseOwnedTenant(ctx context.Context, userID int64) (id uuid.UUID, owned bool, err error) {
	if err := s.LockTenantOf(ctx, userID); err != nil {
		return uuid.Nil, false, err
	}
	places, err := s.store.membershipsOfUser(ctx, userID) // read again under the lock
	if err != nil || len(places) == 0 {
		return uuid.Nil, false, err
	}
	id = places[0].tenant.ID
	if places[0].role != BuiltInOwner {
		return id, false, nil
	}
	t, err := s.Lock(ctx, id)
	if err != nil {
		return uuid.Nil, false, err
	}
	members, err := s.store.countMembers(ctx, id)
	if err != nil {
		return uuid.Nil, false, err
	}
	if members > 1 {
		return uuid.Nil, false, errOwns
	}
	if err := s.endAllTenantAccess(ctx, id); err != nil {
		return uuid.Nil, false, err
	}
	err = s.close(ctx, t)
	if errors.Is(err, errSubscribed) {
		err = errOwns
	}
	return id, true, err
}

// Purger deletes the bulk data of a tenant in other domains.
type Purger interface {
	// Purge deletes the data. It can take several attempts.
	Purge(ctx context.Context, tenantID uuid.UUID) error
}
