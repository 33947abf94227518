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

// Accounts is what tenants need of the accounts of their members.
type Accounts interface {
	VerifyPassword(ctx context.Context, caller *authz.Caller, password string) (account.Proof, error)
	RunInPersonWithPassword(ctx context.Context, caller *authz.Caller, proof account.Proof, do func(context.Context, account.Self) error) error
	// EndTenantAccessForAll ends what depended on the place of users in a tenant, which is locked.
	EndTenantAccessForAll(ctx context.Context, userIDs []int64) error
	// LockExisting locks a user; it refuses one who has deleted their account.
	LockExisting(ctx context.Context, userID int64) error
	// LockAll locks users; those who are gone are left out.
	LockAll(ctx context.Context, userIDs []int64) error
}

// GetLive returns a tenant that is not deleted, or ErrNotFound.
func (s *Service) GetLive(ctx context.Context, id uuid.UUID) (Tenant, error) {
	return requireLive(s.store.get(ctx, id))
}

// LockLive is Lock for a tenant that is not deleted, else ErrNotFound, and checks the caller's
// rights again under the lock. Changes that last lock the tenant with it: members, invitations,
// roles, API keys, webhook endpoints. Two admins who remove each other at once are decided here:
// the second is no longer a member. State of the payment provider is stored under Lock, for
// deleted tenants too.
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

// NeedOwner refuses whoever does not own a tenant (403).
func (s *Service) NeedOwner(ctx context.Context, id uuid.UUID, userID int64) error {
	owner, err := s.store.isOwner(ctx, id, userID)
	if err == nil && !owner {
		err = errNotOwner
	}
	return err
}

// Delete deletes a tenant for its owner: nobody has access from the next request on, and
// until it is purged it can be restored (rules: tenant#deletion). It refuses a tenant with
// a subscription that has not ended (409).
//
// Invariant: the tenant is locked before its members are, and whoever joins, leaves or
// transfers it locks it too. So nobody has a place in it when this is committed, and the
// one who deletes it is its owner then.
func (s *Service) Delete(ctx context.Context, caller *authz.Caller, id uuid.UUID, password string) error {
	proof, err := s.deps.Accounts.VerifyPassword(ctx, caller, password)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.LockLive(ctx, id)
		if errors.Is(err, ErrNotFound) { // somebody has deleted it meanwhile
			err = errNotOwner
		}
		if err != nil {
			return err
		}
		if err := s.NeedOwner(ctx, id, caller.UserID); err != nil {
			return err
		}
		if err := s.endAllTenantAccess(ctx, id); err != nil {
			return err
		}
		return s.deps.Accounts.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, _ account.Self) error {
			return s.close(ctx, t)
		})
	})
}

// endAllTenantAccess ends what depended on the place of anybody in a tenant, which is locked.
func (s *Service) endAllTenantAccess(ctx context.Context, id uuid.UUID) error {
	members, err := s.store.members(ctx, id)
	if err != nil {
		return err
	}
	ids := make([]int64, len(members))
	for i, m := range members {
		ids[i] = m.UserID
	}
	return s.deps.Accounts.EndTenantAccessForAll(ctx, ids)
}

// close deletes a tenant that is locked, with all its members.
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

// Restore brings a deleted tenant back as it was, without the members who are in another
// one by now. Where its owner is among these, the member who was an admin for longest owns
// it, else the oldest member. ErrNotFound where its data is gone, errNotDeleted (409)
// where it is not deleted.
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
		// Somebody who deletes their account meanwhile is gone before the next statement, or
		// deletes it afterwards.
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

// recordRestored records who is in a tenant again, and who is not.
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

// Purge deletes the data of tenants that were deleted long enough ago. The row stays,
// empty, for the invoices and subscriptions that refer to it (rules: tenant#deletion).
//
// Invariant: the row says that it is being purged before anything goes, under the lock
// that a restore takes, so that nothing is restored in parts. What was interrupted goes on
// with the next run.
func (s *Service) Purge(ctx context.Context) error {
	before := s.deps.Clock.Now().Add(-s.deps.Keep)
	ids, err := s.store.listPurgeable(ctx, before, purgeBatch)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.purge(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// purgeBatch is how many tenants one run purges at most.
const purgeBatch = 100

func (s *Service) purge(ctx context.Context, id uuid.UUID) error {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.Lock(ctx, id)
		if err != nil || t.DeletedAt == nil || t.PurgedAt != nil { // restored meanwhile, or begun before
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

// CloseOwnedTenant deletes the tenant of a user who deletes their account, where it is the user's
// alone, in the transaction of ctx. It returns the tenant that the user is in, or was until
// then, and whether they owned it; Nil for none. A tenant that has other members or a
// subscription which has not ended is refused (OWNS_TENANT). The tenant is locked.
func (s *Service) CloseOwnedTenant(ctx context.Context, userID int64) (id uuid.UUID, owned bool, err error) {
	if err := s.LockTenantOf(ctx, userID); err != nil {
		return uuid.Nil, false, err
	}
	places, err := s.store.membershipsOfUser(ctx, userID) // again, under the lock
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

// Purger is what other domains keep in bulk of a tenant.
type Purger interface {
	// Purge deletes it. It may take several attempts.
	Purge(ctx context.Context, tenantID uuid.UUID) error
}
