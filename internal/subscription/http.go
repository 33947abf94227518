package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
)

// HTTP has the handlers of subscriptions.
type HTTP struct {
	svc   *Service
	admin string // the absolute URL that a tenant's id follows, for the links between pages
}

// NewHTTP returns the handlers. publicURL, without a slash at its end, begins the links
// between pages.
func NewHTTP(svc *Service, publicURL string) *HTTP {
	return &HTTP{svc: svc, admin: publicURL + "/api/v1/admin/tenants/"}
}

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
	PaymentAction      *psp.PaymentAction         `json:"payment_action" doc:"What the latest invoice asks of a person, while it is open."`
	PendingChange      *PendingChangeView         `json:"pending_change"`
	CreatedAt          shape.Time                 `json:"created_at"`
	UpdatedAt          shape.Time                 `json:"updated_at"`
}

// PendingChangeView is a change of plan that waits for its confirmation
// (rules: subscription#changes-that-wait).
type PendingChangeView struct {
	Plan          PendingPlan        `json:"plan"`
	ExpiresAt     shape.Time         `json:"expires_at"`
	PaymentAction *psp.PaymentAction `json:"payment_action"`
}

// PendingPlan is the plan that is waited for.
type PendingPlan struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
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
	v := &SubscriptionView{
		ID: sub.ID, Status: sub.Status, Plan: entitlement.ViewPlan(ctx, plan), Currency: sub.Currency, PriceCents: sub.PriceCents,
		Quantity: sub.Quantity, IntervalUnit: sub.IntervalUnit, IntervalCount: sub.IntervalCount,
		CurrentPeriodStart: shape.T(sub.CurrentPeriodStart), CurrentPeriodEnd: shape.T(sub.CurrentPeriodEnd),
		TrialEndsAt: shape.TP(sub.TrialEndsAt), CancelAtPeriodEnd: sub.Ending(), CancelAt: shape.TP(sub.CancelAt),
		CanceledAt: shape.TP(sub.CanceledAt), CancellationReason: sub.CancellationReason,
		PaymentAction: sub.Action.OrNil(),
		CreatedAt:     shape.T(sub.CreatedAt), UpdatedAt: shape.T(sub.UpdatedAt),
	}
	// One that has expired is not shown, though nobody may have told of its end yet.
	if sub.Waits(h.svc.deps.Clock.Now()) {
		if plan, err = h.svc.deps.Catalog.Plan(ctx, sub.Pending.PlanID); err != nil {
			return nil, err
		}
		v.PendingChange = &PendingChangeView{
			Plan:      PendingPlan{ID: plan.ID, Name: entitlement.ViewPlan(ctx, plan).Name},
			ExpiresAt: shape.T(sub.Pending.ExpiresAt), PaymentAction: sub.Action.OrNil(),
		}
	}
	return v, nil
}

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}
