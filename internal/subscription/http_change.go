package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// whenPeriodEnd is the value of the parameter when for a change at the end of the period.
const whenPeriodEnd = "period_end"

type previewInput struct {
	tenantInput
	PlanID        string `query:"new_plan_id" required:"true" format:"uuid"`
	PromotionCode string `query:"promotion_code" maxLength:"255" doc:"Promotion code, in any case."`
	Quantity      int64  `query:"quantity" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: the current number, or the number of members if it is higher."`
	When          string `query:"when" enum:"now,period_end" doc:"Whether the change takes effect now or at the end of the period. Default: now."`
}

// PreviewChange handles GET /subscription/preview-change.
func (h *HTTP) PreviewChange(ctx context.Context, in *previewInput) (*rest.Data[ChangePreview], error) {
	planID, err := shape.ParseID(in.PlanID)
	if err != nil {
		return nil, err
	}
	p, err := h.svc.previewChange(ctx, authz.TenantID(ctx), changeParams{
		planID: planID, quantity: in.Quantity, promotionCode: in.PromotionCode, atPeriodEnd: in.When == whenPeriodEnd,
	})
	if err != nil {
		return nil, err
	}
	return rest.OK(newChangePreview(p)), nil
}

type changeInput struct {
	tenantInput
	Body struct {
		PlanID        string  `json:"new_plan_id" format:"uuid"`
		Quantity      *int64  `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: the current number, or the number of members if it is higher."`
		When          string  `json:"when,omitempty" enum:"now,period_end" doc:"Whether the change takes effect now or at the end of the period. Default: now."`
		PromotionCode *string `json:"promotion_code,omitempty" nullable:"true" maxLength:"255" doc:"Promotion code, in any case. Null or empty for none. Not with period_end."`
		SuccessURL    *string `json:"success_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"URL to redirect to after payment. Required for a change from a free to a paid plan."`
		CancelURL     *string `json:"cancel_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"URL to redirect to if the customer leaves the checkout. Required for a change from a free to a paid plan."`
	}
}

// CheckChangePlan is the check that rest.Checks runs for ChangePlan.
func (h *HTTP) CheckChangePlan(ctx context.Context, in *changeInput) error {
	planID, _ := shape.ParseID(in.Body.PlanID) // a malformed ID matches no plan
	sub, err := h.svc.LoadCurrent(ctx, authz.TenantID(ctx))
	if err != nil || sub.PlanID == planID { // the present plan may no longer be on sale
		return err
	}
	_, err = h.svc.planOnSale(ctx, planID, "new_plan_id")
	return err
}

// ChangePlan handles POST /subscription/change-plan.
func (h *HTTP) ChangePlan(ctx context.Context, in *changeInput) (*rest.Data[PlanChange], error) {
	planID, err := shape.ParseID(in.Body.PlanID)
	if err != nil {
		return nil, err
	}
	p := changeParams{
		planID: planID, quantity: orZero(in.Body.Quantity), promotionCode: orZero(in.Body.PromotionCode),
		successURL: orZero(in.Body.SuccessURL), cancelURL: orZero(in.Body.CancelURL), atPeriodEnd: in.Body.When == whenPeriodEnd,
	}
	if p.atPeriodEnd {
		return h.schedulePlan(ctx, p)
	}
	result, err := h.svc.changePlan(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	if c := result.checkout; c != nil {
		return rest.OK(PlanChange{Action: "checkout_required", CheckoutURL: c.URL, SessionID: c.ID}), nil
	}
	v, err := h.svc.view(ctx, result.sub)
	if err != nil {
		return nil, err
	}
	if result.isPending {
		return rest.OK(PlanChange{Action: "confirmation_required", PaymentAction: v.PaymentAction, Subscription: v}), nil
	}
	return rest.OKMessage(PlanChange{Action: "updated", Subscription: v}, "subscription.plan_changed"), nil
}

func (h *HTTP) schedulePlan(ctx context.Context, p changeParams) (*rest.Data[PlanChange], error) {
	sub, err := h.svc.schedulePlan(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	v, err := h.svc.view(ctx, sub)
	if err != nil {
		return nil, err
	}
	return rest.OK(PlanChange{Action: "scheduled", Subscription: v}), nil
}

// DropChange handles DELETE /subscription/pending-change.
func (h *HTTP) DropChange(ctx context.Context, _ *tenantInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.dropChange(ctx, authz.TenantID(ctx))
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}
