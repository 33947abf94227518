package team

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/tenant"
)

// CommandActor returns whoever runs a command on the service's machine as actor, who can
// give every permission.
func CommandActor() Actor { return Actor{permissions: authz.TenantPermissions} }

// FindTenantOf returns the tenant that the account of an email is in; not ok where it is in none.
func (s *Service) FindTenantOf(ctx context.Context, email string) (id uuid.UUID, ok bool, err error) {
	id, err = s.store.tenantOf(ctx, email)
	if errors.Is(err, errInNoTenant) {
		return uuid.Nil, false, nil
	}
	return id, err == nil, err
}

// AssignableRole returns the role with a name that a member of a tenant can be given; not ok
// where there is none. uuid.Nil is a tenant that has no roles of its own.
func (s *Service) AssignableRole(ctx context.Context, tenantID uuid.UUID, name string) (role Role, ok bool, err error) {
	roles, err := s.AssignableRoles(ctx, tenantID)
	i := slices.IndexFunc(roles, func(r Role) bool { return r.Name == name })
	if err != nil || i < 0 {
		return Role{}, false, err
	}
	return roles[i], true, nil
}

// Add makes a user a member without an invitation. It refuses SEAT_LIMIT_REACHED, and
// USER_BELONGS_TO_ANOTHER_TENANT for one who is in a tenant already. The role owner
// and roles that the tenant does not have are a validation error on role.
func (s *Service) Add(ctx context.Context, tenantID uuid.UUID, userID int64, name string) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		if err := s.deps.Accounts.LockExisting(ctx, userID); err != nil {
			return err
		}
		role, ok, err := s.AssignableRole(ctx, tenantID, name)
		switch {
		case err != nil:
			return err
		case !ok:
			return errUnknownRole
		}
		if err := s.needSeats(ctx, tenantID, 1); err != nil {
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
		if err := s.PublishMemberEvent(ctx, hook.MemberJoined, tenantID, userID); err != nil {
			return err
		}
		return s.record(ctx, tenantID, "member.added", "user", formatID(userID), nil, map[string]any{"role": role.Name})
	})
}
