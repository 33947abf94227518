package operation

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription"
)

type adminCancelInput struct {
	Tenant       string `path:"tenant" format:"uuid"`
	Subscription string `path:"subscription" format:"uuid"`
	Body         struct {
		Reason      *string `json:"reason,omitempty" nullable:"true" maxLength:"500"`
		Immediately bool    `json:"immediately,omitempty"`
	}
}

// AdminSubscriptionExists is the check of the routes that name a subscription of
// a tenant.
func (h *HTTP) AdminSubscriptionExists(ctx context.Context, param func(string) string) error {
	tenantID, id, err := pathIDs(param("tenant"), param("subscription"))
	if err != nil {
		return err
	}
	_, err = h.svc.deps.Subscriptions.Get(ctx, tenantID, id)
	return err
}

func pathIDs(tenant, subscription string) (tenantID, id uuid.UUID, err error) {
	if tenantID, err = shape.ParseID(tenant); err != nil {
		return
	}
	id, err = shape.ParseID(subscription)
	return
}

// AdminCancel handles POST /admin/tenants/{tenant}/subscriptions/{subscription}/cancel.
func (h *HTTP) AdminCancel(ctx context.Context, in *adminCancelInput) (*rest.Data[*subscription.SubscriptionView], error) {
	tenantID, id, err := pathIDs(in.Tenant, in.Subscription)
	if err != nil {
		return nil, err
	}
	sub, err := h.svc.CancelOne(ctx, tenantID, id, Cancellation{Immediately: in.Body.Immediately, Reason: in.Body.Reason})
	if err != nil {
		return nil, err
	}
	v, err := h.subscriptions.View(ctx, sub)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(v, "subscription.canceled"), nil
}
