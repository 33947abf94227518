package tenant

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Person is a user as a tenant shows them.
type Person struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// TenantView is the tenant resource for one of its members.
type TenantView struct {
	ID                    uuid.UUID    `json:"id"`
	Name                  string       `json:"name"`
	Slug                  string       `json:"slug"`
	Settings              shape.Object `json:"settings" nullable:"true"`
	Owner                 *Person      `json:"owner"`
	Users                 []Person     `json:"users"`
	UserJoinedAt          *shape.Time  `json:"user_joined_at"`
	UserRole              *string      `json:"user_role"`
	UserPermissions       []string     `json:"user_permissions"`
	HasActiveSubscription bool         `json:"has_active_subscription"`
	HasBillingDetails     bool         `json:"has_billing_details"`
	PreferredCurrency     string       `json:"preferred_currency"`
	LegalName             *string      `json:"legal_name"`
	Address               *string      `json:"address"`
	City                  *string      `json:"city"`
	PostalCode            *string      `json:"postal_code"`
	Country               *string      `json:"country"`
	VATNumber             *string      `json:"vat_number"`
	BillingEmail          *string      `json:"billing_email"`
	OnboardingCompletedAt *shape.Time  `json:"onboarding_completed_at"`
	CreatedAt             shape.Time   `json:"created_at"`
	UpdatedAt             shape.Time   `json:"updated_at"`
}

// View returns a tenant as the caller of ctx sees it; without a caller, what concerns them
// alone is empty.
func (s *Service) View(ctx context.Context, t Tenant) (TenantView, error) {
	members, err := s.Members(ctx, t.ID)
	if err != nil {
		return TenantView{}, err
	}
	active, err := s.deps.Subscriptions.HasActive(ctx, t.ID)
	if err != nil {
		return TenantView{}, err
	}
	v := TenantView{
		ID: t.ID, Name: t.Name, Slug: t.Slug, Settings: shape.Object(t.Settings),
		HasActiveSubscription: active, HasBillingDetails: t.Billing.Complete(), PreferredCurrency: t.PreferredCurrency,
		LegalName: t.Billing.LegalName, Address: t.Billing.Address, City: t.Billing.City,
		PostalCode: t.Billing.PostalCode, Country: t.Billing.Country, VATNumber: t.Billing.VATNumber,
		BillingEmail: t.Billing.BillingEmail, OnboardingCompletedAt: shape.TP(t.OnboardingCompletedAt),
		CreatedAt: shape.T(t.CreatedAt), UpdatedAt: shape.T(t.UpdatedAt),
	}
	caller := authz.From(ctx)
	for _, m := range members {
		person := Person{ID: m.UserID, Name: m.Name, Email: m.Email}
		v.Users = append(v.Users, person)
		if m.Role == BuiltInOwner && v.Owner == nil {
			v.Owner = &person
		}
		if caller != nil && m.UserID == caller.UserID {
			v.UserJoinedAt, v.UserRole = shape.TP(&m.JoinedAt), &m.Role
			v.UserPermissions = permissionsOf(caller, m.Role)
		}
	}
	return v, nil
}

// permissionsOf returns the caller's permissions in their tenant. A caller whose tenant
// was made by the same request is not known as its owner yet, but has all of them.
func permissionsOf(caller *authz.Caller, role string) []string {
	switch {
	case caller.Tenant != nil:
		return caller.Tenant.Permissions
	case role == BuiltInOwner:
		return authz.TenantPermissions()
	default:
		return nil
	}
}

// HTTP has the handlers of tenants.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// Show handles GET /tenant.
func (h *HTTP) Show(ctx context.Context, _ *struct{}) (*rest.Data[TenantView], error) {
	t, err := h.svc.Get(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	v, err := h.svc.View(ctx, t)
	if err != nil {
		return nil, err
	}
	return rest.OK(v), nil
}

type createInput struct {
	Body struct {
		Name string `json:"name" format:"name" maxLength:"255"`
	}
}

// Create handles POST /tenants. The caller, who must not have a tenant, becomes its
// owner.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[TenantView], error) {
	id, err := h.svc.Create(ctx, authz.From(ctx).UserID, in.Body.Name)
	if err != nil {
		return nil, err
	}
	t, err := h.svc.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	v, err := h.svc.View(ctx, t)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(v, "tenant.created"), nil
}
