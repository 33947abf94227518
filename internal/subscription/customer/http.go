package customer

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/tenant"
)

// HTTP has the handlers for customers.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

type portalInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
	Body   struct {
		ReturnURL *string `json:"return_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"URL to return to from the billing portal, on the frontend's domain. Default: the billing page of the frontend."`
		Flow      *string `json:"flow,omitempty" enum:"payment_method_update" doc:"Limits the session to one task. Default: the whole portal."`
	}
}

// BillingPortal is the URL of the hosted billing portal.
type BillingPortal struct {
	URL string `json:"url"`
}

// PortalExists is the check of the portal's route, because a platform admin can name a tenant that
// does not exist.
func (h *HTTP) PortalExists(ctx context.Context, param func(string) string) error {
	id, err := shape.ParseID(param("tenantId"))
	if err != nil {
		return err
	}
	t, err := h.svc.deps.Tenants.Get(ctx, id)
	if errors.Is(err, tenant.ErrNotFound) || err == nil && t.DeletedAt != nil {
		err = errNoTenant
	}
	return err
}

// Portal handles POST /docs/billing/portal. It uses the tenant of the path, because a platform
// admin belongs to no tenant.
func (h *HTTP) Portal(ctx context.Context, in *portalInput) (*rest.Data[BillingPortal], error) {
	id, err := shape.ParseID(in.Tenant)
	if err != nil {
		return nil, err
	}
	var returnURL, flow string
	if in.Body.ReturnURL != nil {
		returnURL = *in.Body.ReturnURL
	}
	if in.Body.Flow != nil {
		flow = *in.Body.Flow
	}
	address, err := h.svc.Portal(ctx, id, returnURL, flow)
	if err != nil {
		return nil, err
	}
	return rest.OK(BillingPortal{URL: address}), nil
}
