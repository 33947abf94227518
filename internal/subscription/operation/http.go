package operation

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/rest"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription"
)

// HTTP has the handlers of operations.
type HTTP struct {
	svc           *Service
	subscriptions *subscription.HTTP
}

// NewHTTP returns the handlers; they answer with the views of subscriptions.
func NewHTTP(svc *Service, subscriptions *subscription.HTTP) *HTTP { return &HTTP{svc, subscriptions} }

type tenantInput struct {
	Tenant string `path:"tenantId" format:"uuid"`
}

// RunningExists is the check of the routes that need a running subscription.
func (h *HTTP) RunningExists(ctx context.Context, _ func(string) string) error {
	_, err := h.svc.deps.Subscriptions.Running(ctx, authz.TenantID(ctx))
	return err
}

// CurrentExists is the check of the routes that need a subscription that is not
// over.
func (h *HTTP) CurrentExists(ctx context.Context, _ func(string) string) error {
	_, err := h.svc.deps.Subscriptions.Current(ctx, authz.TenantID(ctx))
	return err
}

type cancelInput struct {
	tenantInput
	Body struct {
		Reason      *string `json:"reason,omitempty" nullable:"true" maxLength:"500"`
		Immediately bool    `json:"immediately,omitempty" doc:"End at once instead of at the end of the period."`
	}
}

// Cancel handles POST /subscription/cancel.
func (h *HTTP) Cancel(ctx context.Context, in *cancelInput) (*rest.Data[*subscription.SubscriptionView], error) {
	sub, err := h.svc.Cancel(ctx, authz.TenantID(ctx), Cancellation{Immediately: in.Body.Immediately, Reason: in.Body.Reason})
	return h.changed(ctx, sub, err, "subscription.canceled")
}

// Resume handles POST /subscription/resume.
func (h *HTTP) Resume(ctx context.Context, _ *tenantInput) (*rest.Data[*subscription.SubscriptionView], error) {
	sub, err := h.svc.Resume(ctx, authz.TenantID(ctx))
	return h.changed(ctx, sub, err, "subscription.resumed")
}

// changed answers the subscription after a change.
func (h *HTTP) changed(ctx context.Context, sub subscription.Subscription, err error, message string) (*rest.Data[*subscription.SubscriptionView], error) {
	if err != nil {
		return nil, err
	}
	v, err := h.subscriptions.View(ctx, sub)
	if err != nil {
		return nil, err
	}
	return rest.OKMessage(v, message), nil
}

// PreviewAmount is money in a preview, which names its key differently
// (rules: http#values).
type PreviewAmount struct {
	Cents    int64  `json:"cents"`
	Currency string `json:"currency"`
}

// ProrationBreakdown tells how the figures of a preview were computed.
type ProrationBreakdown struct {
	Method        string        `json:"method" enum:"psp_preview,daily"`
	Currency      string        `json:"currency"`
	PeriodStart   string        `json:"period_start" format:"date"`
	PeriodEnd     string        `json:"period_end" format:"date"`
	DaysRemaining int           `json:"days_remaining"`
	TotalDays     int           `json:"total_days"`
	Usage         PreviewAmount `json:"usage" doc:"The part of charge for usage so far, when the change leaves a plan that bills usage. Usage that is recorded later outdates the preview."`
	// Pending is part of credit and charge.
	Pending PreviewAmount `json:"pending" doc:"What of credit and charge waited for the next invoice with or without the change, such as changes of seats; negative for a credit."`
}

// ChangePreview is what a change of plan would cost: charge less credit is net.
type ChangePreview struct {
	Credit    PreviewAmount      `json:"credit"`
	Charge    PreviewAmount      `json:"charge"`
	Net       PreviewAmount      `json:"net"`
	Breakdown ProrationBreakdown `json:"breakdown"`

	BalanceApplied PreviewAmount `json:"balance_applied" doc:"What the customer's credit pays of net."`
	DueNow         PreviewAmount `json:"due_now" doc:"What is charged now: net less balance_applied, at least 0."`
	NextBillingAt  *shape.Time   `json:"next_billing_at" doc:"When the next regular bill is due after the change: the end of its period or trial. Null if the subscription is scheduled to end."`
	NextAmount     PreviewAmount `json:"next_amount" doc:"The next regular bill: quantity × price, without usage; 0 if there is none."`
	NextDue        PreviewAmount `json:"next_due" doc:"What is charged of it after the credit that is left."`
}

type previewInput struct {
	tenantInput
	PlanID   string `query:"new_plan_id" required:"true" format:"uuid"`
	Quantity int64  `query:"quantity" minimum:"1" maximum:"999999" doc:"Seats of a seat plan; default as many as now, but not fewer than the members."`
}

// PreviewChange handles GET /subscription/preview-change.
func (h *HTTP) PreviewChange(ctx context.Context, in *previewInput) (*rest.Data[ChangePreview], error) {
	planID, err := shape.ParseID(in.PlanID)
	if err != nil {
		return nil, err
	}
	p, err := h.svc.PreviewChange(ctx, authz.TenantID(ctx), planID, in.Quantity)
	if err != nil {
		return nil, err
	}
	return rest.OK(newChangePreview(p)), nil
}

func newChangePreview(p Preview) ChangePreview {
	amount := func(cents int64) PreviewAmount { return PreviewAmount{Cents: cents, Currency: p.Currency} }
	v := ChangePreview{
		BalanceApplied: amount(p.BalanceApplied()), DueNow: amount(p.DueNow()), NextAmount: amount(p.NextAmount), NextDue: amount(p.NextDue()),
		Credit: amount(p.Credit), Charge: amount(p.Charge + p.Usage), Net: amount(p.Total()),
		Breakdown: ProrationBreakdown{
			Method: p.Method, Currency: p.Currency, PeriodStart: p.PeriodStart.UTC().Format(time.DateOnly), PeriodEnd: p.PeriodEnd.UTC().Format(time.DateOnly),
			DaysRemaining: p.DaysRemaining(), TotalDays: p.TotalDays(), Pending: amount(p.Pending), Usage: amount(p.Usage),
		},
	}
	if !p.NextBillingAt.IsZero() {
		at := shape.Time(p.NextBillingAt)
		v.NextBillingAt = &at
	}
	return v
}

type changeInput struct {
	tenantInput
	Body struct {
		PlanID     string  `json:"new_plan_id" format:"uuid"`
		Quantity   *int64  `json:"quantity,omitempty" minimum:"1" maximum:"999999" doc:"Seats of a seat plan; default as many as now, but not fewer than the members."`
		SuccessURL *string `json:"success_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"Required from a free plan to a paid one."`
		CancelURL  *string `json:"cancel_url,omitempty" nullable:"true" format:"uri" maxLength:"2048" doc:"Required from a free plan to a paid one."`
	}
}

// PlanChange is what came of a change of plan: the subscription, the checkout that makes
// the change once it is completed, or the page on which its payment is confirmed.
type PlanChange struct {
	Action        string                         `json:"action" enum:"updated,checkout_required,confirmation_required"`
	PaymentAction *psp.PaymentAction             `json:"payment_action,omitempty"`
	Subscription  *subscription.SubscriptionView `json:"subscription,omitempty"`
	CheckoutURL   string                         `json:"checkout_url,omitempty"`
	SessionID     string                         `json:"session_id,omitempty"`
}

// CheckChangePlan is the check behind rest.Checks for ChangePlan.
func (h *HTTP) CheckChangePlan(ctx context.Context, in *changeInput) error {
	planID, _ := shape.ParseID(in.Body.PlanID) // a malformed id is that of no plan
	sub, err := h.svc.deps.Subscriptions.Current(ctx, authz.TenantID(ctx))
	if err != nil || sub.PlanID == planID { // the present plan may be off sale
		return err
	}
	_, err = h.svc.deps.Subscriptions.PlanOnSale(ctx, planID, "new_plan_id")
	return err
}

// ChangePlan handles POST /subscription/change-plan.
func (h *HTTP) ChangePlan(ctx context.Context, in *changeInput) (*rest.Data[PlanChange], error) {
	planID, err := shape.ParseID(in.Body.PlanID)
	if err != nil {
		return nil, err
	}
	p := ChangeParams{
		PlanID: planID, Quantity: orZero(in.Body.Quantity),
		SuccessURL: orZero(in.Body.SuccessURL), CancelURL: orZero(in.Body.CancelURL),
	}
	changed, err := h.svc.ChangePlan(ctx, authz.TenantID(ctx), p)
	if err != nil {
		return nil, err
	}
	if c := changed.Checkout; c != nil {
		return rest.OK(PlanChange{Action: "checkout_required", CheckoutURL: c.URL, SessionID: c.ID}), nil
	}
	v, err := h.subscriptions.View(ctx, changed.Subscription)
	if err != nil {
		return nil, err
	}
	if changed.Waits {
		return rest.OK(PlanChange{Action: "confirmation_required", PaymentAction: v.PaymentAction, Subscription: v}), nil
	}
	return rest.OKMessage(PlanChange{Action: "updated", Subscription: v}, "subscription.plan_changed"), nil
}

// DropChange handles DELETE /subscription/pending-change.
func (h *HTTP) DropChange(ctx context.Context, _ *tenantInput) (*rest.NoBody, error) {
	return &rest.NoBody{}, h.svc.DropChange(ctx, authz.TenantID(ctx))
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}

// SubscriptionSeats compares the team with the subscription
// (rules: subscription#seats).
type SubscriptionSeats struct {
	CurrentSeats         int64       `json:"current_seats"`
	SeatLimit            *int64      `json:"seat_limit"`
	PricePerSeat         money.Money `json:"price_per_seat"`
	TotalSeatCost        money.Money `json:"total_seat_cost"`
	SubscriptionQuantity int64       `json:"subscription_quantity"`
	AvailableSeats       *int64      `json:"available_seats"`
	IsSeatBased          bool        `json:"is_seat_based"`
	IsSynced             bool        `json:"is_synced"`
}

// Seats handles GET /subscription/seats.
func (h *HTTP) Seats(ctx context.Context, _ *tenantInput) (*rest.Data[SubscriptionSeats], error) {
	seats, err := h.svc.Seats(ctx, authz.TenantID(ctx))
	if err != nil {
		return nil, err
	}
	return rest.OK(SubscriptionSeats{
		CurrentSeats: seats.Members, SeatLimit: seats.Limit,
		PricePerSeat:         money.Money{AmountCents: seats.Price, Currency: seats.Currency},
		TotalSeatCost:        money.Money{AmountCents: seats.Price * seats.Billed, Currency: seats.Currency},
		SubscriptionQuantity: seats.Billed, AvailableSeats: seats.Available(),
		IsSeatBased: seats.BySeat, IsSynced: seats.Synced(),
	}), nil
}
