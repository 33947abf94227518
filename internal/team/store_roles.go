package team

import (
	"context"
	"errors"
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

// roles are the built-in ones and the tenant's own, in no order.
func (s store) roles(ctx context.Context, tenantID uuid.UUID) ([]Role, error) {
	rows, err := s.q(ctx).Roles(ctx, tenantID)
	roles := make([]Role, len(rows))
	for i, row := range rows {
		roles[i] = toRole(teamsql.RoleRow(row))
	}
	return roles, err
}

// role fails with errNoRole, also for a role of another tenant.
func (s store) role(ctx context.Context, tenantID uuid.UUID, id int64) (Role, error) {
	row, err := s.q(ctx).Role(ctx, teamsql.RoleParams{TenantID: tenantID, ID: id})
	if errors.Is(err, sqldb.ErrNoRows) {
		return Role{}, errNoRole
	}
	return toRole(row), err
}

// roleNamed finds a role by its exact name; it fails with errNoRole.
func (s store) roleNamed(ctx context.Context, tenantID uuid.UUID, name string) (Role, error) {
	id, err := s.q(ctx).RoleIDByName(ctx, teamsql.RoleIDByNameParams{TenantID: &tenantID, Name: name})
	if errors.Is(err, sqldb.ErrNoRows) {
		return Role{}, errNoRole
	}
	if err != nil {
		return Role{}, err
	}
	return s.role(ctx, tenantID, id)
}

// insertRole fails with errNameTaken.
func (s store) insertRole(ctx context.Context, tenantID uuid.UUID, name string, permissions []string, now time.Time) (int64, error) {
	id, err := s.q(ctx).InsertRole(ctx, teamsql.InsertRoleParams{TenantID: &tenantID, Name: name, NameKey: nameKey(name), CreatedAt: now})
	if errors.Is(err, sqldb.ErrNoRows) {
		return 0, errNameTaken
	}
	if err != nil {
		return 0, err
	}
	return id, s.insertPermissions(ctx, id, permissions)
}

// updateRole fails with errNameTaken.
func (s store) updateRole(ctx context.Context, r Role) error {
	n, err := s.q(ctx).UpdateRole(ctx, teamsql.UpdateRoleParams{ID: r.ID, Name: r.Name, NameKey: nameKey(r.Name), UpdatedAt: r.UpdatedAt})
	if err != nil {
		return err
	}
	if n == 0 {
		return errNameTaken
	}
	if err := s.q(ctx).DeleteRolePermissions(ctx, r.ID); err != nil {
		return err
	}
	return s.insertPermissions(ctx, r.ID, r.Permissions)
}

func (s store) insertPermissions(ctx context.Context, roleID int64, permissions []string) error {
	for _, p := range permissions {
		if err := s.q(ctx).InsertRolePermission(ctx, teamsql.InsertRolePermissionParams{RoleID: roleID, Permission: p}); err != nil {
			return err
		}
	}
	return nil
}

// deleteRole moves whoever has a role, or is invited into it, to another one.
func (s store) deleteRole(ctx context.Context, id, heir int64) error {
	if err := s.q(ctx).MoveMembers(ctx, teamsql.MoveMembersParams{RoleID: id, NewRoleID: heir}); err != nil {
		return err
	}
	if err := s.q(ctx).MoveInvitations(ctx, teamsql.MoveInvitationsParams{RoleID: id, NewRoleID: heir}); err != nil {
		return err
	}
	return s.q(ctx).DeleteRole(ctx, id)
}
