package team

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Roles lists the built-in roles and then the tenant's own by name.
func (s *Service) Roles(ctx context.Context, tenantID uuid.UUID) ([]Role, error) {
	roles, err := s.store.roles(ctx, tenantID)
	sortRoles(roles, i18n.Locale(ctx))
	return roles, err
}

// CustomRole returns one of the tenant's own roles. A built-in role is refused (403), any
// other is not found (404).
func (s *Service) CustomRole(ctx context.Context, tenantID uuid.UUID, id int64) (Role, error) {
	role, err := s.store.role(ctx, tenantID, id)
	if err == nil && role.BuiltIn() {
		err = errBuiltInRole
	}
	return role, err
}

// maxRoles is how many roles a tenant can have, the built-in ones included: lists of them
// have no pages.
const maxRoles = 100

// CreateRole adds a role of the tenant's own. Its name must be unique in the tenant
// without regard to case and not that of a built-in role (422 on name). Nobody can
// give it a permission that they lack (403).
func (s *Service) CreateRole(ctx context.Context, by Actor, tenantID uuid.UUID, name string, permissions []string) (Role, error) {
	permissions, err := checkRole(name, permissions)
	if err != nil {
		return Role{}, err
	}
	var role Role
	err = s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		if !by.hasPermissions(permissions) {
			return errNotHeld
		}
		if there, err := s.store.roles(ctx, tenantID); err != nil || len(there) >= maxRoles {
			return cmp.Or(err, errTooManyRoles)
		}
		id, err := s.store.insertRole(ctx, tenantID, name, permissions, s.deps.Clock.Now())
		if err != nil {
			return err
		}
		if role, err = s.store.role(ctx, tenantID, id); err != nil {
			return err
		}
		return s.recordRole(ctx, tenantID, "role.created", nil, &role)
	})
	return role, err
}

// RoleChange is what to change of a role; nil fields stay as they are.
type RoleChange struct {
	Name        *string
	Permissions *[]string
}

// UpdateRole changes one of the tenant's own roles, with the refusals of CreateRole.
// Permissions that the role has already may stay even if the actor lacks them, but then
// the actor can take none away (403).
func (s *Service) UpdateRole(ctx context.Context, by Actor, tenantID uuid.UUID, id int64, c RoleChange) (Role, error) {
	var role Role
	err := s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		old, err := s.CustomRole(ctx, tenantID, id)
		if err != nil {
			return err
		}
		role = old
		role.UpdatedAt = s.deps.Clock.Now()
		if c.Name != nil {
			role.Name = *c.Name
		}
		if c.Permissions != nil {
			role.Permissions = *c.Permissions
		}
		if role.Permissions, err = checkRole(role.Name, role.Permissions); err != nil {
			return err
		}
		added := slices.DeleteFunc(slices.Clone(role.Permissions), func(p string) bool { return slices.Contains(old.Permissions, p) })
		if !by.hasPermissions(added) {
			return errNotHeld
		}
		removes := slices.ContainsFunc(old.Permissions, func(p string) bool { return !slices.Contains(role.Permissions, p) })
		if removes && !by.hasPermissions(old.Permissions) {
			return errStronger
		}
		if err := s.store.updateRole(ctx, role); err != nil {
			return err
		}
		return s.recordRole(ctx, tenantID, "role.updated", &old, &role)
	})
	return role, err
}

// DeleteRole deletes one of the tenant's own roles. Members who have it and
// invitations to it get the role member. Nobody can delete one with a permission that
// they lack (403).
func (s *Service) DeleteRole(ctx context.Context, by Actor, tenantID uuid.UUID, id int64) error {
	return s.change(ctx, tenantID, func(ctx context.Context, _ tenant.Tenant) error {
		role, err := s.CustomRole(ctx, tenantID, id)
		if err != nil {
			return err
		}
		if !by.hasPermissions(role.Permissions) {
			return errStronger
		}
		heir, err := s.store.roleNamed(ctx, tenantID, MemberRole)
		if err != nil {
			return err
		}
		holders, err := s.store.holders(ctx, tenantID, id)
		if err != nil {
			return err
		}
		if err := s.store.deleteRole(ctx, tenantID, id, heir.ID); err != nil {
			return err
		}
		for _, userID := range holders {
			if err := s.PublishMemberEvent(ctx, hook.MemberRoleChanged, tenantID, userID); err != nil {
				return err
			}
		}
		return s.recordRole(ctx, tenantID, "role.deleted", &role, nil)
	})
}

// checkNewRole refuses the fields of a role that CreateRole and UpdateRole refuse. id is 0 for a
// new role.
func (s *Service) checkNewRole(ctx context.Context, tenantID uuid.UUID, id int64, name string, permissions []string) error {
	_, broken := checkRole(name, permissions)
	roles, err := s.store.roles(ctx, tenantID)
	if err != nil {
		return err
	}
	isTaken := slices.ContainsFunc(roles, func(r Role) bool { return r.ID != id && !r.BuiltIn() && nameKey(r.Name) == nameKey(name) })
	if isTaken {
		return fault.Join(broken, errNameTaken)
	}
	return broken
}

// checkRole returns permissions sorted and without duplicates, or a validation error.
func checkRole(name string, permissions []string) ([]string, error) {
	var broken fault.Fields
	if isBuiltInName(nameKey(name)) {
		broken.Add("name", "validation.taken")
	}
	for i, p := range permissions {
		if !slices.Contains(authz.TenantPermissions(), p) {
			broken.Add("permissions."+strconv.Itoa(i), "validation.exists")
		}
	}
	sorted := slices.Clone(permissions)
	slices.Sort(sorted)
	return slices.Compact(sorted), broken.Err()
}

func (s *Service) recordRole(ctx context.Context, tenantID uuid.UUID, action string, before, after *Role) error {
	var id string
	state := func(r *Role) any {
		if r == nil {
			return nil
		}
		id = formatID(r.ID)
		return map[string]any{"name": r.Name, "permissions": r.Permissions}
	}
	from, to := state(before), state(after)
	return s.record(ctx, tenantID, action, "role", id, from, to)
}
