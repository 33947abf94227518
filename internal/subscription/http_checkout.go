package subscription

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

// chosenPlan is the part of a request that names the plan of a subscription.
type chosenPlan struct {
	PlanID   string `json:"plan_id" format:"uuid"`
	Currency string `json:"currency" minLength:"3" maxLength:"3"`
	Quantity *int64 `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: 1."`
}

// boughtPlan is the part of a request that names the plan to buy.
type boughtPlan struct {
	chosenPlan
	PromotionCode *string `json:"promotion_code,omitempty" nullable:"true" maxLength:"255" doc:"Promotion code, in any case. Null or empty for none."`
}

// check rejects a plan that is not on sale and an unknown currency.
func (b chosenPlan) check(ctx context.Context, s *Service) error {
	planID, _ := shape.ParseID(b.PlanID) // a malformed ID matches no plan
	_, err := s.selectOffered(ctx, planID, strings.ToUpper(b.Currency))
	return err
}

func (b chosenPlan) params() (CheckoutParams, error) {
	planID, err := shape.ParseID(b.PlanID)
	p := CheckoutParams{PlanID: planID, Currency: strings.ToUpper(b.Currency), Quantity: 1}
	if b.Quantity != nil {
		p.Quantity = *b.Quantity
	}
	return p, err
}

func (b boughtPlan) params() (CheckoutParams, error) {
	p, err := b.chosenPlan.params()
	p.PromotionCode = orZero(b.PromotionCode)
	return p, err
}

type checkoutInput struct {
	tenantInput
	Body struct {
		boughtPlan
		SuccessURL string `json:"success_url" format:"uri" maxLength:"2048"`
		CancelURL  string `json:"cancel_url" format:"uri" maxLength:"2048"`
	}
}

// CheckCheckout is the check that rest.Checks runs for Checkout.
func (h *HTTP) CheckCheckout(ctx context.Context, in *checkoutInput) error {
	return in.Body.check(ctx, h.svc)
}

// Checkout handles POST /checkout.
func (h *HTTP) Checkout(ctx context.Context, in *checkoutInput) (*rest.Data[HostedCheckout], error) {
	p, err := in.Body.params()
	if err != nil {
		return nil, err
	}
	p.SuccessURL, p.CancelURL = in.Body.SuccessURL, in.Body.CancelURL
	session, err := h.svc.Checkout(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	return rest.OK(HostedCheckout{SessionID: session.ID, URL: session.URL}), nil
}

type checkoutPreviewInput struct {
	tenantInput
	Body struct {
		boughtPlan
		SuccessURL *string `json:"success_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"Not used."`
		CancelURL  *string `json:"cancel_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"Not used."`
	}
}

// CheckCheckoutPreview is the check that rest.Checks runs for PreviewCheckout.
func (h *HTTP) CheckCheckoutPreview(ctx context.Context, in *checkoutPreviewInput) error {
	return in.Body.check(ctx, h.svc)
}

// PreviewCheckout handles POST /checkout/preview.
func (h *HTTP) PreviewCheckout(ctx context.Context, in *checkoutPreviewInput) (*rest.Data[PurchasePreview], error) {
	p, err := in.Body.params()
	if err != nil {
		return nil, err
	}
	cost, err := h.svc.previewPurchase(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	return rest.OK(h.svc.viewPurchase(cost)), nil
}

type trialInput struct {
	tenantInput
	Body struct{ boughtPlan }
}

// CheckTrial is the check that rest.Checks runs for StartTrial.
func (h *HTTP) CheckTrial(ctx context.Context, in *trialInput) error {
	return in.Body.check(ctx, h.svc)
}

// StartTrial handles POST /subscription/trial.
func (h *HTTP) StartTrial(ctx context.Context, in *trialInput) (*rest.Data[*SubscriptionView], error) {
	p, err := in.Body.params()
	if err != nil {
		return nil, err
	}
	sub, err := h.svc.startTrial(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	v, err := h.svc.view(ctx, sub)
	return rest.OK(v), err
}
