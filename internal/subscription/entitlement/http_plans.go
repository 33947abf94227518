package entitlement

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
)

// PlanPrice is a price of a plan.
type PlanPrice struct {
	Currency   string `json:"currency"`
	PriceCents int64  `json:"price_cents"`
}

// PlanFeature is a feature of a plan.
type PlanFeature struct {
	Code  string `json:"code"`
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value *int64 `json:"value"`
}

// SubscribedPlan is the plan of a subscription, with all its prices.
type SubscribedPlan struct {
	ID                uuid.UUID     `json:"id"`
	Name              string        `json:"name"`
	Description       *string       `json:"description"`
	PricingType       string        `json:"pricing_type"`
	BillingCycle      string        `json:"billing_cycle"`
	IntervalUnit      string        `json:"interval_unit"`
	IntervalCount     int32         `json:"interval_count"`
	TrialDays         int32         `json:"trial_days"`
	TrialRequiresCard bool          `json:"trial_requires_card"`
	IsDefault         bool          `json:"is_default"`
	Prices            []PlanPrice   `json:"prices"`
	Features          []PlanFeature `json:"features"`
}

// ViewPlan returns the view of a plan in the locale of ctx.
func ViewPlan(ctx context.Context, p catalog.Plan) SubscribedPlan {
	locale := i18n.Locale(ctx)
	v := SubscribedPlan{
		ID: p.ID, Name: p.Name.Localize(locale), PricingType: string(p.PricingType), BillingCycle: p.BillingCycle,
		IntervalUnit: p.Interval.Unit, IntervalCount: p.Interval.Count, TrialDays: p.TrialDays,
		TrialRequiresCard: p.CardForTrial, IsDefault: p.IsDefault,
	}
	if text := p.Description.Localize(locale); text != "" {
		v.Description = &text
	}
	for _, price := range p.Prices {
		v.Prices = append(v.Prices, PlanPrice{Currency: price.Currency, PriceCents: price.PriceCents})
	}
	for _, e := range p.Entitlements {
		v.Features = append(v.Features, PlanFeature{
			Code: e.Feature.Code, Name: e.Feature.Name.Localize(locale), Type: string(e.Type), Value: e.Value,
		})
	}
	return v
}

// Eligibility reports whether a tenant can select a plan, and the reasons if it cannot
// (rules: subscription#eligibility).
type Eligibility struct {
	Selectable bool        `json:"selectable"`
	Violations []Violation `json:"violations"`
	// Why no tenant can buy the plan. Omitted if it can be bought.
	Reason      string `json:"reason,omitempty" enum:"plan_not_sellable" doc:"Reason why the plan is currently not available in this currency."`
	PriceStatus string `json:"price_status,omitempty" doc:"Status of the price that makes the plan unavailable."`
	MeterCode   string `json:"meter_code,omitempty" doc:"Code of the meter whose price makes the plan unavailable. Absent for the price of the plan."`
}

// eligibility returns the view of an offer's reasons.
func eligibility(o Offer) Eligibility {
	e := Eligibility{Selectable: len(o.Violations) == 0 && o.Obstacle == nil && !o.Plan.IsDefault, Violations: o.Violations}
	if o.Obstacle != nil {
		e.Reason = string(fault.PlanNotSellable)
		e.PriceStatus, e.MeterCode = string(o.Obstacle.PriceStatus), o.Obstacle.MeterCode
	}
	return e
}

// OfferedPlan is a plan in the tenant's list.
type OfferedPlan struct {
	ID                uuid.UUID     `json:"id"`
	Slug              string        `json:"slug"`
	Name              string        `json:"name"`
	Description       *string       `json:"description"`
	PricingType       string        `json:"pricing_type"`
	BillingCycle      string        `json:"billing_cycle"`
	IntervalUnit      string        `json:"interval_unit"`
	IntervalCount     int32         `json:"interval_count"`
	TrialDays         int32         `json:"trial_days" doc:"Length of the free trial for this tenant, in days. 0 if the tenant cannot get a trial, for example after an earlier trial of the product."`
	TrialRequiresCard bool          `json:"trial_requires_card"`
	IsDefault         bool          `json:"is_default"`
	SortOrder         int32         `json:"sort_order"`
	Prices            []PlanPrice   `json:"prices"`
	Features          []PlanFeature `json:"features"`
	Eligibility       Eligibility   `json:"eligibility"`
}

type plansInput struct {
	tenantInput
	Currency string `query:"currency" minLength:"3" maxLength:"3" doc:"Currency of the prices, as an ISO 4217 code. Default: the tenant's preferred currency."`
}

// Plans handles GET /plans. It returns the prices in one currency.
func (h *HTTP) Plans(ctx context.Context, in *plansInput) (*rest.Data[[]OfferedPlan], error) {
	tenantID := authz.TenantID(ctx)
	currency := strings.ToUpper(in.Currency)
	if currency == "" {
		t, err := h.svc.deps.Tenants.Get(ctx, tenantID)
		if err != nil {
			return nil, err
		}
		currency = t.PreferredCurrency
	}
	offers, err := h.svc.Offers(ctx, tenantID, strings.ToUpper(currency))
	if err != nil {
		return nil, err
	}
	plans := make([]OfferedPlan, len(offers))
	for i, offer := range offers {
		v := ViewPlan(ctx, offer.Plan)
		plans[i] = OfferedPlan{
			ID: v.ID, Slug: offer.Plan.Slug, Name: v.Name, Description: v.Description, PricingType: v.PricingType,
			BillingCycle: v.BillingCycle, IntervalUnit: v.IntervalUnit, IntervalCount: v.IntervalCount,
			TrialDays: v.TrialDays, TrialRequiresCard: v.TrialRequiresCard, IsDefault: v.IsDefault, SortOrder: offer.Plan.SortOrder, Features: v.Features,
			Eligibility: eligibility(offer),
		}
		for _, price := range v.Prices {
			if price.Currency == currency {
				plans[i].Prices = append(plans[i].Prices, price)
			}
		}
	}
	return rest.OK(plans), nil
}
