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

// Roles lists the built-in roles, then the tenant's custom roles by name.
func (s *Service) Roles(ctx context.Context, tenantID uuid.UUID) ([]Role, error) {
	roles, err := s.store.roles(ctx, tenantID)
	sortRoles(roles, i18n.Locale(ctx))
	return roles, err
}

// CustomRole returns a custom role of the tenant. It rejects a built-in role (403). Any other role
// is not found (404).
func (s *Service) CustomRole(ctx context.Context, tenantID uuid.UUID, id int64) (Role, error) {
	role, err := s.store.role(ctx, tenantID, id)
	if err == nil && role.BuiltIn() {
		err = errBuiltInRole
	}
	return role, err
}

// maxRoles is the maximum number of roles of a tenant, including the built-in ones. Lists of roles
// are not paginated.
const maxRoles = 100

// CreateRole adds a custom role to the tenant. Its name must be unique in the tenant, ignoring
// case, and must not be the name of a built-in role (422 on name). An actor cannot grant it a
// permission that they lack (403).
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

// RoleChange holds the changes to a role. Nil fields are unchanged.
type RoleChange struct {
	Name        *string
	Permissions *[]string
}

// UpdateRole changes a custom role of the tenant. It returns the same errors as CreateRole. If the
// role has permissions that the actor lacks, the actor can keep them, but cannot remove any
// permission from the role (403).
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

// DeleteRole deletes a custom role of the tenant. Its members and invitations get the role member.
// An actor cannot delete a role with a permission that they lack (403).
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
		holders, err := s.store.listRoleMembers(ctx, tenantID, id)
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

// checkNewRole validates the fields of CreateRole and UpdateRole. id is 0 for a new role.
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

// checkRole returns the permissions sorted and without duplicates, or a validation error.
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
