package authz

import (
	"slices"

	"github.com/google/uuid"
)

// The format of API key secrets, which distinguishes them from access tokens.
const (
	KeyPrefix = "tnk_"
	KeyLength = len(KeyPrefix) + 48
)

// The scopes of API keys. Each route requires one of them (rules: api-keys#scopes).
const (
	EntitlementsRead = "entitlements.read"
	InvoicesRead     = "invoices.read"
	SubscriptionRead = "subscription.read"
	TeamRead         = "team.read"
	TenantsRead      = "tenants.read" // only for platform keys
	UsageRead        = "usage.read"
	UsageWrite       = "usage.write"
)

// TenantScopes returns the scopes of tenant keys, sorted.
func TenantScopes() []string {
	return []string{EntitlementsRead, InvoicesRead, SubscriptionRead, TeamRead, UsageRead, UsageWrite}
}

// PlatformScopes returns the scopes of platform keys, sorted.
func PlatformScopes() []string {
	return []string{EntitlementsRead, InvoicesRead, SubscriptionRead, TeamRead, TenantsRead, UsageRead, UsageWrite}
}

// TenantPermissionOf returns the permission that a member needs for all routes of a scope. It
// returns "" if every member can use them.
func TenantPermissionOf(scope string) string {
	if scope == InvoicesRead { // it includes the credit
		return BillingManage
	}
	return ""
}

// PlatformPermissionOf returns the permission that a platform admin needs for a scope, for any
// tenant.
func PlatformPermissionOf(scope string) string {
	if scope == UsageWrite {
		return TenantsManage
	}
	return TenantsView
}

// Key is the API key of a request.
type Key struct {
	ID       uuid.UUID
	Scopes   []string
	Platform bool // acts for the tenant in the request path
}

// HasScope reports whether the key has a scope. No key has the empty scope.
func (k *Key) HasScope(scope string) bool { return scope != "" && slices.Contains(k.Scopes, scope) }
