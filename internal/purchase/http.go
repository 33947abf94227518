package purchase

import (
	"context"
	"strings"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// HTTP has the handlers.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc} }

type checkoutInput struct {
	TenantID string `path:"tenantId" format:"uuid"`
	Slug     string `path:"slug" doc:"Slug of the pack."`
	Body     struct {
		Currency   string `json:"currency" minLength:"3" maxLength:"3"`
		Quantity   *int64 `json:"quantity,omitempty" minimum:"1" maximum:"100" doc:"Number of packs. Default: 1."`
		SuccessURL string `json:"success_url" format:"uri" maxLength:"2048"`
		CancelURL  string `json:"cancel_url" format:"uri" maxLength:"2048"`
	}
}

// PackCheckout is a checkout session on the provider's hosted page.
type PackCheckout struct {
	SessionID string `json:"session_id"`
	URL       string `json:"url" doc:"URL of the hosted checkout page."`
}

// OnSale is the rest.Exists check of Checkout: a pack that is not on sale is a 404 before the body is
// validated.
func (h *HTTP) OnSale(ctx context.Context, param func(string) string) error {
	_, err := h.svc.onSale(ctx, param("slug"))
	return err
}

// CheckCheckout is the check that rest.Checks runs for Checkout.
func (h *HTTP) CheckCheckout(ctx context.Context, in *checkoutInput) error {
	_, _, err := h.svc.selectPrice(ctx, in.Slug, strings.ToUpper(in.Body.Currency))
	return err
}

// Checkout handles POST /packs/{slug}/checkout.
func (h *HTTP) Checkout(ctx context.Context, in *checkoutInput) (*rest.Data[PackCheckout], error) {
	b := in.Body
	p := params{slug: in.Slug, currency: strings.ToUpper(b.Currency), quantity: 1, successURL: b.SuccessURL, cancelURL: b.CancelURL}
	if b.Quantity != nil {
		p.quantity = *b.Quantity
	}
	opened, err := h.svc.checkout(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	return rest.OK(PackCheckout{SessionID: opened.SessionID, URL: opened.URL}), nil
}
