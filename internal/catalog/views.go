package catalog

import (
	"github.com/google/uuid"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// publicProduct is the public representation of a product.
type publicProduct struct {
	ID          uuid.UUID `json:"id" format:"uuid"`
	Name        string    `json:"name"`
	Slug        string    `json:"slug"`
	Description *string   `json:"description"`
}

// PublicPlan is the public representation of a plan.
type PublicPlan struct {
	ID                uuid.UUID           `json:"id" format:"uuid"`
	ProductID         uuid.UUID           `json:"product_id" format:"uuid"`
	Slug              string              `json:"slug"`
	Name              string              `json:"name"`
	Description       *string             `json:"description"`
	PricingType       string              `json:"pricing_type" enum:"flat,seat,usage"`
	BillingCycle      string              `json:"billing_cycle" enum:"monthly,yearly,quarterly,weekly"`
	IntervalUnit      string              `json:"interval_unit" enum:"day,week,month,year"`
	IntervalCount     int32               `json:"interval_count"`
	TrialDays         int32               `json:"trial_days"`
	TrialRequiresCard bool                `json:"trial_requires_card"`
	IsDefault         bool                `json:"is_default"`
	SortOrder         int32               `json:"sort_order"`
	Metadata          shape.Object        `json:"metadata" nullable:"true"`
	Prices            []publicPrice       `json:"prices"`
	Entitlements      []publicEntitlement `json:"entitlements"`
	Meters            []publicMeter       `json:"meters" doc:"Usage prices of a usage-based plan, one per meter and currency."`
	CreatedAt         shape.Time          `json:"created_at"`
	UpdatedAt         shape.Time          `json:"updated_at"`
}

// publicMeter is the public unit price of a meter in one currency.
type publicMeter struct {
	Code           string          `json:"code"`
	Name           string          `json:"name"`
	UnitLabel      *string         `json:"unit_label"`
	UnitPriceCents shape.UnitPrice `json:"unit_price_cents" doc:"Price per unit, in minor units of the currency with up to 12 decimal places."`
	Currency       string          `json:"currency"`
}

// publicPrice is the public representation of a price.
type publicPrice struct {
	ID         uuid.UUID `json:"id" format:"uuid"`
	Currency   string    `json:"currency"`
	PriceCents int64     `json:"price_cents"`
}

// publicEntitlement is the public representation of an entitlement.
type publicEntitlement struct {
	ID        uuid.UUID       `json:"id" format:"uuid"`
	FeatureID uuid.UUID       `json:"feature_id" format:"uuid"`
	Type      string          `json:"type" enum:"boolean,quota"`
	Value     *int64          `json:"value"`
	Feature   entitledFeature `json:"feature"`
}

// entitledFeature identifies the feature of an entitlement.
type entitledFeature struct {
	Code string `json:"code"`
	Name string `json:"name"`
}

// publicFeature is the public representation of a feature.
type publicFeature struct {
	ID          uuid.UUID `json:"id" format:"uuid"`
	Code        string    `json:"code"`
	Name        string    `json:"name"`
	Description *string   `json:"description"`
}

// PublicCurrency is the public representation of a currency.
type PublicCurrency struct {
	Code       string `json:"code"`
	Name       string `json:"name"`
	Symbol     string `json:"symbol"`
	MinorUnits int32  `json:"minor_units"`
}

// Public returns the public representation of the currency.
func (c Currency) Public() PublicCurrency {
	return PublicCurrency{Code: c.Code, Name: c.Name, Symbol: c.Symbol, MinorUnits: c.MinorUnits}
}

// publicPlan returns a plan with its prices in one currency, or in all currencies if it is "".
func publicPlan(p Plan, metered []meteredPrice, locale, currency string) PublicPlan {
	meters := []publicMeter{}
	for _, m := range metered {
		if p.PricingType == PricingUsage && (currency == "" || m.Currency == currency) {
			meters = append(meters, publicMeter{Code: m.Code, Name: m.Name, UnitLabel: m.UnitLabel, UnitPriceCents: shape.UnitPrice{UnitPrice: m.UnitPrice}, Currency: m.Currency})
		}
	}
	prices := []publicPrice{}
	for _, price := range p.Prices {
		if currency == "" || price.Currency == currency {
			prices = append(prices, publicPrice{ID: price.ID, Currency: price.Currency, PriceCents: price.PriceCents})
		}
	}
	return PublicPlan{
		ID:                p.ID,
		ProductID:         p.Product.ID,
		Slug:              p.Slug,
		Name:              p.Name.Localize(locale),
		Description:       localizedOrNil(p.Description, locale),
		PricingType:       string(p.PricingType),
		BillingCycle:      p.BillingCycle,
		IntervalUnit:      p.Interval.Unit,
		IntervalCount:     p.Interval.Count,
		TrialDays:         p.TrialDays,
		TrialRequiresCard: p.CardForTrial,
		IsDefault:         p.IsDefault,
		SortOrder:         p.SortOrder,
		Metadata:          shape.Object(p.Metadata),
		Prices:            prices,
		Entitlements: viewAll(p.Entitlements, func(e Entitlement) publicEntitlement {
			return publicEntitlement{
				ID: e.ID, FeatureID: e.Feature.ID, Type: string(e.Type), Value: e.Value,
				Feature: entitledFeature{Code: e.Feature.Code, Name: e.Feature.Name.Localize(locale)},
			}
		}),
		Meters:    meters,
		CreatedAt: shape.T(p.CreatedAt),
		UpdatedAt: shape.T(p.UpdatedAt),
	}
}
