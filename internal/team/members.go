package team

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Members lists a tenant's members: the owner, admins, who has one of the
// tenant's own roles, and the others, each by name.
func (s *Service) Members(ctx context.Context, tenantID uuid.UUID) ([]Member, error) {
	members, err := s.store.members(ctx, tenantID)
	sortMembers(members)
	return members, err
}

// Member returns a member; ErrNotMember (404) for a user who is none.
func (s *Service) Member(ctx context.Context, tenantID uuid.UUID, userID int64) (Member, error) {
	return s.store.member(ctx, tenantID, userID)
}

// ChangeRole gives a member another role. Nobody changes their own role or the
// owner's, or gives a role with a permission that they lack (403); a role that is
// not the tenant's, and owner, are a broken role_id (422).
func (s *Service) ChangeRole(ctx context.Context, by Actor, tenantID uuid.UUID, userID, roleID int64) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		m, err := s.othersPlace(ctx, by, tenantID, userID)
		if err != nil {
			return err
		}
		role, err := s.store.role(ctx, tenantID, roleID)
		switch {
		case errors.Is(err, errNoRole) || err == nil && role.Name == Owner:
			return errUnknownID
		case err != nil:
			return err
		case !by.holds(role.Permissions):
			return errNotHeld
		}
		if err := s.store.setRole(ctx, tenantID, userID, roleID); err != nil {
			return err
		}
		return s.record(ctx, tenantID, "member.role_changed", "user", formatID(userID),
			map[string]any{"role": m.Role}, map[string]any{"role": role.Name})
	})
}

// Remove takes a member out of the team. Nobody removes themselves or the owner
// (403). The user keeps the account and what authenticates it, and has no tenant
// from the next request on.
func (s *Service) Remove(ctx context.Context, by Actor, tenantID uuid.UUID, userID int64) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		m, err := s.othersPlace(ctx, by, tenantID, userID)
		if err != nil {
			return err
		}
		if err := s.store.deleteMember(ctx, tenantID, userID); err != nil {
			return err
		}
		if err := s.deps.Billing.SeatsChanged(ctx, tenantID); err != nil {
			return err
		}
		return s.record(ctx, tenantID, "member.removed", "user", formatID(userID),
			map[string]any{"email": m.Email, "role": m.Role}, nil)
	})
}

// othersPlace returns a member whose place the actor may change.
func (s *Service) othersPlace(ctx context.Context, by Actor, tenantID uuid.UUID, userID int64) (Member, error) {
	m, err := s.store.member(ctx, tenantID, userID)
	switch {
	case err != nil:
		return Member{}, err
	case m.UserID == by.UserID:
		return Member{}, errOwnPlace
	case m.Role == Owner:
		return Member{}, errOwnersPlace
	}
	return m, nil
}

// Profile is what an administrator changes of a member; nil leaves it.
type Profile struct {
	Name     *string
	Password *string
}

// UpdateProfile changes a member's name and password for an administrator. A new
// password ends everything that authenticates the member, who is told by mail;
// a platform administrator's is refused (403).
func (s *Service) UpdateProfile(ctx context.Context, tenantID uuid.UUID, userID int64, p Profile) (Member, error) {
	var password account.HashedPassword
	if p.Password != nil {
		var err error
		if password, err = s.deps.Accounts.HashPassword(ctx, *p.Password); err != nil {
			return Member{}, err
		}
	}
	var m Member
	err := s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		old, err := s.store.member(ctx, tenantID, userID)
		if err != nil {
			return err
		}
		id := formatID(userID)
		if p.Password != nil {
			if err := s.deps.Accounts.SetPassword(ctx, userID, password); err != nil {
				return err
			}
			if err := s.record(ctx, tenantID, "member.password_set", "user", id, nil, nil); err != nil {
				return err
			}
		}
		if p.Name != nil {
			if err := s.deps.Accounts.Rename(ctx, userID, *p.Name); err != nil {
				return err
			}
			err := s.record(ctx, tenantID, "member.renamed", "user", id,
				map[string]any{"name": old.Name}, map[string]any{"name": *p.Name})
			if err != nil {
				return err
			}
		}
		m, err = s.store.member(ctx, tenantID, userID)
		return err
	})
	return m, err
}

// AssignableRoles are those that a member can be given: all but owner.
func (s *Service) AssignableRoles(ctx context.Context, tenantID uuid.UUID) ([]Role, error) {
	roles, err := s.Roles(ctx, tenantID)
	return slices.DeleteFunc(roles, func(r Role) bool { return r.Name == Owner }), err
}
