// Package catalog has what is sold: products, their plans with prices and
// entitlements, features and currencies (spec: Resources, Product to Currency).
package catalog

import (
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// TeamMembers is the code of the system feature that limits seats.
const TeamMembers = "team-members"

// Text is a translatable field: a text per locale. English is always there.
type Text map[string]string

// In returns the text for a reader of locale, English where it has none.
func (t Text) In(locale string) string { return i18n.Pick(t, locale) }

// PricingType says what a plan's price is multiplied by.
type PricingType string

// The pricing types.
const (
	Flat  PricingType = "flat"  // nothing: one price per interval
	Seat  PricingType = "seat"  // the members of the team
	Usage PricingType = "usage" // a base price, and what meters count is added
)

// EntitlementType says what an entitlement gives.
type EntitlementType string

// The entitlement types.
const (
	Boolean EntitlementType = "boolean" // the feature, without a limit
	Quota   EntitlementType = "quota"   // so much of it
)

// Product is a group of plans.
type Product struct {
	ID           uuid.UUID
	Slug         string
	Name         Text
	Description  Text // nil is none
	IsActive     bool
	Metadata     sqldb.JSON // an object, or nil
	PSPProductID *string    // at the payment provider; nil until linked
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Plan is what a tenant subscribes to.
type Plan struct {
	ID           uuid.UUID
	Product      Product
	Slug         string
	Name         Text
	Description  Text // nil is none
	PricingType  PricingType
	BillingCycle string // the legacy name of the interval
	Interval     Interval
	TrialDays    int32
	SortOrder    int32
	IsActive     bool
	Metadata     sqldb.JSON    // an object, or nil
	Prices       []Price       // by currency code
	Entitlements []Entitlement // by feature code
	CreatedAt    time.Time
	UpdatedAt    time.Time
	// Deleted plans are kept for the history that refers to them; no list has them.
	Deleted bool
}

// OnSale tells whether a tenant may newly subscribe to the plan.
func (p Plan) OnSale() bool { return p.IsActive && !p.Deleted && p.Product.IsActive }

// PriceIn returns the plan's price in a currency, if it has one.
func (p Plan) PriceIn(currency string) (Price, bool) {
	for _, price := range p.Prices {
		if price.Currency == currency {
			return price, true
		}
	}
	return Price{}, false
}

// Price is what a plan costs in one currency.
type Price struct {
	ID         uuid.UUID
	PlanID     uuid.UUID
	Currency   string  // ISO 4217
	PriceCents int64   // in the currency's minor units, per interval and unit
	PSPPriceID *string // at the payment provider; nil until linked
}

// Feature is something that plans give access to.
type Feature struct {
	ID          uuid.UUID
	Code        string
	Name        Text
	Description Text // nil is none
	IsActive    bool
	IsSystem    bool       // the service relies on it: it cannot be deleted
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
	Value     *int64 // of a quota; nil for a boolean one, which has no limit
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
