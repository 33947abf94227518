package usage

import (
	"context"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

type adminQuotasInput struct {
	Tenant string `path:"tenant" format:"uuid"`
}

// AdminQuotas handles GET /admin/tenants/{tenant}/usage/quotas.
func (h *HTTP) AdminQuotas(ctx context.Context, in *adminQuotasInput) (*rest.Data[usageQuotas], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	return h.quotas(ctx, id, true)
}
