package domain

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// HTTP implements the handlers for domains.
type HTTP struct {
	svc *Service
	// plan rejects a tenant whose plan does not include single sign-on.
	plan func(ctx context.Context, tenantID uuid.UUID) error
}

// NewHTTP returns the handlers. plan rejects changes by a tenant whose plan does not allow them.
func NewHTTP(svc *Service, plan func(ctx context.Context, tenantID uuid.UUID) error) *HTTP {
	return &HTTP{svc: svc, plan: plan}
}

// VerificationRecord is the DNS record that proves control of a domain.
type VerificationRecord struct {
	Type  string `json:"type" example:"TXT" doc:"Type of the record. Always TXT."`
	Name  string `json:"name" example:"_tenantry.example.com" doc:"Name of the record."`
	Value string `json:"value" example:"tenantry-verification=mfrggzdfmztwq2lknnwg23tpob" doc:"Value of the record. Different for each tenant."`
}

// TenantDomain is the domain resource.
type TenantDomain struct {
	ID                 uuid.UUID          `json:"id"`
	Domain             string             `json:"domain" example:"example.com" doc:"Name in lower case, as punycode."`
	Status             string             `json:"status" enum:"pending,verified,lost" doc:"Whether the domain is verified. A lost domain was verified before."`
	VerificationRecord VerificationRecord `json:"verification_record" doc:"DNS record that proves control of the domain."`
	AutoJoin           string             `json:"auto_join" enum:"off,on" doc:"Whether users with a verified email in the domain join the tenant."`
	Role               string             `json:"role" doc:"Role of users who join through the domain."`
	VerifiedAt         *shape.Time        `json:"verified_at" doc:"Time at which the domain was verified, in UTC. Null if it was not verified."`
	LastCheckedAt      *shape.Time        `json:"last_checked_at" doc:"Time of the last lookup of the record, in UTC. Null before the first one."`
	FailedChecks       int64              `json:"failed_checks" doc:"Number of failed daily checks in a row. After three, the domain is lost."`
}

func record(d Domain) VerificationRecord {
	return VerificationRecord{Type: "TXT", Name: recordName(d.Name), Value: recordValue(d.token)}
}

func autoJoinText(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func view(d Domain) TenantDomain {
	return TenantDomain{
		ID: d.ID, Domain: d.Name, Status: d.Status, VerificationRecord: record(d), AutoJoin: autoJoinText(d.AutoJoin), Role: d.Role,
		VerifiedAt: shape.TP(d.VerifiedAt), LastCheckedAt: shape.TP(d.LastCheckedAt), FailedChecks: d.FailedChecks,
	}
}

// MayCreate rejects a tenant whose plan does not allow new domains, before the body is validated.
func (h *HTTP) MayCreate(ctx context.Context, _ func(string) string) error {
	return h.plan(ctx, authz.TenantID(ctx))
}

// MayChange is like MayCreate, for a route with a domain in its path. It also rejects an unknown
// domain.
func (h *HTTP) MayChange(ctx context.Context, param func(string) string) error {
	if err := h.plan(ctx, authz.TenantID(ctx)); err != nil {
		return err
	}
	id, err := shape.ParseID(param("domain"))
	if err != nil {
		return err
	}
	_, err = h.svc.Get(ctx, authz.TenantID(ctx), id)
	return err
}

// List handles GET /domains.
func (h *HTTP) List(ctx context.Context, _ *struct{}) (*rest.Data[[]TenantDomain], error) {
	domains, err := h.svc.List(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	views := make([]TenantDomain, len(domains))
	for i, d := range domains {
		views[i] = view(d)
	}
	return rest.OK(views), nil
}

type createInput struct {
	Body struct {
		Domain string `json:"domain" minLength:"1" maxLength:"255" example:"example.com" doc:"Registrable domain or a subdomain of one."`
	}
}

// Create handles POST /domains.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[TenantDomain], error) {
	return show(h.svc.Create(ctx, authz.TenantID(ctx), in.Body.Domain))
}

func show(d Domain, err error) (*rest.Data[TenantDomain], error) {
	if err != nil {
		return nil, err
	}
	return rest.OK(view(d)), nil
}

type domainInput struct {
	Domain string `path:"domain"`
}

// Verify handles POST /domains/{domain}/verify.
func (h *HTTP) Verify(ctx context.Context, in *domainInput) (*rest.Data[TenantDomain], error) {
	id, err := shape.ParseID(in.Domain)
	if err != nil {
		return nil, err
	}
	return show(h.svc.Verify(ctx, authz.TenantID(ctx), id))
}

type updateInput struct {
	Domain string `path:"domain"`
	Body   struct {
		AutoJoin *string `json:"auto_join,omitempty" enum:"off,on" doc:"Whether users without a tenant join at their next login, if their email is verified and in the domain."`
		Role     *string `json:"role,omitempty" maxLength:"255" doc:"Name of an assignable role."`
	}
}

// CheckUpdate is the check that rest.Checks runs for Update.
func (h *HTTP) CheckUpdate(ctx context.Context, in *updateInput) error {
	return h.svc.checkRole(ctx, authz.TenantID(ctx), in.Body.Role)
}

// Update handles PATCH /domains/{domain}.
func (h *HTTP) Update(ctx context.Context, in *updateInput) (*rest.Data[TenantDomain], error) {
	id, err := shape.ParseID(in.Domain)
	if err != nil {
		return nil, err
	}
	c := Change{Role: in.Body.Role}
	if in.Body.AutoJoin != nil {
		on := *in.Body.AutoJoin == autoJoinText(true)
		c.AutoJoin = &on
	}
	return show(h.svc.Update(ctx, authz.TenantID(ctx), id, c))
}

// Delete handles DELETE /domains/{domain}.
func (h *HTTP) Delete(ctx context.Context, in *domainInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Domain)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.Delete(ctx, authz.TenantID(ctx), id)
}
