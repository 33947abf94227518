package account

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// HTTP has the handlers of accounts.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// SessionTenant is a tenant in the answer of a login.
type SessionTenant struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Slug string    `json:"slug"`
}

// SessionUser is the user in the answer of a login.
type SessionUser struct {
	ID              int64           `json:"id"`
	Name            string          `json:"name"`
	Email           string          `json:"email"`
	IsPlatformAdmin bool            `json:"is_platform_admin"`
	Tenants         []SessionTenant `json:"tenants"`
}

// Session is the answer of login and register, printed without data (spec:
// Authentication and account endpoints).
type Session struct {
	User         SessionUser `json:"user"`
	AccessToken  string      `json:"accessToken"`
	RefreshToken string      `json:"refreshToken"`
}

type registerInput struct {
	Body struct {
		Name                 string `json:"name" maxLength:"255"`
		Email                string `json:"email" format:"email" maxLength:"255"`
		Password             string `json:"password" format:"password" minLength:"8" maxLength:"1024"`
		PasswordConfirmation string `json:"password_confirmation" format:"password"`
		TenantName           string `json:"tenant_name,omitempty" maxLength:"255"`
		CreateTenant         *bool  `json:"create_tenant,omitempty" doc:"Default true; false for a user who is going to accept an invitation."`
	}
}

// Register handles POST /auth/register.
func (h *HTTP) Register(ctx context.Context, in *registerInput) (*rest.Plain[Session], error) {
	user, tokens, err := h.svc.Register(ctx, Registration{
		Name: in.Body.Name, Email: in.Body.Email, Password: in.Body.Password,
		TenantName:    in.Body.TenantName,
		WithoutTenant: in.Body.CreateTenant != nil && !*in.Body.CreateTenant,
	})
	if err != nil {
		return nil, err
	}
	return h.session(ctx, user, tokens)
}

type loginInput struct {
	Body struct {
		Email          string `json:"email" maxLength:"255"`
		Password       string `json:"password" format:"password" maxLength:"1024"`
		Remember       bool   `json:"remember,omitempty"`
		RevokePrevious bool   `json:"revoke_previous,omitempty"`
	}
}

// Login handles POST /auth/login.
func (h *HTTP) Login(ctx context.Context, in *loginInput) (*rest.Plain[Session], error) {
	user, tokens, err := h.svc.Login(ctx, in.Body.Email, in.Body.Password, in.Body.RevokePrevious)
	if err != nil {
		return nil, err
	}
	return h.session(ctx, user, tokens)
}

func (h *HTTP) session(ctx context.Context, user User, tokens Tokens) (*rest.Plain[Session], error) {
	memberships, err := h.svc.Memberships(ctx, user.ID)
	if err != nil {
		return nil, err
	}
	tenants := make([]SessionTenant, len(memberships))
	for i, m := range memberships {
		tenants[i] = SessionTenant{ID: m.TenantID, Name: m.Name, Slug: m.Slug}
	}
	return rest.Bare(Session{
		User: SessionUser{
			ID: user.ID, Name: user.Name, Email: user.Email,
			IsPlatformAdmin: user.IsPlatformAdmin, Tenants: tenants,
		},
		AccessToken: tokens.Access, RefreshToken: tokens.Refresh,
	}), nil
}

// ProfileTenant is a tenant in the profile.
type ProfileTenant struct {
	ID                    uuid.UUID  `json:"id"`
	Name                  string     `json:"name"`
	UserRole              string     `json:"user_role"`
	HasActiveSubscription bool       `json:"has_active_subscription"`
	HasBillingDetails     bool       `json:"has_billing_details"`
	OnboardingCompletedAt *rest.Time `json:"onboarding_completed_at"`
}

// ProfileUser is the user in the profile.
type ProfileUser struct {
	ID              int64           `json:"id"`
	Name            string          `json:"name"`
	Email           string          `json:"email"`
	IsPlatformAdmin bool            `json:"is_platform_admin"`
	Avatar          *string         `json:"avatar"`
	Roles           []string        `json:"roles"`
	Permissions     []string        `json:"permissions"`
	Tenants         []ProfileTenant `json:"tenants"`
}

// CurrentTenant names the caller's tenant.
type CurrentTenant struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// Profile is the answer of GET /auth/me.
type Profile struct {
	User          ProfileUser    `json:"user"`
	CurrentTenant *CurrentTenant `json:"currentTenant"`
}

// Me handles GET /auth/me. permissions are those of the caller's role, plus the
// platform's for a platform admin.
func (h *HTTP) Me(ctx context.Context, _ *struct{}) (*rest.Plain[Profile], error) {
	caller := authz.From(ctx)
	memberships, err := h.svc.Memberships(ctx, caller.UserID)
	if err != nil {
		return nil, err
	}
	profile := Profile{User: ProfileUser{
		ID: caller.UserID, Name: caller.Name, Email: caller.Email, IsPlatformAdmin: caller.IsPlatformAdmin,
		Permissions: permissionsOf(caller),
	}}
	for _, m := range memberships {
		profile.User.Roles = append(profile.User.Roles, m.Role)
		profile.User.Tenants = append(profile.User.Tenants, ProfileTenant{
			ID: m.TenantID, Name: m.Name, UserRole: m.Role,
			HasActiveSubscription: m.HasActiveSubscription, HasBillingDetails: m.HasBillingDetails,
			OnboardingCompletedAt: rest.TP(m.OnboardingCompletedAt),
		})
	}
	if caller.Tenant != nil {
		profile.CurrentTenant = &CurrentTenant{ID: caller.Tenant.TenantID, Name: caller.Tenant.TenantName}
	}
	return rest.Bare(profile), nil
}

func permissionsOf(caller *authz.Caller) []string {
	permissions := slices.Clone(caller.PlatformPermissions)
	if caller.Tenant != nil {
		permissions = append(permissions, caller.Tenant.Permissions...)
	}
	slices.Sort(permissions)
	return slices.Compact(permissions)
}
