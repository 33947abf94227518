package catalog

import (
	"github.com/google/uuid"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Translation has the texts of a record in one locale (rules: http#translatable-fields).
type Translation struct {
	Name        *string `json:"name"`
	Description *string `json:"description"`
}

// AdminProduct is the admin representation of a product.
type AdminProduct struct {
	ID           uuid.UUID              `json:"id" format:"uuid"`
	Slug         string                 `json:"slug"`
	IsActive     bool                   `json:"is_active"`
	Metadata     shape.Object           `json:"metadata" nullable:"true"`
	Translations map[string]Translation `json:"translations"`
	PlansCount   *int64                 `json:"plans_count,omitzero" doc:"Number of plans. Present with include=plansCount."`
	Plans        *[]AdminPlan           `json:"plans,omitzero" doc:"Plans of the product. Present with include=plans."`
	CreatedAt    shape.Time             `json:"created_at"`
	UpdatedAt    shape.Time             `json:"updated_at"`
}

// AdminPlan is the admin representation of a plan.
type AdminPlan struct {
	ID                uuid.UUID              `json:"id" format:"uuid"`
	ProductID         uuid.UUID              `json:"product_id" format:"uuid"`
	Product           *AdminProduct          `json:"product,omitzero" doc:"Product of the plan. Present with include=product."`
	Slug              string                 `json:"slug"`
	Translations      map[string]Translation `json:"translations"`
	PricingType       string                 `json:"pricing_type" enum:"flat,seat,usage"`
	BillingCycle      string                 `json:"billing_cycle" enum:"monthly,yearly,quarterly,weekly"`
	IntervalUnit      string                 `json:"interval_unit" enum:"day,week,month,year"`
	IntervalCount     int32                  `json:"interval_count"`
	TrialDays         int32                  `json:"trial_days"`
	TrialRequiresCard bool                   `json:"trial_requires_card"`
	IsDefault         bool                   `json:"is_default"`
	SortOrder         int32                  `json:"sort_order"`
	IsActive          bool                   `json:"is_active"`
	Metadata          shape.Object           `json:"metadata" nullable:"true"`
	Prices            []AdminPrice           `json:"prices"`
	Entitlements      []AdminEntitlement     `json:"entitlements"`
	CreatedAt         shape.Time             `json:"created_at"`
	UpdatedAt         shape.Time             `json:"updated_at"`
}

// AdminPrice is the admin representation of a price.
type AdminPrice struct {
	ID         uuid.UUID `json:"id" format:"uuid"`
	Currency   string    `json:"currency"`
	PriceCents int64     `json:"price_cents"`
	PSPPriceID *string   `json:"psp_price_id"`
}

// AdminEntitlement is the admin representation of an entitlement.
type AdminEntitlement struct {
	ID        uuid.UUID    `json:"id" format:"uuid"`
	PlanID    uuid.UUID    `json:"plan_id" format:"uuid"`
	FeatureID uuid.UUID    `json:"feature_id" format:"uuid"`
	Type      string       `json:"type" enum:"boolean,quota"`
	Value     *int64       `json:"value"`
	Feature   AdminFeature `json:"feature"`
	CreatedAt shape.Time   `json:"created_at"`
	UpdatedAt shape.Time   `json:"updated_at"`
}

// AdminFeature is the admin representation of a feature.
type AdminFeature struct {
	ID           uuid.UUID              `json:"id" format:"uuid"`
	Code         string                 `json:"code"`
	IsActive     bool                   `json:"is_active"`
	IsSystem     bool                   `json:"is_system"`
	SortOrder    int32                  `json:"sort_order"`
	Metadata     shape.Object           `json:"metadata" nullable:"true"`
	Translations map[string]Translation `json:"translations"`
	CreatedAt    shape.Time             `json:"created_at"`
	UpdatedAt    shape.Time             `json:"updated_at"`
}

func adminProduct(p Product) AdminProduct {
	return AdminProduct{
		ID:           p.ID,
		Slug:         p.Slug,
		IsActive:     p.IsActive,
		Metadata:     shape.Object(p.Metadata),
		Translations: p.Name.Translations(p.Description),
		CreatedAt:    shape.T(p.CreatedAt),
		UpdatedAt:    shape.T(p.UpdatedAt),
	}
}

func adminPlan(p Plan) AdminPlan {
	return AdminPlan{
		ID:                p.ID,
		ProductID:         p.Product.ID,
		Slug:              p.Slug,
		Translations:      p.Name.Translations(p.Description),
		PricingType:       string(p.PricingType),
		BillingCycle:      p.BillingCycle,
		IntervalUnit:      p.Interval.Unit,
		IntervalCount:     p.Interval.Count,
		TrialDays:         p.TrialDays,
		TrialRequiresCard: p.CardForTrial,
		IsDefault:         p.IsDefault,
		SortOrder:         p.SortOrder,
		IsActive:          p.IsActive,
		Metadata:          shape.Object(p.Metadata),
		Prices:            viewAll(p.Prices, Price.Admin),
		Entitlements:      viewAll(p.Entitlements, adminEntitlement),
		CreatedAt:         shape.T(p.CreatedAt),
		UpdatedAt:         shape.T(p.UpdatedAt),
	}
}

// Admin returns the admin representation of the price.
func (p Price) Admin() AdminPrice {
	return AdminPrice{ID: p.ID, Currency: p.Currency, PriceCents: p.PriceCents, PSPPriceID: p.PSPPriceID}
}

func adminEntitlement(e Entitlement) AdminEntitlement {
	return AdminEntitlement{
		ID:        e.ID,
		PlanID:    e.PlanID,
		FeatureID: e.Feature.ID,
		Type:      string(e.Type),
		Value:     e.Value,
		Feature:   adminFeature(e.Feature),
		CreatedAt: shape.T(e.CreatedAt),
		UpdatedAt: shape.T(e.UpdatedAt),
	}
}

func adminFeature(f Feature) AdminFeature {
	return AdminFeature{
		ID:           f.ID,
		Code:         f.Code,
		IsActive:     f.IsActive,
		IsSystem:     f.IsSystem,
		SortOrder:    f.SortOrder,
		Metadata:     shape.Object(f.Metadata),
		Translations: f.Name.Translations(f.Description),
		CreatedAt:    shape.T(f.CreatedAt),
		UpdatedAt:    shape.T(f.UpdatedAt),
	}
}

// Translations groups a name and a description by locale.
func (t Text) Translations(description Text) map[string]Translation {
	out := map[string]Translation{}
	for locale, text := range t {
		fields := out[locale]
		fields.Name = &text
		out[locale] = fields
	}
	for locale, text := range description {
		fields := out[locale]
		fields.Description = &text
		out[locale] = fields
	}
	return out
}
