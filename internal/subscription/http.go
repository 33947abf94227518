package subscription

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/sheet"
)

// HTTP has the handlers for subscriptions.
type HTTP struct {
	svc   *Service
	admin string // absolute URL prefix of a tenant, for pagination links
	// across is the absolute URL of the list across tenants, whose amounts are formatted with decimals.
	across   string
	decimals sheet.Decimals
}

// NewHTTP returns the handlers. publicURL is the base of pagination links and has no trailing
// slash.
func NewHTTP(svc *Service, publicURL string, decimals sheet.Decimals) *HTTP {
	return &HTTP{svc: svc, admin: publicURL + "/api/v1/admin/tenants/", across: publicURL + "/api/v1/admin/subscriptions", decimals: decimals}
}

// Show handles GET /subscription. It returns null if the tenant has no subscription.
func (h *HTTP) Show(ctx context.Context, _ *tenantInput) (*rest.Data[*SubscriptionView], error) {
	h.svc.ReadOpenCheckouts(ctx, authz.TenantID(ctx))
	sub, err := h.svc.LoadCurrent(ctx, authz.TenantID(ctx))
	if errors.Is(err, ErrNotFound) {
		return rest.OK[*SubscriptionView](nil), nil
	}
	if err != nil {
		return nil, err
	}
	v, err := h.svc.view(ctx, sub)
	if err != nil {
		return nil, err
	}
	return rest.OK(v), nil
}

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}

// RunningExists is the check of routes that require a running subscription.
func (h *HTTP) RunningExists(ctx context.Context, _ func(string) string) error {
	_, err := h.svc.loadRunning(ctx, authz.TenantID(ctx))
	return err
}

// CurrentExists is the check of routes that require a subscription that is not over.
func (h *HTTP) CurrentExists(ctx context.Context, _ func(string) string) error {
	_, err := h.svc.LoadCurrent(ctx, authz.TenantID(ctx))
	return err
}

type cancelInput struct {
	tenantInput
	Body struct {
		Reason      *string `json:"reason,omitempty" nullable:"true" maxLength:"500"`
		Immediately bool    `json:"immediately,omitempty" doc:"Whether to cancel immediately instead of at the end of the period."`
	}
}

// Cancel handles POST /subscription/cancel.
func (h *HTTP) Cancel(ctx context.Context, in *cancelInput) (*rest.Data[*SubscriptionView], error) {
	sub, err := h.svc.cancel(ctx, authz.TenantID(ctx), cancellation{immediately: in.Body.Immediately, reason: in.Body.Reason})
	return answerChange(ctx, sub, err, "subscription.canceled", h.svc.view)
}

// Resume handles POST /subscription/resume.
func (h *HTTP) Resume(ctx context.Context, _ *tenantInput) (*rest.Data[*SubscriptionView], error) {
	sub, err := h.svc.resume(ctx, h.svc.runningLoader(authz.TenantID(ctx)))
	return answerChange(ctx, sub, err, "subscription.resumed", h.svc.view)
}

// answerChange returns the response with the subscription after a change.
func answerChange(ctx context.Context, sub Subscription, err error, message string, view viewer) (*rest.Data[*SubscriptionView], error) {
	if err != nil {
		return nil, err
	}
	v, err := view(ctx, sub)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(v, message), nil
}

// Seats handles GET /subscription/seats.
func (h *HTTP) Seats(ctx context.Context, _ *tenantInput) (*rest.Data[SubscriptionSeats], error) {
	compared, err := h.svc.compareSeats(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(newSubscriptionSeats(compared)), nil
}
