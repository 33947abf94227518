package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// priceFields is one price of a set in a request (rules: catalog#prices).
type priceFields struct {
	Currency   string            `json:"currency" format:"currency" doc:"ISO 4217 code of an existing currency. Unique in the list."`
	PriceCents int64             `json:"price_cents" minimum:"0" maximum:"999999999999"`
	PSPPriceID shape.Opt[string] `json:"psp_price_id,omitzero" nullable:"true" maxLength:"255" pattern:"^price_" doc:"ID of the price at the payment provider. Unique in the list. If omitted, the link is kept as long as the amount, the plan's interval and its pricing type do not change."`
}

func (f priceFields) terms() PriceTerms {
	return PriceTerms{
		Currency: f.Currency, PriceCents: f.PriceCents, LinkGiven: f.PSPPriceID.Set, PSPPriceID: f.PSPPriceID.Or(nil),
	}
}

// entitlementFields is one entitlement of a set in a request (rules: catalog#entitlements).
type entitlementFields struct {
	FeatureID uuid.UUID `json:"feature_id" doc:"ID of an existing feature. Unique in the list."`
	Type      string    `json:"type" enum:"boolean,quota"`
	Value     *int64    `json:"value,omitempty" nullable:"true" minimum:"1" doc:"Quota per period. Required for a quota, omitted for a boolean."`
}

func (f entitlementFields) terms() EntitlementTerms {
	return EntitlementTerms{FeatureID: f.FeatureID, Type: EntitlementType(f.Type), Value: f.Value}
}

type setPricesInput struct {
	Plan string `path:"plan" format:"uuid"`
	Body struct {
		Prices []priceFields `json:"prices"`
	}
}

// SetPrices handles PUT /admin/plans/{plan}/prices.
func (h *HTTP) SetPrices(ctx context.Context, in *setPricesInput) (*rest.Data[[]AdminPrice], error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	prices, err := h.svc.SetPrices(ctx, id, viewAll(in.Body.Prices, priceFields.terms))
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(viewAll(prices, Price.Admin), "plans.prices_updated"), nil
}

// CheckSetPrices is the rest.Checks check for SetPrices.
func (h *HTTP) CheckSetPrices(ctx context.Context, in *setPricesInput) error {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return err
	}
	set := viewAll(in.Body.Prices, priceFields.terms)
	return h.svc.CheckPlanChange(ctx, id, PlanChange{Prices: &set})
}

type priceInput struct {
	Plan  string `path:"plan" format:"uuid"`
	Price string `path:"price" format:"uuid"`
}

// DeletePrice handles DELETE /admin/plans/{plan}/prices/{price}.
func (h *HTTP) DeletePrice(ctx context.Context, in *priceInput) (*rest.NoBody, error) {
	plan, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	price, err := shape.ParseID(in.Price)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.DeletePrice(ctx, plan, price)
}

// AdminEntitlements handles GET /admin/plans/{plan}/entitlements.
func (h *HTTP) AdminEntitlements(ctx context.Context, in *planInput) (*rest.Data[[]AdminEntitlement], error) {
	plan, err := h.AdminPlan(ctx, in)
	if err != nil {
		return nil, err
	}
	return rest.OK(plan.Body.Data.Entitlements), nil
}

type setEntitlementsInput struct {
	Plan string `path:"plan" format:"uuid"`
	Body struct {
		Entitlements []entitlementFields `json:"entitlements" maxItems:"500"`
	}
}

// SetEntitlements handles PUT /admin/plans/{plan}/entitlements.
func (h *HTTP) SetEntitlements(ctx context.Context, in *setEntitlementsInput) (*rest.Data[AdminPlan], error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	plan, err := h.svc.SetEntitlements(ctx, id, viewAll(in.Body.Entitlements, entitlementFields.terms))
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminPlan(plan), "plans.entitlements_updated"), nil
}

// CheckSetEntitlements is the rest.Checks check for SetEntitlements.
func (h *HTTP) CheckSetEntitlements(ctx context.Context, in *setEntitlementsInput) error {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return err
	}
	set := viewAll(in.Body.Entitlements, entitlementFields.terms)
	return h.svc.CheckPlanChange(ctx, id, PlanChange{Entitlements: &set})
}

type entitlementInput struct {
	Entitlement string `path:"entitlement" format:"uuid"`
}

// DeleteEntitlement handles DELETE /admin/entitlements/{entitlement}.
func (h *HTTP) DeleteEntitlement(ctx context.Context, in *entitlementInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Entitlement)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.DeleteEntitlement(ctx, id)
}
