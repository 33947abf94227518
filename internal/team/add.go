package team

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/tenant"
)

// CommandActor returns the actor of commands on the service's machine, who can grant every
// permission.
func CommandActor() Actor { return Actor{permissions: authz.TenantPermissions} }

// FindTenantOf returns the tenant of the account with the email. ok is false if no such tenant
// exists.
func (s *Service) FindTenantOf(ctx context.Context, email string) (id uuid.UUID, ok bool, err error) {
	id, err = s.store.tenantOf(ctx, email)
	if errors.Is(err, errInNoTenant) {
		return uuid.Nil, false, nil
	}
	return id, err == nil, err
}

// AssignableRole returns the tenant's assignable role with the given name. ok is false if no such
// role exists. uuid.Nil stands for a tenant without custom roles.
func (s *Service) AssignableRole(ctx context.Context, tenantID uuid.UUID, name string) (role Role, ok bool, err error) {
	roles, err := s.AssignableRoles(ctx, tenantID)
	i := slices.IndexFunc(roles, func(r Role) bool { return r.Name == name })
	if err != nil || i < 0 {
		return Role{}, false, err
	}
	return roles[i], true, nil
}

// Add makes a user a member without an invitation. It fails with SEAT_LIMIT_REACHED, or with
// USER_BELONGS_TO_ANOTHER_TENANT if the user already belongs to a tenant. The role owner and
// unknown roles are a validation error on role.
func (s *Service) Add(ctx context.Context, tenantID uuid.UUID, userID int64, name string) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		role, ok, err := s.AssignableRole(ctx, tenantID, name)
		switch {
		case err != nil:
			return err
		case !ok:
			return errUnknownRole
		}
		return s.add(ctx, tenantID, userID, role, "member.added")
	})
}

// Enrol is like Add, for a user who joins through the tenant's domain or single sign-on.
func (s *Service) Enrol(ctx context.Context, tenantID uuid.UUID, userID, roleID int64) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		role, err := s.store.role(ctx, tenantID, roleID)
		if err != nil {
			return err
		}
		return s.add(ctx, tenantID, userID, role, "member.joined")
	})
}

// add makes a user a member and records the change under the action. The tenant must be locked.
func (s *Service) add(ctx context.Context, tenantID uuid.UUID, userID int64, role Role, action string) error {
	if err := s.deps.Accounts.LockExisting(ctx, userID); err != nil {
		return err
	}
	added, err := s.store.insertMember(ctx, tenantID, userID, role.ID, s.deps.Clock.Now())
	switch {
	case err != nil:
		return err
	case !added:
		return tenant.ErrInAnotherTenant
	}
	if err := s.deps.Billing.SeatsChanged(ctx, tenantID); err != nil {
		return err
	}
	if err := s.Joined(ctx, tenantID, userID); err != nil {
		return err
	}
	// The member has taken the seat of their invitation, so check the seats only now.
	if err := s.requireSeats(ctx, tenantID, 0); err != nil {
		return err
	}
	return s.record(ctx, tenantID, action, "user", formatID(userID), nil, map[string]any{"role": role.Name})
}

// GrantableRole returns the role with the given name, for a setting that assigns the role later.
// The role owner and unknown roles are a validation error on role. A role with a permission that
// the actor lacks is rejected (403).
func (s *Service) GrantableRole(ctx context.Context, by Actor, tenantID uuid.UUID, name string) (Role, error) {
	role, ok, err := s.AssignableRole(ctx, tenantID, name)
	switch {
	case err != nil:
		return Role{}, err
	case !ok:
		return Role{}, errUnknownRole
	case !by.hasPermissions(role.Permissions):
		return Role{}, errNotHeld
	}
	return role, nil
}
