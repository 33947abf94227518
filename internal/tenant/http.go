package tenant

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Person is a user in the view of a tenant.
type Person struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// TenantView is the tenant resource for its members.
type TenantView struct {
	ID                    uuid.UUID    `json:"id"`
	Name                  string       `json:"name"`
	Slug                  string       `json:"slug"`
	ExternalID            *string      `json:"external_id" doc:"ID of the tenant in the operator's system. Only the admin API changes it. Null if not set."`
	Metadata              shape.Object `json:"metadata" doc:"Data of the operator's backend. Only the admin API changes it."`
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
	VATStatus             string       `json:"vat_status" enum:"none,pending,valid,invalid,unknown" doc:"Result of the VAT number check."`
	VATName               *string      `json:"vat_name" doc:"Registered name of the business. Null unless the VAT number is valid."`
	BillingEmail          *string      `json:"billing_email"`
	OnboardingCompletedAt *shape.Time  `json:"onboarding_completed_at"`
	RequireMFA            bool         `json:"require_mfa" doc:"Whether members need a second factor."`
	RequireMFAFrom        *string      `json:"require_mfa_from" format:"date" doc:"First day, in UTC, on which members need a second factor. Null if none is required."`
	CreatedAt             shape.Time   `json:"created_at"`
	UpdatedAt             shape.Time   `json:"updated_at"`

	total int64 // number of members if Users is truncated, else 0
}

// shownMembers is the maximum number of members in the view of a tenant, ordered by join time. The
// team's list contains all members.
const shownMembers = 1000

// totalHeader is the response header with the number of members of a tenant whose list of users is
// truncated.
const totalHeader = "X-Users-Total"

// View returns the view of a tenant for the caller of ctx. Without a caller, the caller-specific
// fields are empty.
func (s *Service) View(ctx context.Context, t Tenant) (TenantView, error) {
	members, err := s.store.firstMembers(ctx, t.ID, shownMembers+1)
	if err != nil {
		return TenantView{}, err
	}
	caller := authz.FromContext(ctx)
	shown, total := members, int64(0)
	if len(members) > shownMembers {
		if total, err = s.CountMembers(ctx, t.ID); err != nil {
			return TenantView{}, err
		}
		var userID int64
		if caller != nil {
			userID = caller.UserID
		}
		// Include the owner and the caller even if the list is truncated before them.
		if members, err = s.store.ownerAndMember(ctx, t.ID, userID); err != nil {
			return TenantView{}, err
		}
		shown = shown[:shownMembers]
	}
	active, err := s.deps.Subscriptions.HasActive(ctx, t.ID)
	if err != nil {
		return TenantView{}, err
	}
	v := TenantView{
		ID: t.ID, Name: t.Name, Slug: t.Slug, ExternalID: t.ExternalID, Metadata: shape.Object(t.Metadata), Settings: shape.Object(t.Settings),
		HasActiveSubscription: active, HasBillingDetails: t.Billing.Complete(), PreferredCurrency: t.PreferredCurrency,
		LegalName: t.Billing.LegalName, Address: t.Billing.Address, City: t.Billing.City,
		PostalCode: t.Billing.PostalCode, Country: t.Billing.Country, VATNumber: t.Billing.VATNumber,
		VATStatus: t.VAT.Status, VATName: t.VAT.Name,
		BillingEmail: t.Billing.BillingEmail, OnboardingCompletedAt: shape.TP(t.OnboardingCompletedAt),
		RequireMFA: t.FactorFrom != nil, RequireMFAFrom: dayText(t.FactorFrom),
		CreatedAt: shape.T(t.CreatedAt), UpdatedAt: shape.T(t.UpdatedAt), total: total,
	}
	for _, m := range shown {
		v.Users = append(v.Users, newPerson(m))
	}
	for _, m := range members {
		if m.Role == BuiltInOwner && v.Owner == nil {
			owner := newPerson(m)
			v.Owner = &owner
		}
		if caller != nil && m.UserID == caller.UserID {
			v.UserJoinedAt, v.UserRole = shape.TP(&m.JoinedAt), &m.Role
			v.UserPermissions = permissionsOf(caller, m.Role)
		}
	}
	return v, nil
}

// Show is like View, for a response. If the list of members is truncated, Show sets the header with
// the number of members.
func (s *Service) Show(ctx context.Context, t Tenant) (TenantView, error) {
	v, err := s.View(ctx, t)
	if v.total > 0 {
		rest.RequestOf(ctx).SetHeader(totalHeader, strconv.FormatInt(v.total, 10))
	}
	return v, err
}

func newPerson(m Member) Person { return Person{ID: m.UserID, Name: m.Name, Email: m.Email} }

// permissionsOf returns the caller's permissions in their tenant. In the request that creates the
// tenant, caller.Tenant is not set yet, and the owner has all permissions.
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

// HTTP has the handlers for tenants.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// Show handles GET /tenant.
func (h *HTTP) Show(ctx context.Context, _ *struct{}) (*rest.Data[TenantView], error) {
	t, err := h.svc.Get(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	v, err := h.svc.Show(ctx, t)
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

// Create handles POST /tenants. The caller must not belong to a tenant, and becomes the owner.
func (h *HTTP) Create(ctx context.Context, in *createInput) (*rest.Data[TenantView], error) {
	id, err := h.svc.Create(ctx, authz.FromContext(ctx).UserID, in.Body.Name)
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
