package tenant

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// ProvisionFields are the fields of a tenant that the platform creates, without its plan.
type ProvisionFields struct {
	Name       string       `json:"name" format:"name" maxLength:"255"`
	Slug       string       `json:"slug,omitempty" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$" doc:"URL-safe name. Derived from the name by default."`
	ExternalID *string      `json:"external_id,omitempty" nullable:"true" maxLength:"255" doc:"ID of the tenant in your system. Unique and case-sensitive."`
	Metadata   shape.Object `json:"metadata,omitempty" maxBytes:"65536" doc:"Data of your backend, at most 16 KiB."`
	Owner      *OwnerFields `json:"owner,omitempty" nullable:"true" doc:"An account without a tenant, or a new one, which gets a mail with a link to set its password."`
	Currency   string       `json:"currency,omitempty" minLength:"3" maxLength:"3" doc:"The preferred currency. Required with plan_slug."`
	BillingFields
}

// ParseProvision returns the tenant of a request, with the validation errors of its fields.
func (h *AdminHTTP) ParseProvision(ctx context.Context, f ProvisionFields) (ProvisionedTenant, error) {
	p := ProvisionedTenant{
		ID: sqldb.NewID(), Name: f.Name, Slug: f.Slug, Currency: strings.ToUpper(f.Currency), ExternalID: f.ExternalID, Owner: f.Owner.newOwner(),
	}
	if p.Currency == "" {
		p.Currency = DefaultCurrency
	}
	metadata, tooLarge := mergeMetadata(noMetadata(), shape.Opt[shape.Object]{Set: len(f.Metadata) > 0, Value: f.Metadata})
	p.Metadata = metadata
	wrongNumber := h.svc.applyBilling(f.dropInvalidVATNumber(ctx), &p.Billing)
	return p, fault.Join(tooLarge, wrongNumber)
}

// CreatedResponse returns the response for a tenant that was created.
func (h *AdminHTTP) CreatedResponse(ctx context.Context, id uuid.UUID) (*rest.Data[AdminTenant], error) {
	e, err := h.svc.AdminGet(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := h.view(ctx, e)
	return rest.OKMessage(v, actionCreated), err
}
