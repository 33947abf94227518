package tenant

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// LockTenantOf locks the tenant that a user belongs to, if any, until the transaction of ctx ends.
func (s *Service) LockTenantOf(ctx context.Context, userID int64) error {
	places, err := s.store.membershipsOfUser(ctx, userID)
	if err != nil || len(places) == 0 {
		return err
	}
	_, err = s.Lock(ctx, places[0].tenant.ID)
	return err
}

// RemoveUnverifiedOwner removes a user from a tenant that another person created with the user's
// email, in the transaction of ctx, which must hold the tenant's lock. The user stays in a tenant
// that has ever paid, because its founder was not squatting on the email. The user also stays in a
// tenant whose owner the platform chose, and in a tenant with other members, which would otherwise
// be without an owner (rules: account#unproved-emails).
//
// Invariant: a tenant with members has exactly one owner.
func (s *Service) RemoveUnverifiedOwner(ctx context.Context, userID int64) error {
	places, err := s.store.membershipsOfUser(ctx, userID)
	if err != nil || len(places) == 0 {
		return err
	}
	id := places[0].tenant.ID
	if members, err := s.store.countMembers(ctx, id); err != nil || members > 1 {
		return err
	}
	if t, err := s.Get(ctx, id); err != nil || t.OwnerAssigned {
		return err
	}
	if bought, err := s.deps.Subscriptions.HasBought(ctx, id); err != nil || bought {
		return err
	}
	if s.deps.Events != nil {
		if err := s.deps.Team.PublishMemberEvent(ctx, hook.MemberRemoved, id, userID); err != nil {
			return err
		}
	}
	if err := s.store.deleteMember(ctx, id, userID); err != nil {
		return err
	}
	return s.record(ctx, actionUnverifiedOwnerRemoved, id, map[string]any{"owner_id": userID}, nil)
}

// Dissolve deletes a tenant without members, including its roles and invitations. It returns
// ErrNotEmpty if the tenant has a member or has ever had a subscription, because its invoices and
// usage must be retained.
func (s *Service) Dissolve(ctx context.Context, id uuid.UUID) error {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.LockLive(ctx, id)
		if err != nil {
			return err
		}
		members, err := s.store.countMembers(ctx, id)
		if err != nil {
			return err
		}
		subscribed, err := s.hasSubscription(ctx, id)
		switch {
		case err != nil:
			return err
		case members > 0 || subscribed:
			return ErrNotEmpty
		}
		if s.deps.Billing != nil {
			if err := s.deps.Billing.Discard(ctx, id); err != nil {
				return err
			}
		}
		if err := s.publish(ctx, hook.TenantDeleted, id); err != nil {
			return err
		}
		if err := s.store.delete(ctx, id); err != nil {
			return err
		}
		return s.record(ctx, actionDissolved, id, map[string]any{"name": t.Name, "slug": t.Slug}, nil)
	})
	if sqldb.IsForeignKey(err) {
		return ErrNotEmpty
	}
	return err
}

// hasSubscription reports whether a tenant has a subscription that has not ended.
func (s *Service) hasSubscription(ctx context.Context, id uuid.UUID) (bool, error) {
	overviews, err := s.deps.Subscriptions.Overview(ctx, []uuid.UUID{id})
	return overviews[id].IsSubscribed(), err
}
