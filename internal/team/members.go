package team

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Members lists a tenant's members in batches: the owner, the admins, members with a custom role,
// then the others. Each group is ordered by name.
//
// No index has this order. If the list is longer than one batch, the order is therefore read first,
// and only the IDs stay in memory. Invariant: a member who is in the tenant from the first batch to
// the last is listed once. The position is determined by the role and name when the list begins;
// the listed role and name are read with the batch. Members who leave meanwhile may be missing, and
// members who join are not listed.
func (s *Service) Members(tenantID uuid.UUID) page.NextPart[Member] {
	var order []int64 // the IDs of batches that are not read yet
	begun := false
	return func(ctx context.Context) ([]Member, bool, error) {
		if !begun {
			begun = true
			few, err := s.store.members(ctx, tenantID, page.PartSize+1)
			if err != nil || len(few) <= page.PartSize {
				sortMembers(few, i18n.Locale(ctx))
				return few, false, err
			}
			if order, err = s.store.memberOrder(ctx, tenantID, ""); err != nil {
				return nil, false, err
			}
		}
		part := order[:min(page.PartSize, len(order))]
		order = order[len(part):]
		members, err := s.membersAmong(ctx, tenantID, part)
		return members, len(order) > 0, err
	}
}

// MembersOnPage returns one page of the same list and the total number of members. With the parameter
// search, it returns only members whose name or email matches (see search.Matches).
func (s *Service) MembersOnPage(ctx context.Context, tenantID uuid.UUID, q page.Query) ([]Member, int64, error) {
	order, err := s.store.memberOrder(ctx, tenantID, q.Param("search"))
	if err != nil {
		return nil, 0, err
	}
	from, to := q.Window(len(order))
	members, err := s.membersAmong(ctx, tenantID, order[from:to])
	return members, int64(len(order)), err
}

// membersAmong lists the given users who are members of a tenant, in the given order.
func (s *Service) membersAmong(ctx context.Context, tenantID uuid.UUID, users []int64) ([]Member, error) {
	if len(users) == 0 {
		return nil, nil
	}
	members, err := s.store.membersAmong(ctx, tenantID, users)
	places := make(map[int64]int, len(users))
	for i, id := range users {
		places[id] = i
	}
	slices.SortFunc(members, func(a, b Member) int { return places[a.UserID] - places[b.UserID] })
	return members, err
}

// Member returns a member, or ErrNotMember (404).
func (s *Service) Member(ctx context.Context, tenantID uuid.UUID, userID int64) (Member, error) {
	return s.store.member(ctx, tenantID, userID)
}

// ChangeRole gives a member another role. An actor cannot change their own role or the owner's, or
// grant or remove a role with a permission that they lack (403). The role owner and unknown roles
// are a validation error on role_id (422). The role that the member has changes nothing.
func (s *Service) ChangeRole(ctx context.Context, by Actor, tenantID uuid.UUID, userID, roleID int64) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		m, err := s.loadChangeableMember(ctx, by, tenantID, userID)
		if err != nil {
			return err
		}
		role, err := s.store.role(ctx, tenantID, roleID)
		switch {
		case errors.Is(err, errNoRole) || err == nil && role.Name == Owner:
			return errUnknownID
		case err != nil:
			return err
		case !by.hasPermissions(role.Permissions):
			return errNotHeld
		case roleID == m.RoleID:
			return nil
		}
		if err := s.store.setRole(ctx, tenantID, userID, roleID); err != nil {
			return err
		}
		if err := s.PublishMemberEvent(ctx, hook.MemberRoleChanged, tenantID, userID); err != nil {
			return err
		}
		return s.record(ctx, tenantID, "member.role_changed", "user", formatID(userID),
			map[string]any{"role": m.Role}, map[string]any{"role": role.Name})
	})
}

// Remove removes a member from the team. An actor cannot remove themselves, the owner, or a member
// whose role has a permission that the actor lacks (403). The user keeps their account and stays
// logged in, but has no tenant from the next request.
func (s *Service) Remove(ctx context.Context, by Actor, tenantID uuid.UUID, userID int64) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		m, err := s.loadChangeableMember(ctx, by, tenantID, userID)
		if err != nil {
			return err
		}
		if err := s.PublishMemberEvent(ctx, hook.MemberRemoved, tenantID, userID); err != nil {
			return err
		}
		if err := s.deps.Accounts.EndTenantAccess(ctx, userID); err != nil {
			return err
		}
		if err := s.store.deleteMember(ctx, tenantID, userID); err != nil {
			return err
		}
		if err := s.deps.Billing.SeatFreed(ctx, tenantID); err != nil {
			return err
		}
		return s.record(ctx, tenantID, "member.removed", "user", formatID(userID),
			map[string]any{"email": m.Email, "role": m.Role}, nil)
	})
}

// loadChangeableMember returns a member whose membership the actor can change: not the actor, not
// the owner, and not a member with a permission that the actor lacks. The tenant must be locked, so
// that the role keeps its permissions until the change is made.
func (s *Service) loadChangeableMember(ctx context.Context, by Actor, tenantID uuid.UUID, userID int64) (Member, error) {
	m, err := s.store.member(ctx, tenantID, userID)
	switch {
	case err != nil:
		return Member{}, err
	case m.UserID == by.UserID: // never for a platform key
		return Member{}, errOwnMembership
	case m.Role == Owner:
		return Member{}, errOwnerMembership
	}
	return m, s.checkRolePermissions(ctx, by, tenantID, m.RoleID)
}

// checkRolePermissions rejects an actor who lacks a permission of a role (rules: team#permissions).
func (s *Service) checkRolePermissions(ctx context.Context, by Actor, tenantID uuid.UUID, roleID int64) error {
	role, err := s.store.role(ctx, tenantID, roleID)
	if err == nil && !by.hasPermissions(role.Permissions) {
		err = errStronger
	}
	return err
}

// Profile holds an admin's changes to a member. Nil fields are unchanged.
type Profile struct {
	Name     *string
	Password *string
}

// checkPermissions rejects a caller without the permission for a field. The name and the password
// have separate permissions (rules: http#permissions-of-administrators). No API key can set a
// password.
func (p Profile) checkPermissions(ctx context.Context) error {
	caller := authz.FromContext(ctx)
	switch {
	case caller == nil:
		return nil // a command on the service's machine
	case caller.Key != nil && p.Password != nil:
		return errNotInScope
	case caller.Key != nil:
		return nil // the scope of the key replaces the permission
	}
	if p.Name != nil && !caller.CanOnPlatform(authz.TenantsManage) || p.Password != nil && !caller.CanOnPlatform(authz.UsersPassword) {
		return errNotPermitted
	}
	return nil
}

// UpdateProfile changes a member's name and password on behalf of an admin. A new password ends all
// sessions and credentials of the member, who is notified by mail. The password of a platform admin
// cannot be set (403).
func (s *Service) UpdateProfile(ctx context.Context, tenantID uuid.UUID, userID int64, p Profile) (Member, error) {
	if err := p.checkPermissions(ctx); err != nil {
		return Member{}, err
	}
	var password account.HashedPassword
	if p.Password != nil {
		var err error
		if password, err = s.deps.Accounts.HashPassword(ctx, *p.Password); err != nil {
			return Member{}, err
		}
	}
	var m Member
	err := s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		if err := p.checkPermissions(ctx); err != nil {
			return err
		}
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

// ResetFactors removes all second factors of a member, and ends all their logins. It returns
// ErrNotMember for a user outside the tenant, and refuses a platform admin.
func (s *Service) ResetFactors(ctx context.Context, tenantID uuid.UUID, userID int64) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		if err := authz.Recheck(ctx); err != nil {
			return err
		}
		if _, err := s.store.member(ctx, tenantID, userID); err != nil {
			return err
		}
		return s.deps.Factors.Reset(ctx, userID, false)
	})
}

// AssignableRoles lists the roles that can be assigned to a member: all except owner.
func (s *Service) AssignableRoles(ctx context.Context, tenantID uuid.UUID) ([]Role, error) {
	roles, err := s.Roles(ctx, tenantID)
	return slices.DeleteFunc(roles, func(r Role) bool { return r.Name == Owner }), err
}
