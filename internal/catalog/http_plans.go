package catalog

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/page"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// AdminPlans handles GET /admin/plans.
func (h *HTTP) AdminPlans(ctx context.Context, _ *noInput) (*rest.Body[page.Page[AdminPlan]], error) {
	q, err := h.PlanList().Parse(rest.RequestOf(ctx).Query())
	if err != nil {
		return nil, err
	}
	plans, total, err := h.svc.Plans(ctx, q)
	if err != nil {
		return nil, err
	}
	views := viewAll(plans, func(p Plan) AdminPlan {
		view := adminPlan(p)
		if q.Includes("product") {
			product := adminProduct(p.Product)
			view.Product = &product
		}
		return view
	})
	return rest.NewBody(page.New(q, h.publicURL+"/api/v1/admin/plans", views, total)), nil
}

type planInput struct {
	Plan string `path:"plan" format:"uuid"`
}

// AdminPlan handles GET /admin/plans/{plan}.
func (h *HTTP) AdminPlan(ctx context.Context, in *planInput) (*rest.Data[AdminPlan], error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	p, err := h.svc.CurrentPlan(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OK(adminPlan(p)), nil
}

// PlanExists is the rest.Exists check for routes with {plan}.
func (h *HTTP) PlanExists(ctx context.Context, param func(string) string) error {
	return exists(ctx, param("plan"), h.svc.CurrentPlan)
}

type createPlanInput struct {
	Body struct {
		ProductID         uuid.UUID    `json:"product_id"`
		Slug              string       `json:"slug" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		Name              shape.Texts  `json:"name" format:"name" maxLength:"255"`
		Description       shape.Texts  `json:"description,omitempty" nullable:"true" maxLength:"65535" format:"multiline"`
		PricingType       string       `json:"pricing_type" enum:"flat,seat,usage"`
		BillingCycle      string       `json:"billing_cycle" enum:"monthly,yearly,quarterly,weekly" doc:"Legacy name of the billing interval. Ignored if the interval is set."`
		IntervalUnit      *string      `json:"interval_unit,omitempty" enum:"day,week,month,year"`
		IntervalCount     *int32       `json:"interval_count,omitempty" minimum:"1" doc:"Number of interval units per billing interval. An interval can be at most three years."`
		TrialDays         int32        `json:"trial_days,omitempty" minimum:"0" maximum:"730" default:"0"`
		TrialRequiresCard *bool        `json:"trial_requires_card,omitempty" default:"true"`
		SortOrder         int32        `json:"sort_order,omitempty" minimum:"0" default:"0"`
		IsDefault         bool         `json:"is_default,omitempty" default:"false"`
		IsActive          *bool        `json:"is_active,omitempty" default:"true"`
		Metadata          shape.Object `json:"metadata,omitempty" nullable:"true" maxBytes:"16384"`
	}
}

func (in *createPlanInput) plan() Plan {
	b := in.Body
	p := Plan{
		Product: Product{ID: b.ProductID}, Slug: b.Slug, Name: newText(b.Name), Description: newText(b.Description),
		PricingType: PricingType(b.PricingType), TrialDays: b.TrialDays, CardForTrial: boolOrTrue(b.TrialRequiresCard),
		SortOrder: b.SortOrder, IsActive: boolOrTrue(b.IsActive), IsDefault: b.IsDefault, Metadata: sqldb.JSON(b.Metadata),
	}
	p.SetInterval(&b.BillingCycle, b.IntervalUnit, b.IntervalCount)
	return p
}

// CheckCreatePlan is the rest.Checks check for CreatePlan.
func (h *HTTP) CheckCreatePlan(ctx context.Context, in *createPlanInput) error {
	known := *in
	if isUnitUnknown(ctx) {
		known.Body.IntervalCount = nil
	}
	return h.svc.CheckPlan(ctx, known.plan())
}

// isUnitUnknown reports whether the interval unit is invalid, so that the interval count cannot be
// checked against its maximum.
func isUnitUnknown(ctx context.Context) bool {
	return rest.IsBroken(ctx, "interval_unit") || rest.IsBroken(ctx, "billing_cycle")
}

// CreatePlan handles POST /admin/plans.
func (h *HTTP) CreatePlan(ctx context.Context, in *createPlanInput) (*rest.Data[AdminPlan], error) {
	plan, err := h.svc.CreatePlan(ctx, in.plan())
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminPlan(plan), "plans.created"), nil
}

type updatePlanInput struct {
	Plan string `path:"plan" format:"uuid"`
	Body struct {
		ProductID         shape.Opt[uuid.UUID] `json:"product_id,omitzero"`
		Slug              shape.Opt[string]    `json:"slug,omitzero" minLength:"1" maxLength:"255" pattern:"^[A-Za-z0-9_-]+$"`
		PricingType       shape.Opt[string]    `json:"pricing_type,omitzero" enum:"flat,seat,usage" doc:"How the price is calculated. Cannot be changed while the plan has subscribers."`
		BillingCycle      *string              `json:"billing_cycle,omitempty" enum:"monthly,yearly,quarterly,weekly" doc:"Legacy name of the billing interval. Ignored if the interval is set."`
		IntervalUnit      *string              `json:"interval_unit,omitempty" enum:"day,week,month,year"`
		IntervalCount     *int32               `json:"interval_count,omitempty" minimum:"1" doc:"Number of interval units per billing interval. An interval can be at most three years."`
		TrialDays         shape.Opt[int32]     `json:"trial_days,omitzero" minimum:"0" maximum:"730"`
		TrialRequiresCard shape.Opt[bool]      `json:"trial_requires_card,omitzero"`
		SortOrder         shape.Opt[int32]     `json:"sort_order,omitzero" minimum:"0"`
		IsDefault         shape.Opt[bool]      `json:"is_default,omitzero"`
		Entitlements      *[]entitlementFields `json:"entitlements,omitempty" maxItems:"500" doc:"Entitlements. Replaces all existing entitlements."`
		Prices            *[]priceFields       `json:"prices,omitempty" doc:"Prices. Replaces all existing prices."`
		recordChange
	}
}

// UpdatePlan handles PATCH /admin/plans/{plan}.
func (h *HTTP) UpdatePlan(ctx context.Context, in *updatePlanInput) (*rest.Data[AdminPlan], error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	plan, err := h.svc.UpdatePlan(ctx, id, in.change())
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminPlan(plan), "plans.updated"), nil
}

// CheckUpdatePlan is the rest.Checks check for UpdatePlan.
func (h *HTTP) CheckUpdatePlan(ctx context.Context, in *updatePlanInput) error {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return err
	}
	known := *in
	if isUnitUnknown(ctx) {
		known.Body.IntervalCount = nil
	}
	return h.svc.CheckPlanChange(ctx, id, known.change())
}

func (in *updatePlanInput) change() PlanChange {
	b := &in.Body
	change := PlanChange{Fields: func(p *Plan) {
		p.Product.ID = b.ProductID.OrValue(p.Product.ID)
		p.Slug = b.Slug.OrValue(p.Slug)
		p.PricingType = PricingType(b.PricingType.OrValue(string(p.PricingType)))
		p.TrialDays = b.TrialDays.OrValue(p.TrialDays)
		p.CardForTrial = b.TrialRequiresCard.OrValue(p.CardForTrial)
		p.SortOrder = b.SortOrder.OrValue(p.SortOrder)
		p.IsDefault = b.IsDefault.OrValue(p.IsDefault)
		p.SetInterval(b.BillingCycle, b.IntervalUnit, b.IntervalCount)
		b.apply(&p.Name, &p.Description, &p.IsActive, &p.Metadata)
	}}
	if b.Prices != nil {
		set := viewAll(*b.Prices, priceFields.terms)
		change.Prices = &set
	}
	if b.Entitlements != nil {
		set := viewAll(*b.Entitlements, entitlementFields.terms)
		change.Entitlements = &set
	}
	return change
}

// DeletePlan handles DELETE /admin/plans/{plan}.
func (h *HTTP) DeletePlan(ctx context.Context, in *planInput) (*rest.NoBody, error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	return &rest.NoBody{}, h.svc.DeletePlan(ctx, id)
}

// DuplicatePlan handles POST /admin/plans/{plan}/duplicate.
func (h *HTTP) DuplicatePlan(ctx context.Context, in *planInput) (*rest.Data[AdminPlan], error) {
	id, err := shape.ParseID(in.Plan)
	if err != nil {
		return nil, err
	}
	plan, err := h.svc.DuplicatePlan(ctx, id)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(adminPlan(plan), "plans.duplicated"), nil
}
