package team

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Leave removes the caller from the team. The owner cannot leave (403). The user keeps the account,
// which is without a tenant from the next request on.
func (s *Service) Leave(ctx context.Context, caller *authz.Caller, tenantID uuid.UUID) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		m, err := s.membership(ctx, caller, tenantID)
		if err != nil {
			return err
		}
		if m.Role == Owner {
			return errOwnerLeaves
		}
		return s.deps.Accounts.RunInPerson(ctx, caller, func(ctx context.Context, _ account.Self) error {
			if err := s.endMembership(ctx, tenantID, m); err != nil {
				return err
			}
			return s.record(ctx, tenantID, "member.left", "user", formatID(m.UserID),
				map[string]any{"email": m.Email, "role": m.Role}, nil)
		})
	})
}

// RemoveDeletedUser removes a member from the team when their account is deleted. It runs in the
// transaction of ctx, which must hold the tenant's lock. The audit entry does not contain the
// user's email.
func (s *Service) RemoveDeletedUser(ctx context.Context, tenantID uuid.UUID, userID int64) error {
	m, err := s.store.member(ctx, tenantID, userID)
	if err != nil {
		return err
	}
	if err := s.endMembership(ctx, tenantID, m); err != nil {
		return err
	}
	return s.record(ctx, tenantID, "member.left", "user", formatID(userID), map[string]any{"role": m.Role}, nil)
}

// endMembership deletes a membership and the access that depends on it. The tenant must be locked.
func (s *Service) endMembership(ctx context.Context, tenantID uuid.UUID, m Member) error {
	if err := s.PublishMemberEvent(ctx, hook.MemberRemoved, tenantID, m.UserID); err != nil {
		return err
	}
	if err := s.deps.Accounts.EndTenantAccess(ctx, m.UserID); err != nil {
		return err
	}
	if err := s.store.deleteMember(ctx, tenantID, m.UserID); err != nil {
		return err
	}
	return s.deps.Billing.SeatFreed(ctx, tenantID)
}

// membership returns the caller's membership. If the membership has ended in the meantime, it
// returns an error (403).
func (s *Service) membership(ctx context.Context, caller *authz.Caller, tenantID uuid.UUID) (Member, error) {
	m, err := s.store.member(ctx, tenantID, caller.UserID)
	if errors.Is(err, ErrNotMember) {
		err = errNotPermitted
	}
	return m, err
}

// Transfer makes another member the owner, and makes the previous owner an admin. It rejects a
// caller who is not the owner (403). If the given user is the owner or not a member, it returns a
// validation error on user_id.
//
// Invariant: the tenant has exactly one owner. Both roles change in one transaction under the
// tenant's lock, which every change of a membership takes. The caller's role and the membership of
// the new owner are read under the lock.
func (s *Service) Transfer(ctx context.Context, caller *authz.Caller, tenantID uuid.UUID, to int64, password string) (tenant.Person, error) {
	if to == caller.UserID {
		return tenant.Person{}, errOtherMember
	}
	proof, err := s.deps.Accounts.VerifyPassword(ctx, caller, password)
	if err != nil {
		return tenant.Person{}, err
	}
	var owner tenant.Person
	err = s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		former, err := s.membership(ctx, caller, tenantID)
		if err == nil && former.Role != Owner {
			err = errNotOwner
		}
		if err != nil {
			return err
		}
		next, err := s.otherMember(ctx, caller, tenantID, to)
		if err != nil {
			return err
		}
		owner = tenant.Person{ID: next.UserID, Name: next.Name, Email: next.Email}
		return s.deps.Accounts.RunInPersonWithPassword(ctx, caller, proof, func(ctx context.Context, _ account.Self) error {
			return s.swapOwner(ctx, tenantID, former, next)
		})
	})
	return owner, err
}

// TransferByPlatform is Transfer by a platform admin, for example because the owner has left the
// company. If the given user is the owner or not a member, or if the tenant is without an owner, it
// returns a validation error on user_id.
func (s *Service) TransferByPlatform(ctx context.Context, tenantID uuid.UUID, to int64) (tenant.Person, error) {
	var owner tenant.Person
	err := s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		next, err := s.nextOwner(ctx, tenantID, to)
		if err != nil {
			return err
		}
		current, err := s.deps.Tenants.Owner(ctx, tenantID)
		if err != nil {
			return err
		}
		if current == nil { // PATCH /admin/tenants/{tenant} assigns the first owner
			return errNoOwner
		}
		former, err := s.store.member(ctx, tenantID, current.UserID)
		if err != nil {
			return err
		}
		owner = tenant.Person{ID: next.UserID, Name: next.Name, Email: next.Email}
		return s.swapOwner(ctx, tenantID, former, next)
	})
	return owner, err
}

// nextOwner returns a member other than the owner. Any other user is a validation error.
func (s *Service) nextOwner(ctx context.Context, tenantID uuid.UUID, userID int64) (Member, error) {
	m, err := s.store.member(ctx, tenantID, userID)
	switch {
	case errors.Is(err, ErrNotMember):
		err = errNoMember
	case err == nil && m.Role == Owner:
		err = errOtherMember
	}
	return m, err
}

// checkTransfer validates the fields of Transfer.
func (s *Service) checkTransfer(ctx context.Context, caller *authz.Caller, tenantID uuid.UUID, to int64, password string) error {
	_, noMember := s.otherMember(ctx, caller, tenantID, to)
	_, noProof := s.deps.Accounts.VerifyPassword(ctx, caller, password)
	return fault.Join(noMember, noProof)
}

// otherMember returns a member other than the caller. Any other user is a validation error.
func (s *Service) otherMember(ctx context.Context, caller *authz.Caller, tenantID uuid.UUID, userID int64) (Member, error) {
	if userID == caller.UserID {
		return Member{}, errOtherMember
	}
	m, err := s.store.member(ctx, tenantID, userID)
	if errors.Is(err, ErrNotMember) {
		err = errNoMember
	}
	return m, err
}

// swapOwner makes next the owner in place of former.
func (s *Service) swapOwner(ctx context.Context, tenantID uuid.UUID, former, next Member) error {
	admin, err := s.store.roleNamed(ctx, tenantID, Admin)
	if err != nil {
		return err
	}
	if err := s.store.setRole(ctx, tenantID, former.UserID, admin.ID); err != nil {
		return err
	}
	if err := s.store.setRole(ctx, tenantID, next.UserID, former.RoleID); err != nil {
		return err
	}
	if err := s.deps.Billing.OwnerChanged(ctx, tenantID); err != nil {
		return err
	}
	for _, id := range []int64{former.UserID, next.UserID} {
		if err := s.PublishMemberEvent(ctx, hook.MemberRoleChanged, tenantID, id); err != nil {
			return err
		}
	}
	for _, m := range []Member{next, former} {
		if err := s.mailTransfer(ctx, tenantID, m, former, next); err != nil {
			return err
		}
	}
	return s.record(ctx, tenantID, "tenant.ownership_transferred", "tenant", tenantID.String(),
		map[string]any{"owner_id": former.UserID, "role": next.Role}, map[string]any{"owner_id": next.UserID, "former_owner_role": Admin})
}

// mailTransfer notifies the new or the previous owner of a transfer.
func (s *Service) mailTransfer(ctx context.Context, tenantID uuid.UUID, to, former, next Member) error {
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return err
	}
	locale, err := s.locale(ctx, tenantID, to.Email)
	if err != nil {
		return err
	}
	return s.deps.Letters.OwnershipTransferred(ctx, locale, to.Email, letters.OwnershipTransferred{
		Name: to.Name, Tenant: t.Name, Owner: next.Name, Former: former.Name,
	})
}
