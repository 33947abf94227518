// Package catalog manages the catalog: products, their plans with prices and entitlements, and
// features (rules: catalog#products). It reads currencies and serves the public catalog. Its
// subpackages manage currencies, link prices to the payment provider, and import and export the
// catalog as a file.
package catalog

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// TeamMembers is the code of the system feature whose quota limits seats.
const TeamMembers = "team-members"

// Text is a translatable text: one string per locale, always including English.
type Text map[string]string

// Localize returns the text in a locale, or the English text if the locale is missing.
func (t Text) Localize(locale string) string { return i18n.Pick(t, locale) }

// PricingType is the pricing model of a plan.
type PricingType string

// Pricing types.
const (
	PricingFlat  PricingType = "flat"  // one price per interval
	PricingSeat  PricingType = "seat"  // price per seat
	PricingUsage PricingType = "usage" // a base price plus metered usage
)

// EntitlementType is the type of an entitlement.
type EntitlementType string

// Entitlement types.
const (
	TypeBoolean EntitlementType = "boolean" // unlimited access to the feature
	TypeQuota   EntitlementType = "quota"   // access up to a limit
)

// Product is a group of plans.
type Product struct {
	ID          uuid.UUID
	Slug        string
	Name        Text
	Description Text // nil if absent
	IsActive    bool
	Metadata    sqldb.JSON // a JSON object, or nil
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Plan is an offer that tenants subscribe to.
type Plan struct {
	ID           uuid.UUID
	Product      Product
	Slug         string
	Name         Text
	Description  Text // nil if absent
	PricingType  PricingType
	BillingCycle string // legacy name of the interval
	Interval     Interval
	TrialDays    int32
	CardForTrial bool // whether a trial requires a card at its start
	SortOrder    int32
	IsActive     bool
	IsDefault    bool          // the plan of tenants without a subscription that sets limits
	Metadata     sqldb.JSON    // an object, or nil
	Prices       []Price       // by currency code
	Entitlements []Entitlement // by feature code
	CreatedAt    time.Time
	UpdatedAt    time.Time
	// Deleted reports whether the plan exists only for the history that refers to it. Lists exclude
	// deleted plans.
	Deleted bool
}

// IsOnSale reports whether tenants can subscribe to the plan now.
func (p Plan) IsOnSale() bool { return p.IsActive && !p.Deleted && p.Product.IsActive }

// PriceIn returns the plan's price in a currency, if it has one.
func (p Plan) PriceIn(currency string) (Price, bool) {
	for _, price := range p.Prices {
		if price.Currency == currency {
			return price, true
		}
	}
	return Price{}, false
}

// SeatQuota returns the plan's team member quota, or nil if it has no quota.
func (p Plan) SeatQuota() *int64 {
	for _, e := range p.Entitlements {
		if e.Feature.Code == TeamMembers {
			return e.Value
		}
	}
	return nil
}

// Price is the price of a plan in one currency.
type Price struct {
	ID         uuid.UUID
	PlanID     uuid.UUID
	Currency   string  // ISO 4217
	PriceCents int64   // in minor units, per interval and unit
	PSPPriceID *string // the provider's price ID; nil until linked
}

// Feature is a capability that plans can grant.
type Feature struct {
	ID          uuid.UUID
	Code        string
	Name        Text
	Description Text // nil if absent
	IsActive    bool
	IsSystem    bool       // required by the service itself, so it cannot be deleted
	SortOrder   int32      // position in customer-facing lists; ties are sorted by code
	Metadata    sqldb.JSON // a JSON object, or nil
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Entitlement grants a feature to the subscribers of a plan.
type Entitlement struct {
	ID        uuid.UUID
	PlanID    uuid.UUID
	Feature   Feature
	Type      EntitlementType
	Value     *int64 // the quota; nil for a boolean entitlement, which is unlimited
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Currency is a currency for prices.
type Currency struct {
	Code       string // ISO 4217
	Name       string
	Symbol     string
	MinorUnits int32 // number of decimals: 0, 2 or 3
	IsActive   bool
}

// equalPointers reports whether both pointers are nil or point to equal values.
func equalPointers[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
