package team

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// TenantRole is the role resource.
type TenantRole struct {
	ID          int64      `json:"id"`
	Name        string     `json:"name"`
	GuardName   string     `json:"guard_name" doc:"Reserved. Always web."`
	TenantID    *uuid.UUID `json:"tenant_id" doc:"ID of the tenant. Null for a built-in role."`
	IsBuiltIn   bool       `json:"is_builtin"`
	Permissions []string   `json:"permissions" doc:"Names of the permissions, sorted."`
	UsersCount  int64      `json:"users_count" doc:"Number of members with the role."`
	CreatedAt   shape.Time `json:"created_at"`
	UpdatedAt   shape.Time `json:"updated_at"`
}

func tenantRole(r Role) TenantRole {
	return TenantRole{
		ID: r.ID, Name: r.Name, GuardName: guardName, TenantID: r.TenantID, IsBuiltIn: r.BuiltIn(),
		Permissions: r.Permissions, UsersCount: r.Users, CreatedAt: shape.T(r.CreatedAt), UpdatedAt: shape.T(r.UpdatedAt),
	}
}

// Roles handles GET /roles.
func (h *HTTP) Roles(ctx context.Context, _ *struct{}) (*rest.Data[[]TenantRole], error) {
	roles, err := h.svc.Roles(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(viewAll(roles, tenantRole)), nil
}

// Permissions handles GET /roles/permissions. It lists all permissions that a role can hold.
func (h *HTTP) Permissions(context.Context, *struct{}) (*rest.Data[[]string], error) {
	return rest.OK(authz.TenantPermissions()), nil
}

// RoleEditable rejects a path whose role is not a custom role of the tenant, before the body is
// validated.
func (h *HTTP) RoleEditable(ctx context.Context, param func(string) string) error {
	id, err := shape.IntID(param("role"))
	if err != nil {
		return err
	}
	_, err = h.svc.CustomRole(ctx, authz.TenantID(ctx), id)
	return err
}

type createRoleInput struct {
	Body struct {
		Name        string   `json:"name" format:"name" maxLength:"255" doc:"Name of the role. Unique in the tenant, not case-sensitive. Names of built-in roles are not allowed."`
		Permissions []string `json:"permissions"`
	}
}

// CreateRole handles POST /roles.
func (h *HTTP) CreateRole(ctx context.Context, in *createRoleInput) (*rest.Data[TenantRole], error) {
	role, err := h.svc.CreateRole(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), in.Body.Name, in.Body.Permissions)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(tenantRole(role), "roles.created"), nil
}

// CheckCreateRole is the check that rest.Checks runs for CreateRole.
func (h *HTTP) CheckCreateRole(ctx context.Context, in *createRoleInput) error {
	return h.svc.checkNewRole(ctx, authz.TenantID(ctx), 0, in.Body.Name, in.Body.Permissions)
}

type updateRoleInput struct {
	Role string `path:"role"`
	Body struct {
		Name        *string   `json:"name,omitempty" format:"name" minLength:"1" maxLength:"255"`
		Permissions *[]string `json:"permissions,omitempty"`
	}
}

// UpdateRole handles PATCH /roles/{role}.
func (h *HTTP) UpdateRole(ctx context.Context, in *updateRoleInput) (*rest.Data[TenantRole], error) {
	id, err := shape.IntID(in.Role)
	if err != nil {
		return nil, err
	}
	role, err := h.svc.UpdateRole(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), id, RoleChange{
		Name: in.Body.Name, Permissions: in.Body.Permissions,
	})
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(tenantRole(role), "roles.updated"), nil
}

// CheckUpdateRole is the check that rest.Checks runs for UpdateRole.
func (h *HTTP) CheckUpdateRole(ctx context.Context, in *updateRoleInput) error {
	id, err := shape.IntID(in.Role)
	if err != nil {
		return err
	}
	var name string
	if in.Body.Name != nil {
		name = *in.Body.Name
	}
	var permissions []string
	if in.Body.Permissions != nil {
		permissions = *in.Body.Permissions
	}
	return h.svc.checkNewRole(ctx, authz.TenantID(ctx), id, name, permissions)
}

type roleInput struct {
	Role string `path:"role"`
}

// DeleteRole handles DELETE /roles/{role}.
func (h *HTTP) DeleteRole(ctx context.Context, in *roleInput) (*rest.Body[rest.Note], error) {
	id, err := shape.IntID(in.Role)
	if err != nil {
		return nil, err
	}
	if err := h.svc.DeleteRole(ctx, MemberActor(authz.FromContext(ctx)), authz.TenantID(ctx), id); err != nil {
		return nil, err
	}
	return rest.Message("roles.deleted"), nil
}
