package tenant

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// TenantFields are the fields that both members and admins can change (rules: tenant#changes).
type TenantFields struct {
	Name     shape.Opt[string]       `json:"name,omitzero" format:"name" minLength:"1" maxLength:"255"`
	Settings shape.Opt[shape.Object] `json:"settings,omitzero" nullable:"true" maxBytes:"16384"`
	BillingFields
}

// BillingFields are the billing details in a request. Absent fields stay as they are.
type BillingFields struct {
	LegalName    shape.Opt[string] `json:"legal_name,omitzero" nullable:"true" format:"name" maxLength:"255"`
	Address      shape.Opt[string] `json:"address,omitzero" nullable:"true" format:"multiline" maxLength:"500"`
	City         shape.Opt[string] `json:"city,omitzero" nullable:"true" format:"name" maxLength:"255"`
	PostalCode   shape.Opt[string] `json:"postal_code,omitzero" nullable:"true" maxLength:"20"`
	Country      shape.Opt[string] `json:"country,omitzero" nullable:"true" format:"country"`
	VATNumber    shape.Opt[string] `json:"vat_number,omitzero" nullable:"true" maxLength:"50"`
	BillingEmail shape.Opt[string] `json:"billing_email,omitzero" nullable:"true" format:"email" maxLength:"255"`
}

// apply applies the fields of a request to a tenant. It rejects a VAT number with an invalid
// format.
func (s *Service) apply(f TenantFields, t *Tenant) error {
	t.Name = f.Name.OrValue(t.Name)
	if f.Settings.Set {
		t.Settings = sqldb.JSON(f.Settings.Value)
	}
	return s.applyBilling(f.BillingFields, &t.Billing)
}

// applyBilling applies the billing fields of a request. It rejects a VAT number with an invalid
// format.
func (s *Service) applyBilling(f BillingFields, b *BillingDetails) error {
	b.LegalName, b.Address, b.City = f.LegalName.Or(b.LegalName), f.Address.Or(b.Address), f.City.Or(b.City)
	b.PostalCode, b.Country = f.PostalCode.Or(b.PostalCode), f.Country.Or(b.Country)
	b.BillingEmail = f.BillingEmail.Or(b.BillingEmail)
	return s.SetVATNumber(b, f.VATNumber)
}

type updateInput struct {
	Body struct {
		TenantFields
		Slug           shape.Opt[string] `json:"slug,omitzero" minLength:"1" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		RequireMFA     shape.Opt[bool]   `json:"require_mfa,omitzero" doc:"Whether members need a second factor. To turn it on, the caller must have one."`
		RequireMFAFrom shape.Opt[string] `json:"require_mfa_from,omitzero" nullable:"true" format:"date" doc:"First day, in UTC, on which members need a second factor: from today to 90 days ahead. Default: today."`
	}
}

// TenantUpdated is the response of PATCH /tenant, which is not wrapped in data.
type TenantUpdated struct {
	Tenant  TenantView `json:"tenant"`
	Message string     `json:"message"`
}

// CheckUpdate is the check that rest.Checks runs for Update.
func (h *HTTP) CheckUpdate(ctx context.Context, in *updateInput) error {
	known := *in
	known.Body.TenantFields = in.Body.dropInvalidVATNumber(ctx)
	return h.svc.checkUpdate(ctx, authz.TenantID(ctx), known.change(h.svc, authz.FromContext(ctx)))
}

// dropInvalidVATNumber returns the fields without the VAT number if the country is invalid.
func (f TenantFields) dropInvalidVATNumber(ctx context.Context) TenantFields {
	f.BillingFields = f.BillingFields.dropInvalidVATNumber(ctx)
	return f
}

func (f BillingFields) dropInvalidVATNumber(ctx context.Context) BillingFields {
	if rest.IsBroken(ctx, "country") {
		f.VATNumber = shape.Opt[string]{}
	}
	return f
}

// change returns a function that applies the request to a tenant. The function reads the caller's
// factor when it is called.
func (in *updateInput) change(s *Service, caller *authz.Caller) func(*Tenant) error {
	return func(t *Tenant) error {
		t.Slug = in.Body.Slug.OrValue(t.Slug)
		return fault.Join(s.apply(in.Body.TenantFields, t), s.applyFactor(in.Body.RequireMFA, in.Body.RequireMFAFrom, caller.HasFactor, t))
	}
}

// Update handles PATCH /tenant.
func (h *HTTP) Update(ctx context.Context, in *updateInput) (*rest.Body[TenantUpdated], error) {
	update := h.svc.Update
	if in.Body.RequireMFA.Set || in.Body.RequireMFAFrom.Set {
		update = h.svc.updateFactor
	}
	t, err := update(ctx, authz.TenantID(ctx), in.change(h.svc, authz.FromContext(ctx)))
	if err != nil {
		return nil, err
	}
	v, err := h.svc.Show(ctx, t)
	if err != nil {
		return nil, err
	}
	return rest.NewBody(TenantUpdated{Tenant: v, Message: actionUpdated}), nil
}
