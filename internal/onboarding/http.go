// Package onboarding is the way of a new tenant to its first subscription (spec:
// Onboarding endpoints).
package onboarding

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/tenant"
)

// HTTP has the handlers of onboarding.
type HTTP struct{ tenants *tenant.Service }

// NewHTTP returns the handlers.
func NewHTTP(tenants *tenant.Service) *HTTP { return &HTTP{tenants: tenants} }

type completeSetupInput struct {
	Body struct {
		LegalName    rest.Opt[string] `json:"legal_name,omitzero" nullable:"true" maxLength:"255"`
		Address      rest.Opt[string] `json:"address,omitzero" nullable:"true" maxLength:"255"`
		City         rest.Opt[string] `json:"city,omitzero" nullable:"true" maxLength:"255"`
		PostalCode   rest.Opt[string] `json:"postal_code,omitzero" nullable:"true" maxLength:"20"`
		Country      rest.Opt[string] `json:"country,omitzero" nullable:"true" format:"country"`
		VATNumber    rest.Opt[string] `json:"vat_number,omitzero" nullable:"true" maxLength:"50"`
		BillingEmail rest.Opt[string] `json:"billing_email,omitzero" nullable:"true" format:"email" maxLength:"255"`
	}
}

// CompleteSetup handles PATCH /onboarding/complete-setup.
func (h *HTTP) CompleteSetup(ctx context.Context, in *completeSetupInput) (*rest.Data[tenant.TenantView], error) {
	b := in.Body
	t, err := h.tenants.CompleteSetup(ctx, authz.TenantID(ctx), func(old tenant.BillingDetails) tenant.BillingDetails {
		return tenant.BillingDetails{
			LegalName: b.LegalName.Or(old.LegalName), Address: b.Address.Or(old.Address), City: b.City.Or(old.City),
			PostalCode: b.PostalCode.Or(old.PostalCode), Country: b.Country.Or(old.Country),
			VATNumber: b.VATNumber.Or(old.VATNumber), BillingEmail: b.BillingEmail.Or(old.BillingEmail),
		}
	})
	if err != nil {
		return nil, err
	}
	v, err := h.tenants.View(ctx, t)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(v, "onboarding.setup_completed"), nil
}
