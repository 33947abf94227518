// Package catalog has what is sold: products, their plans with prices and
// entitlements, and features (rules: catalog#products). It reads currencies, and
// serves the public catalog. Packages below it change currencies, link prices to the
// payment provider's, and keep the catalog as a file.
package catalog

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// TeamMembers is the code of the system feature whose quota limits seats.
const TeamMembers = "team-members"

// Text is a translatable text: one string per locale, English always among them.
type Text map[string]string

// Localize returns the text in a locale, or in English if it has none in that locale.
func (t Text) Localize(locale string) string { return i18n.Pick(t, locale) }

// PricingType says what the price of a plan is multiplied by.
type PricingType string

// The pricing types.
const (
	PricingFlat  PricingType = "flat"  // nothing: one price per interval
	PricingSeat  PricingType = "seat"  // the number of seats
	PricingUsage PricingType = "usage" // nothing: a base price, to which metered usage is added
)

// EntitlementType says what an entitlement gives.
type EntitlementType string

// The entitlement types.
const (
	TypeBoolean EntitlementType = "boolean" // the feature, without a limit
	TypeQuota   EntitlementType = "quota"   // the feature up to a limit
)

// Product is a group of plans.
type Product struct {
	ID          uuid.UUID
	Slug        string
	Name        Text
	Description Text // nil means none
	IsActive    bool
	Metadata    sqldb.JSON // an object, or nil
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Plan is what a tenant subscribes to.
type Plan struct {
	ID           uuid.UUID
	Product      Product
	Slug         string
	Name         Text
	Description  Text // nil means none
	PricingType  PricingType
	BillingCycle string // the legacy name of the interval
	Interval     Interval
	TrialDays    int32
	CardForTrial bool // whether a trial takes a card at its beginning
	SortOrder    int32
	IsActive     bool
	IsDefault    bool          // the plan of tenants without a subscription that sets limits
	Metadata     sqldb.JSON    // an object, or nil
	Prices       []Price       // by currency code
	Entitlements []Entitlement // by feature code
	CreatedAt    time.Time
	UpdatedAt    time.Time
	// Deleted says that the plan is only kept for the history that refers to it. No
	// list has it.
	Deleted bool
}

// IsOnSale reports whether a tenant may subscribe to the plan now.
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

// SeatQuota returns the plan's quota of team members, nil for a plan without one.
func (p Plan) SeatQuota() *int64 {
	for _, e := range p.Entitlements {
		if e.Feature.Code == TeamMembers {
			return e.Value
		}
	}
	return nil
}

// Price is what a plan costs in one currency.
type Price struct {
	ID         uuid.UUID
	PlanID     uuid.UUID
	Currency   string  // ISO 4217
	PriceCents int64   // in the currency's minor units, per interval and unit
	PSPPriceID *string // at the payment provider; nil until linked
}

// Feature is what plans give access to.
type Feature struct {
	ID          uuid.UUID
	Code        string
	Name        Text
	Description Text // nil means none
	IsActive    bool
	IsSystem    bool       // the service itself needs it: it cannot be deleted
	SortOrder   int32      // of the lists that customers see; features with the same one are in the order of codes
	Metadata    sqldb.JSON // an object, or nil
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Entitlement is what a plan gives of a feature.
type Entitlement struct {
	ID        uuid.UUID
	PlanID    uuid.UUID
	Feature   Feature
	Type      EntitlementType
	Value     *int64 // the quota; nil for a boolean entitlement, which has no limit
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Currency is a currency that prices can be in.
type Currency struct {
	Code       string // ISO 4217
	Name       string
	Symbol     string
	MinorUnits int32 // how many decimals an amount has: 0, 2 or 3
	IsActive   bool
}

// equal reports whether both are nil, or point to equal values.
func equal[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
