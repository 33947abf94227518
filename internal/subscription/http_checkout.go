package subscription

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
)

type checkoutInput struct {
	tenantInput
	Body struct {
		PlanID     string `json:"plan_id" format:"uuid"`
		Currency   string `json:"currency" minLength:"3" maxLength:"3"`
		SuccessURL string `json:"success_url" format:"uri" maxLength:"2048"`
		CancelURL  string `json:"cancel_url" format:"uri" maxLength:"2048"`
		Quantity   *int64 `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Number of seats for a per-seat plan. Default: 1."`
	}
}

// CheckCheckout is the check that rest.Checks runs for Checkout.
func (h *HTTP) CheckCheckout(ctx context.Context, in *checkoutInput) error {
	planID, _ := shape.ParseID(in.Body.PlanID) // a malformed ID matches no plan
	_, err := h.svc.selectOffered(ctx, planID, strings.ToUpper(in.Body.Currency))
	return err
}

// Checkout handles POST /checkout.
func (h *HTTP) Checkout(ctx context.Context, in *checkoutInput) (*rest.Data[HostedCheckout], error) {
	planID, err := shape.ParseID(in.Body.PlanID)
	if err != nil {
		return nil, err
	}
	p := CheckoutParams{
		PlanID: planID, Currency: strings.ToUpper(in.Body.Currency), Quantity: 1,
		SuccessURL: in.Body.SuccessURL, CancelURL: in.Body.CancelURL,
	}
	if in.Body.Quantity != nil {
		p.Quantity = *in.Body.Quantity
	}
	session, err := h.svc.Checkout(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	return rest.OK(HostedCheckout{SessionID: session.ID, URL: session.URL}), nil
}
