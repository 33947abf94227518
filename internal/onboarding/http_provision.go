package onboarding

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/tenant"
)

// AdminHTTP handles the creation of tenants by the platform.
type AdminHTTP struct {
	svc     *Service
	tenants *tenant.AdminHTTP
}

// NewAdminHTTP returns the handlers. tenants reads and writes the tenant of a request.
func NewAdminHTTP(svc *Service, tenants *tenant.AdminHTTP) *AdminHTTP {
	return &AdminHTTP{svc: svc, tenants: tenants}
}

type provisionInput struct {
	Body struct {
		tenant.ProvisionFields
		PlanSlug string `json:"plan_slug,omitempty" maxLength:"255" doc:"A plan with the price 0 in the currency. The default plan applies without a subscription."`
	}
}

func (h *AdminHTTP) provisioning(ctx context.Context, in *provisionInput) Provisioning {
	provisioned, wrong := h.tenants.ParseProvision(ctx, in.Body.ProvisionFields)
	return Provisioning{ProvisionedTenant: provisioned, PlanSlug: in.Body.PlanSlug, PlanCurrency: strings.ToUpper(in.Body.Currency), Wrong: wrong}
}

// CheckProvision is the rest.Checks check for Provision.
func (h *AdminHTTP) CheckProvision(ctx context.Context, in *provisionInput) error {
	_, err := h.svc.checkProvision(ctx, h.provisioning(ctx, in))
	return err
}

// Provision handles POST /admin/tenants.
func (h *AdminHTTP) Provision(ctx context.Context, in *provisionInput) (*rest.Data[tenant.AdminTenant], error) {
	id, err := h.svc.Provision(ctx, h.provisioning(ctx, in))
	if err != nil {
		return nil, err
	}
	return h.tenants.CreatedResponse(ctx, id)
}
