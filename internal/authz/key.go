package authz

import (
	"slices"

	"github.com/google/uuid"
)

// What a secret of an API key looks like, by which it is told from an access token.
const (
	KeyPrefix = "tnk_"
	KeyLength = len(KeyPrefix) + 48
)

// The scopes of API keys. Each route says which one opens it (rules: api-keys#scopes).
const (
	EntitlementsRead = "entitlements.read"
	InvoicesRead     = "invoices.read"
	SubscriptionRead = "subscription.read"
	TeamRead         = "team.read"
	TenantsRead      = "tenants.read" // for keys of the platform alone
	UsageRead        = "usage.read"
	UsageWrite       = "usage.write"
)

// TenantScopes returns the scopes that a key of a tenant can have, sorted.
func TenantScopes() []string {
	return []string{EntitlementsRead, InvoicesRead, SubscriptionRead, TeamRead, UsageRead, UsageWrite}
}

// PlatformScopes returns the scopes that a key of the platform can have, sorted.
func PlatformScopes() []string {
	return []string{EntitlementsRead, InvoicesRead, SubscriptionRead, TeamRead, TenantsRead, UsageRead, UsageWrite}
}

// TenantPermissionOf returns the permission that lets a member use every route of a scope in person;
// "" if every member can.
func TenantPermissionOf(scope string) string {
	if scope == InvoicesRead { // It opens the credit.
		return BillingManage
	}
	return ""
}

// PlatformPermissionOf returns the permission that lets a platform admin use a scope in person, on
// any tenant.
func PlatformPermissionOf(scope string) string {
	if scope == UsageWrite {
		return TenantsManage
	}
	return TenantsView
}

// Key is the API key that a request was made with, in place of a user.
type Key struct {
	ID       uuid.UUID
	Scopes   []string
	Platform bool // it speaks for whichever tenant the path names
}

// HasScope reports whether the key has a scope.
func (k *Key) HasScope(scope string) bool { return scope != "" && slices.Contains(k.Scopes, scope) }
