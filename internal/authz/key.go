package authz

import (
	"slices"
	"strings"

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
	UsageRead        = "usage.read"
	UsageWrite       = "usage.write"

	// Only platform keys can have these scopes.
	CatalogRead        = "catalog.read"
	CreditWrite        = "credit.write"
	LimitsWrite        = "limits.write"
	SubscriptionsWrite = "subscriptions.write"
	TenantsRead        = "tenants.read"
	TenantsWrite       = "tenants.write"
)

// TenantScopes returns the scopes of tenant keys, sorted.
func TenantScopes() []string {
	return []string{EntitlementsRead, InvoicesRead, SubscriptionRead, TeamRead, UsageRead, UsageWrite}
}

// PlatformScopes returns the scopes of platform keys, sorted.
func PlatformScopes() []string {
	return []string{
		CatalogRead, CreditWrite, EntitlementsRead, InvoicesRead, LimitsWrite, SubscriptionRead, SubscriptionsWrite,
		TeamRead, TenantsRead, TenantsWrite, UsageRead, UsageWrite,
	}
}

// ActsAsPlatform reports whether a key with the scope acts as the platform, so that no tenant key
// can have it.
func ActsAsPlatform(scope string) bool {
	return slices.Contains([]string{CatalogRead, CreditWrite, LimitsWrite, SubscriptionsWrite, TenantsWrite}, scope)
}

// TenantPermissionOf returns the permission that a member needs for all routes of a scope. It
// returns "" if every member can use them.
func TenantPermissionOf(scope string) string {
	if scope == InvoicesRead { // it includes the credit
		return BillingManage
	}
	return ""
}

// PlatformPermissionsOf returns the permissions that a platform admin needs to use all routes of a
// scope in person.
func PlatformPermissionsOf(scope string) []string {
	switch scope {
	case CatalogRead:
		return []string{CurrenciesManage, "features.view", MetersManage, "plans.view", "products.view"}
	case SubscriptionsWrite:
		return []string{BillingManage, SubscriptionsManage, TenantsManage}
	case LimitsWrite:
		return []string{LimitsManage}
	case CreditWrite:
		return []string{BillingCredit}
	case TenantsWrite, UsageWrite:
		return []string{TenantsManage}
	default:
		return []string{TenantsView}
	}
}

// Key is the API key of a request.
type Key struct {
	ID       uuid.UUID
	Scopes   []string
	Platform bool // acts for the tenant in the request path
}

// HasScope reports whether the key has a scope. "|" separates alternatives. No key has the empty
// scope.
func (k *Key) HasScope(scope string) bool {
	for one := range strings.SplitSeq(scope, "|") {
		if one != "" && slices.Contains(k.Scopes, one) {
			return true
		}
	}
	return false
}
