package team

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/tenant"
)

type ownInput struct {
	TenantID string `path:"tenantId"`
}

// Leave handles POST /leave.
func (h *HTTP) Leave(ctx context.Context, _ *ownInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.Leave(ctx, authz.FromContext(ctx), authz.TenantID(ctx))
}

type transferInput struct {
	TenantID string `path:"tenantId"`
	Body     struct {
		UserID          int64  `json:"user_id" doc:"User ID of the new owner, who must be a member."`
		CurrentPassword string `json:"current_password,omitempty" format:"password" maxLength:"1024" doc:"Current password. Required if the account has a password."`
	}
}

// CheckTransfer is the check that rest.Checks runs for Transfer.
func (h *HTTP) CheckTransfer(ctx context.Context, in *transferInput) error {
	return h.svc.checkTransfer(ctx, authz.FromContext(ctx), authz.TenantID(ctx), in.Body.UserID, in.Body.CurrentPassword)
}

// Ownership is the response of a transfer.
type Ownership struct {
	Owner tenant.Person `json:"owner"`
}

// Transfer handles POST /transfer-ownership.
func (h *HTTP) Transfer(ctx context.Context, in *transferInput) (*rest.Data[Ownership], error) {
	owner, err := h.svc.Transfer(ctx, authz.FromContext(ctx), authz.TenantID(ctx), in.Body.UserID, in.Body.CurrentPassword)
	if err != nil {
		return nil, err
	}
	return rest.OK(Ownership{Owner: owner}), nil
}
