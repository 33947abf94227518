package tenant

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// OwnerOnly is the check of routes that only the owner can use.
func (h *HTTP) OwnerOnly(ctx context.Context, _ func(string) string) error {
	return h.svc.RequireOwner(ctx, authz.TenantID(ctx), authz.FromContext(ctx).UserID)
}

type deleteInput struct {
	TenantID string `path:"tenantId"`
	Body     struct {
		CurrentPassword string `json:"current_password,omitempty" format:"password" maxLength:"1024" doc:"Current password. Required if the account has a password."`
	}
}

// Delete handles DELETE /tenant/{tenantId}.
func (h *HTTP) Delete(ctx context.Context, in *deleteInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.Delete(ctx, authz.FromContext(ctx), authz.TenantID(ctx), in.Body.CurrentPassword)
}

// Restore handles POST /admin/tenants/{tenant}/restore.
func (h *AdminHTTP) Restore(ctx context.Context, in *adminInput) (*rest.Data[AdminTenant], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	if err := h.svc.Restore(ctx, id); err != nil {
		return nil, err
	}
	return h.Show(ctx, in)
}
