package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
)

// HTTP has the handlers of subscriptions.
type HTTP struct{ svc *Service }

// NewHTTP returns the handlers.
func NewHTTP(svc *Service) *HTTP { return &HTTP{svc: svc} }

// SubscriptionView is the subscription resource (rules: subscription#statuses).
type SubscriptionView struct {
	ID                 uuid.UUID                  `json:"id"`
	Status             Status                     `json:"status"`
	Plan               entitlement.SubscribedPlan `json:"plan"`
	Currency           string                     `json:"currency"`
	PriceCents         int64                      `json:"price_cents"`
	Quantity           int64                      `json:"quantity"`
	IntervalUnit       string                     `json:"interval_unit"`
	IntervalCount      int32                      `json:"interval_count"`
	CurrentPeriodStart shape.Time                 `json:"current_period_start"`
	CurrentPeriodEnd   shape.Time                 `json:"current_period_end"`
	TrialEndsAt        *shape.Time                `json:"trial_ends_at"`
	CancelAtPeriodEnd  bool                       `json:"cancel_at_period_end" doc:"An end is scheduled; cancel_at is its date."`
	CancelAt           *shape.Time                `json:"cancel_at"`
	CanceledAt         *shape.Time                `json:"canceled_at"`
	CancellationReason *string                    `json:"cancellation_reason"`
	CreatedAt          shape.Time                 `json:"created_at"`
	UpdatedAt          shape.Time                 `json:"updated_at"`
}

// Show handles GET /subscription: null where the tenant has none.
func (h *HTTP) Show(ctx context.Context, _ *tenantInput) (*rest.Data[*SubscriptionView], error) {
	h.svc.ReadOpenCheckouts(ctx, authz.TenantID(ctx))
	sub, err := h.svc.Current(ctx, authz.TenantID(ctx))
	if errors.Is(err, ErrNotFound) {
		return rest.OK[*SubscriptionView](nil), nil
	}
	if err != nil {
		return nil, err
	}
	v, err := h.View(ctx, sub)
	if err != nil {
		return nil, err
	}
	return rest.OK(v), nil
}

// View shows a subscription with its plan.
func (h *HTTP) View(ctx context.Context, sub Subscription) (*SubscriptionView, error) {
	plan, err := h.svc.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return nil, err
	}
	return &SubscriptionView{
		ID: sub.ID, Status: sub.Status, Plan: entitlement.ViewPlan(ctx, plan), Currency: sub.Currency, PriceCents: sub.PriceCents,
		Quantity: sub.Quantity, IntervalUnit: sub.IntervalUnit, IntervalCount: sub.IntervalCount,
		CurrentPeriodStart: shape.T(sub.CurrentPeriodStart), CurrentPeriodEnd: shape.T(sub.CurrentPeriodEnd),
		TrialEndsAt: shape.TP(sub.TrialEndsAt), CancelAtPeriodEnd: sub.Ending(), CancelAt: shape.TP(sub.CancelAt),
		CanceledAt: shape.TP(sub.CanceledAt), CancellationReason: sub.CancellationReason,
		CreatedAt: shape.T(sub.CreatedAt), UpdatedAt: shape.T(sub.UpdatedAt),
	}, nil
}

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}
