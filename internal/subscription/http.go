package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/rest"
)

// HTTP has the handlers of subscriptions.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// PlanPrice is a price of a plan as tenants see it.
type PlanPrice struct {
	Currency   string `json:"currency"`
	PriceCents int64  `json:"price_cents"`
}

// PlanFeature is a feature of a plan as tenants see it.
type PlanFeature struct {
	Code  string `json:"code"`
	Name  string `json:"name"`
	Type  string `json:"type"`
	Value *int64 `json:"value"`
}

// SubscribedPlan is the plan of a subscription (spec: Subscription).
type SubscribedPlan struct {
	ID            uuid.UUID     `json:"id"`
	Name          string        `json:"name"`
	Description   *string       `json:"description"`
	PricingType   string        `json:"pricing_type"`
	BillingCycle  string        `json:"billing_cycle"`
	IntervalUnit  string        `json:"interval_unit"`
	IntervalCount int32         `json:"interval_count"`
	TrialDays     int32         `json:"trial_days"`
	Prices        []PlanPrice   `json:"prices"`
	Features      []PlanFeature `json:"features"`
}

func planView(ctx context.Context, p catalog.Plan) SubscribedPlan {
	locale := i18n.Locale(ctx)
	v := SubscribedPlan{
		ID: p.ID, Name: p.Name.In(locale), PricingType: string(p.PricingType), BillingCycle: p.BillingCycle,
		IntervalUnit: p.Interval.Unit, IntervalCount: p.Interval.Count, TrialDays: p.TrialDays,
	}
	if text := p.Description.In(locale); text != "" {
		v.Description = &text
	}
	for _, price := range p.Prices {
		v.Prices = append(v.Prices, PlanPrice{Currency: price.Currency, PriceCents: price.PriceCents})
	}
	for _, e := range p.Entitlements {
		v.Features = append(v.Features, PlanFeature{
			Code: e.Feature.Code, Name: e.Feature.Name.In(locale), Type: string(e.Type), Value: e.Value,
		})
	}
	return v
}

// SubscriptionView is the subscription resource (spec: Subscription).
type SubscriptionView struct {
	ID                 uuid.UUID      `json:"id"`
	Status             Status         `json:"status"`
	Plan               SubscribedPlan `json:"plan"`
	Currency           string         `json:"currency"`
	PriceCents         int64          `json:"price_cents"`
	Quantity           int64          `json:"quantity"`
	IntervalUnit       string         `json:"interval_unit"`
	IntervalCount      int32          `json:"interval_count"`
	CurrentPeriodStart rest.Time      `json:"current_period_start"`
	CurrentPeriodEnd   rest.Time      `json:"current_period_end"`
	TrialEndsAt        *rest.Time     `json:"trial_ends_at"`
	CancelAtPeriodEnd  bool           `json:"cancel_at_period_end"`
	CanceledAt         *rest.Time     `json:"canceled_at"`
	CancellationReason *string        `json:"cancellation_reason"`
	CreatedAt          rest.Time      `json:"created_at"`
	UpdatedAt          rest.Time      `json:"updated_at"`
}

// Show handles GET /subscription: null where the tenant has none.
func (h *HTTP) Show(ctx context.Context, _ *tenantInput) (*rest.Data[*SubscriptionView], error) {
	h.svc.Settle(ctx, authz.TenantID(ctx))
	sub, err := h.svc.Current(ctx, authz.TenantID(ctx))
	if err != nil || sub == nil {
		return rest.OK[*SubscriptionView](nil), err
	}
	v, err := h.view(ctx, sub)
	if err != nil {
		return nil, err
	}
	return rest.OK(v), nil
}

// view shows a subscription with its plan.
func (h *HTTP) view(ctx context.Context, sub *Subscription) (*SubscriptionView, error) {
	plan, err := h.svc.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return nil, err
	}
	return &SubscriptionView{
		ID: sub.ID, Status: sub.Status, Plan: planView(ctx, plan), Currency: sub.Currency, PriceCents: sub.PriceCents,
		Quantity: sub.Quantity, IntervalUnit: sub.IntervalUnit, IntervalCount: sub.IntervalCount,
		CurrentPeriodStart: rest.T(sub.CurrentPeriodStart), CurrentPeriodEnd: rest.T(sub.CurrentPeriodEnd),
		TrialEndsAt: rest.TP(sub.TrialEndsAt), CancelAtPeriodEnd: sub.CancelAtPeriodEnd,
		CanceledAt: rest.TP(sub.CanceledAt), CancellationReason: sub.CancellationReason,
		CreatedAt: rest.T(sub.CreatedAt), UpdatedAt: rest.T(sub.UpdatedAt),
	}, nil
}

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}

// Eligibility tells whether a tenant can select a plan, and what stands against
// it.
type Eligibility struct {
	Selectable bool        `json:"selectable"`
	Violations []Violation `json:"violations"`
}

// OfferedPlan is a plan in the tenant's list.
type OfferedPlan struct {
	ID            uuid.UUID     `json:"id"`
	Slug          string        `json:"slug"`
	Name          string        `json:"name"`
	Description   *string       `json:"description"`
	PricingType   string        `json:"pricing_type"`
	BillingCycle  string        `json:"billing_cycle"`
	IntervalUnit  string        `json:"interval_unit"`
	IntervalCount int32         `json:"interval_count"`
	TrialDays     int32         `json:"trial_days"`
	SortOrder     int32         `json:"sort_order"`
	Prices        []PlanPrice   `json:"prices"`
	Features      []PlanFeature `json:"features"`
	Eligibility   Eligibility   `json:"eligibility"`
}

type plansInput struct {
	tenantInput
	Currency string `query:"currency" minLength:"3" maxLength:"3" doc:"Default: the tenant's preferred currency."`
}

// Plans handles GET /plans: prices in one currency.
func (h *HTTP) Plans(ctx context.Context, in *plansInput) (*rest.Data[[]OfferedPlan], error) {
	tenantID := authz.TenantID(ctx)
	currency := in.Currency
	if currency == "" {
		t, err := h.svc.deps.Tenants.Get(ctx, tenantID)
		if err != nil {
			return nil, err
		}
		currency = t.PreferredCurrency
	}
	offers, err := h.svc.Offers(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	plans := make([]OfferedPlan, len(offers))
	for i, offer := range offers {
		v := planView(ctx, offer.Plan)
		plans[i] = OfferedPlan{
			ID: v.ID, Slug: offer.Plan.Slug, Name: v.Name, Description: v.Description, PricingType: v.PricingType,
			BillingCycle: v.BillingCycle, IntervalUnit: v.IntervalUnit, IntervalCount: v.IntervalCount,
			TrialDays: v.TrialDays, SortOrder: offer.Plan.SortOrder, Features: v.Features,
			Eligibility: Eligibility{Selectable: len(offer.Violations) == 0, Violations: offer.Violations},
		}
		for _, price := range v.Prices {
			if price.Currency == currency {
				plans[i].Prices = append(plans[i].Prices, price)
			}
		}
	}
	return rest.List(plans), nil
}

// Entitlement is a feature that the tenant has. used and remaining are reserved
// (spec: Subscription endpoints).
type Entitlement struct {
	Key       string `json:"key"`
	Enabled   bool   `json:"enabled"`
	Type      string `json:"type"`
	Limit     *int64 `json:"limit"`
	Used      *int64 `json:"used"`
	Remaining *int64 `json:"remaining"`
}

// Entitlements handles GET /entitlements.
func (h *HTTP) Entitlements(ctx context.Context, _ *tenantInput) (*rest.Data[[]Entitlement], error) {
	granted, _, err := h.svc.Granted(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	list := make([]Entitlement, len(granted))
	for i, f := range granted {
		list[i] = Entitlement{Key: f.Code, Enabled: true, Type: string(f.Type), Limit: f.Quota}
	}
	return rest.List(list), nil
}
