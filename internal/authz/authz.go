// Package authz knows who makes a request and what they may do. The caller is looked up
// once per request, as the database has them at that moment, so that revoking a token or
// a permission works from the next request on.
package authz

import (
	"context"
	"slices"

	"github.com/google/uuid"
)

// The permissions that a role in a tenant can hold (rules: team#permissions).
const (
	APIKeysManage = "api_keys.manage" // of the platform too
	AuditView     = "audit.view"
	TenantUpdate  = "tenant.update"
	BillingManage = "billing.manage"
	TeamManage    = "team.manage"
	TeamInvite    = "team.invite"
	RolesManage   = "roles.manage"

	WebhooksManage = "webhooks.manage" // of the platform too
)

// The permissions of a platform admin for what is not the catalog (rules:
// http#permissions-of-administrators).
const (
	CurrenciesManage   = "currencies.manage"
	ImpersonationStart = "impersonation.start"
	LogsView           = "logs.view"
	MetersManage       = "meters.manage"
	TenantsManage      = "tenants.manage"
	TenantsView        = "tenants.view"
	UsersPassword      = "users.password"
)

// TenantPermissions returns all permissions that a role can hold, sorted.
func TenantPermissions() []string {
	return []string{APIKeysManage, AuditView, BillingManage, RolesManage, TeamInvite, TeamManage, TenantUpdate, WebhooksManage}
}

// PlatformPermissions returns all permissions that a platform admin can hold,
// sorted (rules: account#platform-admins).
func PlatformPermissions() []string {
	return []string{
		APIKeysManage,
		BillingManage,
		CurrenciesManage,
		"entitlements.delete", "entitlements.sync", "entitlements.view",
		"features.create", "features.delete", "features.update", "features.view",
		ImpersonationStart,
		LogsView,
		MetersManage,
		"plans.create", "plans.delete", "plans.update", "plans.view",
		"products.create", "products.delete", "products.update", "products.view",
		RolesManage,
		TenantsManage,
		TenantsView,
		"users.create",
		UsersPassword,
		WebhooksManage,
	}
}

// Caller is the authenticated user, or API key, behind a request.
type Caller struct {
	UserID     int64
	Name       string
	Email      string
	AvatarHash *string // nil without a picture
	Locale     *string // nil where none was chosen
	// EmailVerified says that somebody has proved the email to be theirs.
	EmailVerified   bool
	IsPlatformAdmin bool
	// PlatformPermissions are those that a platform admin holds; empty for others.
	PlatformPermissions []string
	// TokenID is the access token that authenticated the request, Family the
	// login that it descends from.
	TokenID uuid.UUID
	Family  uuid.UUID
	// Tenant is the caller's own tenant, nil for a caller without one.
	Tenant *Membership
	// Key is the API key that the request was made with. There is no user then: UserID is
	// 0, Name is the key's, and what the key opens is in its scopes. Nil for a user.
	Key *Key
	// Impersonator is the platform admin behind the caller, nil for a caller who
	// acts for themselves (rules:
	// impersonation#sessions).
	Impersonator *Impersonator
	// Reload authenticates the caller again and repeats the guards and the permission check of
	// the route. The HTTP layer sets it; nil outside of a request. Recheck calls it.
	Reload func(ctx context.Context) (*Caller, error)
}

// Impersonator is a platform admin who acts as somebody else.
type Impersonator struct {
	UserID int64
	Name   string
	// Ended says that the impersonation has ended and only waits to be stopped.
	Ended bool
}

// Source is where a request came from, as trails record it.
type Source struct {
	IP        string
	UserAgent string
}

// Membership is the caller's place in their tenant.
type Membership struct {
	TenantID           uuid.UUID
	TenantName         string
	Role               string
	Permissions        []string
	OnboardingComplete bool
}

// Can reports whether the caller's role in their tenant holds a permission.
func (c *Caller) Can(permission string) bool {
	return c.Tenant != nil && slices.Contains(c.Tenant.Permissions, permission)
}

// CanOnPlatform reports whether the caller holds a permission as platform admin.
func (c *Caller) CanOnPlatform(permission string) bool {
	return c.IsPlatformAdmin && slices.Contains(c.PlatformPermissions, permission)
}

type key struct{}

// With returns a context that carries the caller.
func With(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// FromContext returns the caller, nil on public routes.
func FromContext(ctx context.Context) *Caller {
	c, _ := ctx.Value(key{}).(*Caller)
	return c
}

// Recheck reads the credential, the membership and the permissions of the caller of ctx again, in
// the transaction of ctx if there is one. It returns the refusal of the route if they no longer
// suffice; otherwise it updates the caller. Outside of a request it does nothing.
//
// Invariant: a change that outlives its request calls Recheck under the lock of the tenant (or of
// the user) that it belongs to, so a right that was taken away before the lock no longer acts.
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

// TenantID returns the id of the caller's tenant. It panics where there is none, which
// cannot happen on routes with a tenant guard.
func TenantID(ctx context.Context) uuid.UUID { return FromContext(ctx).Tenant.TenantID }

type sourceKey struct{}

// WithSource returns a context that carries where its request came from.
func WithSource(ctx context.Context, s Source) context.Context {
	return context.WithValue(ctx, sourceKey{}, s)
}

// SourceOf returns where the request of ctx came from; it is empty for background work.
func SourceOf(ctx context.Context) Source {
	s, _ := ctx.Value(sourceKey{}).(Source)
	return s
}
