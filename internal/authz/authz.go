// Package authz describes the caller of a request and their permissions. The caller is read from
// the database once per request, so revoking a token or a permission takes effect with the next
// request.
package authz

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// The permissions of roles in a tenant (rules: team#permissions).
const (
	APIKeysManage = "api_keys.manage" // also a platform permission
	AuditView     = "audit.view"
	TenantUpdate  = "tenant.update"
	BillingManage = "billing.manage"
	TeamManage    = "team.manage"
	TeamInvite    = "team.invite"
	RolesManage   = "roles.manage"
	SSOManage     = "sso.manage"

	WebhooksManage = "webhooks.manage" // also a platform permission
)

// The permissions of platform admins, except the permissions for the catalog (rules:
// http#permissions-of-administrators).
const (
	BillingCredit      = "billing.credit"
	CurrenciesManage   = "currencies.manage"
	ImpersonationStart = "impersonation.start"
	LimitsManage       = "limits.manage"
	LogsView           = "logs.view"
	MetersManage       = "meters.manage"
	// SubscriptionsManage allows creating and changing subscriptions of tenants.
	SubscriptionsManage = "subscriptions.manage"
	RatesManage         = "rates.manage"
	TenantsManage       = "tenants.manage"
	TenantsView         = "tenants.view"
	UsersPassword       = "users.password"
)

// TenantPermissions returns all permissions of roles in a tenant, sorted.
func TenantPermissions() []string {
	return []string{APIKeysManage, AuditView, BillingManage, RolesManage, SSOManage, TeamInvite, TeamManage, TenantUpdate, WebhooksManage}
}

// PlatformPermissions returns all permissions of platform admins, sorted (rules:
// account#platform-admins).
func PlatformPermissions() []string {
	return []string{
		APIKeysManage,
		BillingCredit,
		BillingManage,
		CurrenciesManage,
		"entitlements.delete", "entitlements.sync", "entitlements.view",
		"features.create", "features.delete", "features.update", "features.view",
		ImpersonationStart,
		LimitsManage,
		LogsView,
		MetersManage,
		"plans.create", "plans.delete", "plans.update", "plans.view",
		"products.create", "products.delete", "products.update", "products.view",
		RatesManage,
		RolesManage,
		SubscriptionsManage,
		TenantsManage,
		TenantsView,
		"users.create",
		UsersPassword,
		WebhooksManage,
	}
}

// Caller is the authenticated user or API key of a request.
type Caller struct {
	UserID     int64
	Name       string
	Email      string
	AvatarHash *string // nil without an avatar
	Locale     *string // nil if the user has not chosen one
	// EmailVerified means that the user has proved ownership of the email.
	EmailVerified   bool
	IsPlatformAdmin bool
	// SSORequired means that the tenant requires single sign-on for the caller's email, but the caller
	// did not log in through the tenant's connection.
	SSORequired bool
	// PlatformPermissions are the permissions of a platform admin; empty for other users.
	PlatformPermissions []string
	// TokenID is the credential that authenticated the request. Family is the login that it belongs
	// to.
	TokenID uuid.UUID
	Family  uuid.UUID
	// HasFactor means that the user has a second factor. FactorPassed means that the login passed
	// two factors, used a passkey with user verification, or enrolled a factor. Methods are the
	// methods of the login (Password and others).
	HasFactor    bool
	FactorPassed bool
	Methods      []string
	// Tenant is the caller's tenant, or nil.
	Tenant *Membership
	// Key is the API key of the request, or nil for a user. Requests with a key act without a user:
	// UserID is 0, Name is the name of the key, and its scopes determine its access.
	Key *Key
	// Impersonator is the platform admin who impersonates the user, or nil (rules:
	// impersonation#sessions).
	Impersonator *Impersonator
	// Reload authenticates the caller again and repeats the guards and the permission check of the
	// route. The HTTP layer sets it; outside of a request it is nil. See Recheck.
	Reload func(ctx context.Context) (*Caller, error)
}

// Impersonator is a platform admin who impersonates a user.
type Impersonator struct {
	UserID int64
	Name   string
	// Reason is the reason that the admin gave, or nil. ReadOnly limits the impersonation to
	// requests that read.
	Reason   *string
	ReadOnly bool
	// Ended means that the impersonation has ended but was not stopped yet. EndLogged means that its
	// end is in the log.
	Ended, EndLogged bool
	// EndsAt is when the impersonation ends unless it is stopped earlier.
	EndsAt time.Time
}

// Source is the origin of a request, as recorded in audit logs.
type Source struct {
	IP        string
	UserAgent string
}

// Membership is the caller's membership in their tenant.
type Membership struct {
	TenantID           uuid.UUID
	TenantName         string
	Role               string
	Permissions        []string
	OnboardingComplete bool
	// FactorMissing means that the tenant requires a second factor, and the user lacks one.
	FactorMissing bool
}

// The methods of a login, with the names of RFC 8176 where it defines them.
const (
	Password     = "pwd"
	OAuth        = "oauth"
	Email        = "email"
	SSO          = "sso"
	TOTP         = "otp"
	Passkey      = "passkey"
	RecoveryCode = "recovery_code"
)

// CountsAsFactor reports whether the caller logged in through the tenant's single sign-on, and the
// login counts as two factors. A login that asked for another factor does not count.
func (c *Caller) CountsAsFactor() bool {
	return c.FactorPassed && slices.Equal(c.Methods, []string{SSO})
}

// Can reports whether the caller's role in their tenant has a permission.
func (c *Caller) Can(permission string) bool {
	return c.Tenant != nil && slices.Contains(c.Tenant.Permissions, permission)
}

// CanOnPlatform reports whether the caller is a platform admin with a permission.
func (c *Caller) CanOnPlatform(permission string) bool {
	return c.IsPlatformAdmin && slices.Contains(c.PlatformPermissions, permission)
}

// ActsForPlatform reports whether the caller is a platform admin, even while impersonating a
// member, or a platform key.
func (c *Caller) ActsForPlatform() bool {
	return c.IsPlatformAdmin || c.Impersonator != nil || c.Key != nil && c.Key.Platform
}

type key struct{}

// With returns a context that carries the caller.
func With(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// FromContext returns the caller, or nil on public routes.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(key{}).(*Caller)
	return c
}

// Recheck reads the credential, the membership and the permissions of the caller of ctx again, in
// the transaction of ctx if there is one, and updates the caller. It returns the error of the route
// if the permissions no longer suffice. Outside of a request it does nothing.
//
// Invariant: a change that outlives its request calls Recheck under the lock of the tenant or user
// that it belongs to, so a permission that was revoked before the lock no longer applies.
func Recheck(ctx context.Context) error {
	c := FromContext(ctx)
	if c == nil || c.Reload == nil {
		return nil
	}
	current, err := c.Reload(ctx)
	if err != nil {
		return err
	}
	reload := c.Reload
	*c = *current
	c.Reload = reload
	return nil
}

// TenantID returns the ID of the caller's tenant. It panics for a caller without a tenant, which
// cannot happen on routes with a tenant guard.
func TenantID(ctx context.Context) uuid.UUID { return FromContext(ctx).Tenant.TenantID }

type sourceKey struct{}

// WithSource returns a context that carries the source of its request.
func WithSource(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// SourceOf returns the source of the request of ctx, which is empty for background jobs.
func SourceOf(ctx context.Context) Source {
	s, _ := ctx.Value(sourceKey{}).(Source)
	return s
}
