package subscription

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// whenPeriodEnd is the value of the parameter when for a change at the end of the period.
const whenPeriodEnd = "period_end"

// changeQuery is the query of a preview of a change.
type changeQuery struct {
	PlanID        string `query:"new_plan_id" required:"true" format:"uuid"`
	PromotionCode string `query:"promotion_code" maxLength:"255" doc:"Promotion code, in any case."`
	Quantity      int64  `query:"quantity" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: the current number, or the number of members if it is higher."`
	When          string `query:"when" enum:"now,period_end" doc:"Whether the change takes effect now or at the end of the period. Default: now."`
}

func (q changeQuery) params() (changeParams, error) {
	planID, err := shape.ParseID(q.PlanID)
	return changeParams{planID: planID, quantity: q.Quantity, promotionCode: q.PromotionCode, atPeriodEnd: q.When == whenPeriodEnd}, err
}

type previewInput struct {
	tenantInput
	changeQuery
}

// PreviewChange handles GET /subscription/preview-change.
func (h *HTTP) PreviewChange(ctx context.Context, in *previewInput) (*rest.Data[ChangePreview], error) {
	p, err := in.params()
	if err != nil {
		return nil, err
	}
	return h.previewChange(ctx, h.svc.runningLoader(authz.TenantID(ctx)), p)
}

func (h *HTTP) previewChange(ctx context.Context, load loader, p changeParams) (*rest.Data[ChangePreview], error) {
	shown, err := h.svc.previewChange(ctx, load, p)
	if err != nil {
		return nil, err
	}
	return rest.OK(newChangePreview(shown)), nil
}

// changeBody is the part of a request that names the change of a plan.
type changeBody struct {
	PlanID        string  `json:"new_plan_id" format:"uuid"`
	Quantity      *int64  `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: the current number, or the number of members if it is higher."`
	When          string  `json:"when,omitempty" enum:"now,period_end" doc:"Whether the change takes effect now or at the end of the period. Default: now."`
	PromotionCode *string `json:"promotion_code,omitempty" nullable:"true" maxLength:"255" doc:"Promotion code, in any case. Null or empty for none. Not with period_end."`
}

func (b changeBody) params() (changeParams, error) {
	planID, err := shape.ParseID(b.PlanID)
	return changeParams{
		planID: planID, quantity: orZero(b.Quantity), promotionCode: orZero(b.PromotionCode), atPeriodEnd: b.When == whenPeriodEnd,
	}, err
}

// check rejects a plan that is not on sale, except the current plan.
func (b changeBody) check(ctx context.Context, s *Service, load loader) error {
	planID, _ := shape.ParseID(b.PlanID) // a malformed ID matches no plan
	sub, err := load(ctx)
	if err != nil || sub.PlanID == planID {
		return err
	}
	_, err = s.planOnSale(ctx, planID, "new_plan_id")
	return err
}

type changeInput struct {
	tenantInput
	Body struct {
		changeBody
		SuccessURL *string `json:"success_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"URL to redirect to after payment. Required for a change from a free to a paid plan."`
		CancelURL  *string `json:"cancel_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"URL to redirect to if the customer leaves the checkout. Required for a change from a free to a paid plan."`
	}
}

// CheckChangePlan is the check that rest.Checks runs for ChangePlan.
func (h *HTTP) CheckChangePlan(ctx context.Context, in *changeInput) error {
	return in.Body.check(ctx, h.svc, h.svc.currentLoader(authz.TenantID(ctx)))
}

// ChangePlan handles POST /subscription/change-plan.
func (h *HTTP) ChangePlan(ctx context.Context, in *changeInput) (*rest.Data[PlanChange], error) {
	p, err := in.Body.params()
	if err != nil {
		return nil, err
	}
	p.successURL, p.cancelURL = orZero(in.Body.SuccessURL), orZero(in.Body.CancelURL)
	return h.changePlan(ctx, h.svc.currentLoader(authz.TenantID(ctx)), p, h.svc.view)
}

// viewer returns the view of a subscription for the readers of a route.
type viewer func(ctx context.Context, sub Subscription) (*SubscriptionView, error)

// changePlan changes the plan of the subscription that load returns, now or at the end of the period.
func (h *HTTP) changePlan(ctx context.Context, load loader, p changeParams, view viewer) (*rest.Data[PlanChange], error) {
	if p.atPeriodEnd {
		sub, err := h.svc.schedulePlan(ctx, load, p)
		return answerPlanChange(ctx, PlanChange{Action: "scheduled"}, sub, err, view)
	}
	result, err := h.svc.changePlan(ctx, load, p)
	if c := result.checkout; err == nil && c != nil {
		return rest.OK(PlanChange{Action: "checkout_required", CheckoutURL: c.URL, SessionID: c.ID}), nil
	}
	if err == nil && result.isPending {
		return answerPlanChange(ctx, PlanChange{Action: "confirmation_required", PaymentAction: result.action}, result.sub, nil, view)
	}
	answer, err := answerPlanChange(ctx, PlanChange{Action: "updated"}, result.sub, err, view)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(answer.Body.Data, "subscription.plan_changed"), nil
}

// answerPlanChange returns the response with the subscription after a change.
func answerPlanChange(ctx context.Context, c PlanChange, sub Subscription, err error, view viewer) (*rest.Data[PlanChange], error) {
	if err == nil {
		c.Subscription, err = view(ctx, sub)
	}
	if err != nil {
		return nil, err
	}
	if c.Action == "confirmation_required" && c.PaymentAction == nil {
		c.PaymentAction = c.Subscription.PaymentAction
	}
	return rest.OK(c), nil
}

// DropChange handles DELETE /subscription/pending-change.
func (h *HTTP) DropChange(ctx context.Context, _ *tenantInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.dropChange(ctx, h.svc.runningLoader(authz.TenantID(ctx)))
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}
