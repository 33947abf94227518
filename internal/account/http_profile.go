package account

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// profileTenant is a tenant in the profile.
type profileTenant struct {
	ID                    uuid.UUID   `json:"id"`
	Name                  string      `json:"name"`
	UserRole              string      `json:"user_role"`
	HasActiveSubscription bool        `json:"has_active_subscription"`
	SubscriptionStatus    *string     `json:"subscription_status" doc:"Status of the subscription. Null without a subscription."`
	PlanName              *string     `json:"plan_name" doc:"Name of the plan of the subscription, or of the default plan. Null without either."`
	HasBillingDetails     bool        `json:"has_billing_details"`
	OnboardingCompletedAt *shape.Time `json:"onboarding_completed_at"`
}

// ProfileUser is the user in the profile.
type ProfileUser struct {
	ID              int64           `json:"id"`
	Name            string          `json:"name"`
	Email           string          `json:"email"`
	IsPlatformAdmin bool            `json:"is_platform_admin"`
	Avatar          *string         `json:"avatar"`
	EmailVerified   bool            `json:"email_verified"`
	Locale          *string         `json:"locale" enum:"en,fr,es,it" doc:"Language of emails to the user. Null if not set."`
	Roles           []string        `json:"roles"`
	Permissions     []string        `json:"permissions"`
	Tenants         []profileTenant `json:"tenants"`
}

// currentTenant is the caller's tenant.
type currentTenant struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// ProfileImpersonation describes the admin who impersonates the caller.
type ProfileImpersonation struct {
	IsImpersonating  bool    `json:"is_impersonating"`
	ImpersonatorID   int64   `json:"impersonator_id"`
	ImpersonatorName *string `json:"impersonator_name"`

	Reason    *string    `json:"reason" doc:"Reason of the impersonation. Null if none was given."`
	ReadOnly  bool       `json:"read_only" doc:"Whether the impersonation only reads: requests with other methods than GET and HEAD are rejected."`
	ExpiresAt shape.Time `json:"expires_at" doc:"Time at which the impersonation ends, in UTC."`
}

// ImpersonationOf returns the impersonation of the caller, or nil if the caller is not
// impersonated.
func ImpersonationOf(caller *authz.Caller) *ProfileImpersonation {
	if caller.Impersonator == nil {
		return nil
	}
	return &ProfileImpersonation{
		IsImpersonating: true, ImpersonatorID: caller.Impersonator.UserID, ImpersonatorName: &caller.Impersonator.Name,
		Reason: caller.Impersonator.Reason, ReadOnly: caller.Impersonator.ReadOnly, ExpiresAt: shape.T(caller.Impersonator.EndsAt),
	}
}

// Profile is the response of GET /auth/me. Impersonation is only present while impersonating.
type Profile struct {
	User          ProfileUser           `json:"user"`
	CurrentTenant *currentTenant        `json:"currentTenant"`
	Impersonation *ProfileImpersonation `json:"impersonation,omitempty"`
}

// Me handles GET /auth/me. The permissions are the union of the role's permissions and, for a
// platform admin, the platform permissions.
func (h *HTTP) Me(ctx context.Context, _ *struct{}) (*rest.Body[Profile], error) {
	caller := authz.FromContext(ctx)
	user, err := h.ProfileOf(ctx, caller)
	if err != nil {
		return nil, err
	}
	profile := Profile{User: user}
	if caller.Tenant != nil {
		profile.CurrentTenant = &currentTenant{ID: caller.Tenant.TenantID, Name: caller.Tenant.TenantName}
	}
	profile.Impersonation = ImpersonationOf(caller)
	return rest.NewBody(profile), nil
}

// ProfileOf returns the profile of a caller.
func (h *HTTP) ProfileOf(ctx context.Context, caller *authz.Caller) (ProfileUser, error) {
	memberships, err := h.svc.Memberships(ctx, caller.UserID)
	if err != nil {
		return ProfileUser{}, err
	}
	user := ProfileUser{
		ID: caller.UserID, Name: caller.Name, Email: caller.Email, IsPlatformAdmin: caller.IsPlatformAdmin,
		Avatar: h.avatars.URL(caller.AvatarHash), EmailVerified: caller.EmailVerified, Locale: caller.Locale,
		Permissions: permissionsOf(caller),
	}
	for _, m := range memberships {
		user.Roles = append(user.Roles, m.Role)
		tenant := profileTenant{
			ID: m.TenantID, Name: m.Name, UserRole: m.Role,
			HasActiveSubscription: m.HasActiveSubscription, HasBillingDetails: m.HasBillingDetails,
			OnboardingCompletedAt: shape.TP(m.OnboardingCompletedAt),
		}
		if m.SubscriptionStatus != "" {
			tenant.SubscriptionStatus = &m.SubscriptionStatus
		}
		if m.PlanName != nil {
			name := i18n.Pick(m.PlanName, i18n.Locale(ctx))
			tenant.PlanName = &name
		}
		user.Tenants = append(user.Tenants, tenant)
	}
	return user, nil
}

func permissionsOf(caller *authz.Caller) []string {
	permissions := slices.Clone(caller.PlatformPermissions)
	if caller.Tenant != nil {
		permissions = append(permissions, caller.Tenant.Permissions...)
	}
	slices.Sort(permissions)
	return slices.Compact(permissions)
}
