package team

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team/teamsql"
)

func toRole(row teamsql.RoleRow) Role {
	r := Role{
		ID: row.ID, TenantID: row.TenantID, Name: row.Name, Permissions: []string{}, Users: row.UsersCount,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
	if row.Permissions != "" {
		r.Permissions = strings.Split(row.Permissions, ",")
		slices.Sort(r.Permissions)
	}
	return r
}

// roles lists the built-in roles and the tenant's custom roles, in no particular order.
func (s store) roles(ctx context.Context, tenantID uuid.UUID) ([]Role, error) {
	rows, err := s.q(ctx).Roles(ctx, tenantID)
	roles := make([]Role, len(rows))
	for i, row := range rows {
		roles[i] = toRole(teamsql.RoleRow(row))
	}
	return roles, sqldb.Wrap(err, "list roles")
}

// role returns a built-in role or a custom role of the tenant, or errNoRole.
func (s store) role(ctx context.Context, tenantID uuid.UUID, id int64) (Role, error) {
	row, err := s.q(ctx).Role(ctx, teamsql.RoleParams{TenantID: tenantID, ID: id})
	if err != nil {
		return Role{}, sqldb.WrapAbsent(err, "read role", errNoRole)
	}
	return toRole(row), nil
}

// roleNamed returns the role with exactly this name, or errNoRole.
func (s store) roleNamed(ctx context.Context, tenantID uuid.UUID, name string) (Role, error) {
	id, err := s.q(ctx).RoleIDByName(ctx, teamsql.RoleIDByNameParams{TenantID: &tenantID, Name: name})
	if err != nil {
		return Role{}, sqldb.WrapAbsent(err, "read role by name", errNoRole)
	}
	return s.role(ctx, tenantID, id)
}

// insertRole returns the ID of the new role, or errNameTaken.
func (s store) insertRole(ctx context.Context, tenantID uuid.UUID, name string, permissions []string, now time.Time) (int64, error) {
	id, err := s.q(ctx).InsertRole(ctx, teamsql.InsertRoleParams{TenantID: &tenantID, Name: name, NameKey: nameKey(name), CreatedAt: now})
	if err != nil {
		return 0, sqldb.WrapAbsent(err, "insert role", errNameTaken)
	}
	return id, s.insertPermissions(ctx, id, permissions)
}

// updateRole changes the name and the permissions of a custom role. It returns errNameTaken if
// another role has the name.
func (s store) updateRole(ctx context.Context, r Role) error {
	n, err := s.q(ctx).UpdateRole(ctx, teamsql.UpdateRoleParams{TenantID: r.TenantID, ID: r.ID, Name: r.Name, NameKey: nameKey(r.Name), UpdatedAt: r.UpdatedAt})
	if err != nil {
		return sqldb.Wrap(err, "update role")
	}
	if n == 0 {
		return errNameTaken
	}
	if err := s.q(ctx).DeleteRolePermissions(ctx, r.ID); err != nil {
		return sqldb.Wrap(err, "delete permissions of role")
	}
	return s.insertPermissions(ctx, r.ID, r.Permissions)
}

func (s store) insertPermissions(ctx context.Context, roleID int64, permissions []string) error {
	for _, p := range permissions {
		if err := s.q(ctx).InsertRolePermission(ctx, teamsql.InsertRolePermissionParams{RoleID: roleID, Permission: p}); err != nil {
			return sqldb.Wrap(err, "insert permission of role")
		}
	}
	return nil
}

// deleteRole deletes a custom role. Its members, invitations, domains and connection are moved to
// the role heir.
func (s store) deleteRole(ctx context.Context, tenantID uuid.UUID, id, heir int64) error {
	if err := s.q(ctx).MoveMembers(ctx, teamsql.MoveMembersParams{TenantID: tenantID, RoleID: id, NewRoleID: heir}); err != nil {
		return sqldb.Wrap(err, "move members of role")
	}
	if err := s.q(ctx).MoveInvitations(ctx, teamsql.MoveInvitationsParams{TenantID: tenantID, RoleID: id, NewRoleID: heir}); err != nil {
		return sqldb.Wrap(err, "move invitations of role")
	}
	if err := s.q(ctx).MoveDomains(ctx, teamsql.MoveDomainsParams{TenantID: tenantID, RoleID: id, NewRoleID: heir}); err != nil {
		return sqldb.Wrap(err, "move domains of role")
	}
	if err := s.q(ctx).MoveConnection(ctx, teamsql.MoveConnectionParams{TenantID: tenantID, RoleID: id, NewRoleID: heir}); err != nil {
		return sqldb.Wrap(err, "move connection of role")
	}
	return sqldb.Wrap(s.q(ctx).DeleteRole(ctx, teamsql.DeleteRoleParams{TenantID: &tenantID, ID: id}), "delete role")
}

// listRoleMembers lists the IDs of the members of a tenant who have a role.
func (s store) listRoleMembers(ctx context.Context, tenantID uuid.UUID, roleID int64) ([]int64, error) {
	ids, err := s.q(ctx).HoldersOfRole(ctx, teamsql.HoldersOfRoleParams{TenantID: tenantID, RoleID: roleID})
	return ids, sqldb.Wrap(err, "list holders of role")
}
