package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

type adminTenantInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminList handles GET /admin/tenants/{tenant}/subscriptions: all that the
// tenant has had, the newest first.
func (h *HTTP) AdminList(ctx context.Context, in *adminTenantInput) (*rest.Data[[]SubscriptionView], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	subs, err := h.svc.OfTenant(ctx, id)
	if err != nil {
		return nil, err
	}
	views := make([]SubscriptionView, len(subs))
	for i, sub := range subs {
		v, err := h.View(ctx, sub)
		if err != nil {
			return nil, err
		}
		views[i] = *v
	}
	return rest.List(views), nil
}
