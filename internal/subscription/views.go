package subscription

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/rest/shape"
	"github.com/tenantry/tenantry/internal/subscription/entitlement"
)

// The views are the JSON of the API and of the events that webhooks deliver.

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
	CancelAtPeriodEnd  bool                       `json:"cancel_at_period_end" doc:"Whether a cancellation is scheduled. See cancel_at for the time."`
	CancelAt           *shape.Time                `json:"cancel_at"`
	CanceledAt         *shape.Time                `json:"canceled_at"`
	CancellationReason *string                    `json:"cancellation_reason"`
	PaymentAction      *money.PaymentAction       `json:"payment_action" doc:"Action that the customer has to take: pay or confirm the latest open invoice, or add a card before the trial ends. Null if no action is required."`
	PendingChange      *PendingChangeView         `json:"pending_change"`
	Collection         string                     `json:"collection" enum:"card,invoice" doc:"How invoices are paid: charged to the saved payment method (card), or sent to the customer (invoice)."`
	DaysUntilDue       *int64                     `json:"days_until_due" doc:"Number of days to pay an invoice. Null for card."`
	PurchaseOrder      *string                    `json:"purchase_order" doc:"The customer's purchase order, which appears on invoices. Null if not set."`
	CustomPrice        bool                       `json:"custom_price" doc:"Whether the present price was agreed with the customer and differs from the list price."`
	Discount           *SubscriptionDiscount      `json:"discount" doc:"Discount of the next invoices. Null without one. The price is the full price."`
	FeaturesUntil      *shape.Time                `json:"features_until" doc:"End of the grace period of a subscription that is past_due: until then it keeps its features. Stays after it has passed. Null for other statuses, and without a grace period."`
	CreatedAt          shape.Time                 `json:"created_at"`
	UpdatedAt          shape.Time                 `json:"updated_at"`
}

// PendingChangeView is a change that waits for its payment to be confirmed
// (rules: subscription#pending-changes) or that is scheduled for the end of the period.
type PendingChangeView struct {
	Kind          string               `json:"kind" enum:"payment,scheduled"`
	Plan          PendingPlan          `json:"plan"`
	Quantity      int64                `json:"quantity"`
	PriceCents    int64                `json:"price_cents" doc:"Price per unit after the change, in minor units."`
	EffectiveAt   *shape.Time          `json:"effective_at" doc:"Time at which a scheduled change takes effect: the end of the period or trial. Null for kind payment."`
	ExpiresAt     *shape.Time          `json:"expires_at" doc:"Time at which a change that waits for its payment is dropped. Null for kind scheduled."`
	PaymentAction *money.PaymentAction `json:"payment_action"`
	By            *authz.ChangeAuthor  `json:"by" doc:"The user or API key that requested the change. Null if it was requested at the payment provider."`
}

// SubscriptionDiscount is the discount of a subscription.
type SubscriptionDiscount struct {
	Code       string          `json:"code" doc:"Promotion code."`
	Name       string          `json:"name"`
	PercentOff *shape.Quantity `json:"percent_off" doc:"Percentage off. Null for an amount."`
	Amount     *money.Money    `json:"amount" doc:"Amount off. Null for a percentage."`
	EndsAt     *shape.Time     `json:"ends_at" doc:"End of a discount for some months. It applies to periods that begin before. Null for other discounts."`
}

// PendingPlan is the plan of a pending change.
type PendingPlan struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// view returns the view of a subscription and its plan for its tenant, in the locale of ctx. It does
// not name admins and keys of the platform.
func (s *Service) view(ctx context.Context, sub Subscription) (*SubscriptionView, error) {
	return s.newViewMaker(false).view(ctx, sub)
}

// platformView is view for the platform.
func (s *Service) platformView(ctx context.Context, sub Subscription) (*SubscriptionView, error) {
	return s.newViewMaker(true).view(ctx, sub)
}

// viewMaker makes views of subscriptions. It reads each plan and each discount once.
type viewMaker struct {
	*Service
	forPlatform bool
	plans       map[uuid.UUID]catalog.Plan
	discounts   map[uuid.UUID]discount.Discount
}

func (s *Service) newViewMaker(forPlatform bool) viewMaker {
	return viewMaker{s, forPlatform, map[uuid.UUID]catalog.Plan{}, map[uuid.UUID]discount.Discount{}}
}

func (s viewMaker) plan(ctx context.Context, id uuid.UUID) (catalog.Plan, error) {
	return loadOnce(ctx, s.plans, id, s.deps.Catalog.Plan)
}

// loadOnce loads a value unless it is among the loaded ones.
func loadOnce[V any](ctx context.Context, loaded map[uuid.UUID]V, id uuid.UUID, load func(context.Context, uuid.UUID) (V, error)) (V, error) {
	value, ok := loaded[id]
	if ok {
		return value, nil
	}
	value, err := load(ctx, id)
	if err == nil {
		loaded[id] = value
	}
	return value, err
}

func (s viewMaker) view(ctx context.Context, sub Subscription) (*SubscriptionView, error) {
	plan, err := s.plan(ctx, sub.PlanID)
	if err != nil {
		return nil, err
	}
	v := &SubscriptionView{
		ID: sub.ID, Status: sub.Status, Plan: entitlement.ViewPlan(ctx, plan), Currency: sub.Currency, PriceCents: sub.PriceCents,
		Quantity: sub.Quantity, IntervalUnit: sub.IntervalUnit, IntervalCount: sub.IntervalCount,
		CurrentPeriodStart: shape.T(sub.CurrentPeriodStart), CurrentPeriodEnd: shape.T(sub.CurrentPeriodEnd),
		TrialEndsAt: shape.TP(sub.TrialEndsAt), CancelAtPeriodEnd: sub.IsEnding(), CancelAt: shape.TP(sub.CancelAt),
		CanceledAt: shape.TP(sub.CanceledAt), CancellationReason: sub.CancellationReason,
		Collection: sub.Terms.Collection, DaysUntilDue: sub.Terms.days(), PurchaseOrder: orNil(sub.Terms.PurchaseOrder), CustomPrice: sub.CustomPrice,
		PaymentAction: s.paymentAction(sub), FeaturesUntil: shape.TP(s.featuresUntil(sub)),
		CreatedAt: shape.T(sub.CreatedAt), UpdatedAt: shape.T(sub.UpdatedAt),
	}
	if v.Discount, err = s.viewDiscount(ctx, sub); err != nil {
		return nil, err
	}
	v.PendingChange, err = s.viewPending(ctx, sub)
	return v, err
}

// viewPending returns the view of the change that waits for its payment or for the end of the period,
// or nil.
func (s viewMaker) viewPending(ctx context.Context, sub Subscription) (*PendingChangeView, error) {
	v := &PendingChangeView{}
	var planID uuid.UUID
	switch p, c := sub.Pending, sub.Scheduled; {
	case sub.hasPendingChange(s.deps.Clock.Now()): // an expired change is hidden until its end is read back
		planID, v.By = p.PlanID, p.By.Author(s.forPlatform)
		v.Kind, v.Quantity, v.PriceCents, v.ExpiresAt, v.PaymentAction = "payment", p.Quantity, p.PriceCents, shape.TP(&p.ExpiresAt), sub.Action.OrNil()
	case c != nil && !sub.Status.IsOver():
		planID, v.By = c.PlanID, c.By.Author(s.forPlatform)
		v.Kind, v.Quantity, v.PriceCents, v.EffectiveAt = "scheduled", c.Quantity, c.PriceCents, shape.TP(&c.EffectiveAt)
	default:
		return nil, nil //nolint:nilnil // no change
	}
	plan, err := s.plan(ctx, planID)
	if err != nil {
		return nil, err
	}
	v.Plan = PendingPlan{ID: plan.ID, Name: entitlement.ViewPlan(ctx, plan).Name}
	return v, nil
}

// PreviewAmount is an amount in a preview, whose JSON key differs from other amounts
// (rules: http#values).
type PreviewAmount struct {
	Cents    int64  `json:"cents"`
	Currency string `json:"currency"`
}

// ProrationBreakdown is the calculation method of a preview and the period that it covers.
type ProrationBreakdown struct {
	Method        string        `json:"method" enum:"psp_preview,daily"`
	Currency      string        `json:"currency"`
	PeriodStart   string        `json:"period_start" format:"date"`
	PeriodEnd     string        `json:"period_end" format:"date"`
	DaysRemaining int           `json:"days_remaining"`
	TotalDays     int           `json:"total_days"`
	Usage         PreviewAmount `json:"usage" doc:"Part of the charge for usage so far, for a change from a usage-based plan. Recording more usage makes the preview outdated."`
	// Pending is included in credit and charge.
	Pending PreviewAmount `json:"pending" doc:"Part of credit and charge that would be on the next invoice even without the change, such as earlier seat changes. Negative for a credit."`
}

// ChangePreview is the cost of a change of plan. Net is charge minus credit.
type ChangePreview struct {
	Credit    PreviewAmount      `json:"credit"`
	Charge    PreviewAmount      `json:"charge"`
	Net       PreviewAmount      `json:"net"`
	Breakdown ProrationBreakdown `json:"breakdown"`

	BalanceApplied PreviewAmount `json:"balance_applied" doc:"Part of net that is paid with the customer's credit."`
	DueNow         PreviewAmount `json:"due_now" doc:"Amount charged now: net minus balance_applied, at least 0."`
	NextBillingAt  *shape.Time   `json:"next_billing_at" doc:"Time of the next regular bill after the change, in UTC: the end of the period or trial. Null if a cancellation is scheduled."`
	NextAmount     PreviewAmount `json:"next_amount" doc:"Amount of the next regular bill: quantity × price, less the discount that applies then, without usage. 0 if no bill follows."`
	EffectiveAt    *shape.Time   `json:"effective_at,omitempty" doc:"Time at which a change with period_end takes effect, the same as next_billing_at. Absent for other changes."`
	NextDue        PreviewAmount `json:"next_due" doc:"Part of next_amount that is charged after applying the remaining credit."`
}

func newChangePreview(p preview) ChangePreview {
	amount := func(cents int64) PreviewAmount { return PreviewAmount{Cents: cents, Currency: p.currency} }
	v := ChangePreview{
		BalanceApplied: amount(p.balanceApplied()), DueNow: amount(p.dueNow()), NextAmount: amount(p.nextAmount), NextDue: amount(p.nextDue()),
		Credit: amount(p.credit), Charge: amount(p.charge + p.usage), Net: amount(p.total()),
		Breakdown: ProrationBreakdown{
			Method: p.method, Currency: p.currency, PeriodStart: p.periodStart.UTC().Format(time.DateOnly), PeriodEnd: p.periodEnd.UTC().Format(time.DateOnly),
			DaysRemaining: p.daysRemaining(), TotalDays: p.totalDays(), Pending: amount(p.pending), Usage: amount(p.usage),
		},
	}
	if !p.nextBillingAt.IsZero() {
		at := shape.Time(p.nextBillingAt)
		v.NextBillingAt = &at
	}
	if !p.effectiveAt.IsZero() {
		v.EffectiveAt = shape.TP(&p.effectiveAt)
	}
	return v
}

// PurchasePreview is the cost of a first purchase.
type PurchasePreview struct {
	Subtotal       PreviewAmount  `json:"subtotal" doc:"Total without the tax."`
	Discount       PreviewAmount  `json:"discount" doc:"Amount that a promotion code takes off, at least 0."`
	Tax            *PreviewAmount `json:"tax" doc:"Tax that is included in the total. Null if the payment provider decides it."`
	Total          PreviewAmount  `json:"total" doc:"Price of the first paid period, after the discount."`
	BalanceApplied PreviewAmount  `json:"balance_applied" doc:"Part of the total that is paid now with the customer's credit."`
	DueNow         PreviewAmount  `json:"due_now" doc:"Amount charged now: 0 in a trial, otherwise total minus balance_applied."`
	TrialEndsAt    *shape.Time    `json:"trial_ends_at" doc:"End of the trial, in UTC. Null without a trial."`
	NextBillingAt  *shape.Time    `json:"next_billing_at" doc:"Time of the next regular bill, in UTC. Null for the default plan, which is never billed."`
	NextAmount     PreviewAmount  `json:"next_amount" doc:"Amount of the next regular bill: quantity × price, less the discount that applies then, without usage."`
	ReverseCharge  bool           `json:"reverse_charge" doc:"Whether the customer owes the tax (reverse charge)."`
}

func (s *Service) viewPurchase(p purchasePreview) PurchasePreview {
	amount := func(cents int64) PreviewAmount { return PreviewAmount{Cents: cents, Currency: p.currency} }
	v := PurchasePreview{
		Subtotal: amount(p.total), Discount: amount(p.discount), Total: amount(p.total), BalanceApplied: amount(p.balance), DueNow: amount(p.dueNow()),
		NextAmount: amount(p.nextAmount), ReverseCharge: p.reverseCharge,
	}
	if s.deps.IssuesInvoices {
		tax := amount(p.tax)
		v.Tax, v.Subtotal = &tax, amount(p.total-p.tax)
	}
	if !p.trialEndsAt.IsZero() {
		v.TrialEndsAt = shape.TP(&p.trialEndsAt)
	}
	if !p.nextBillingAt.IsZero() {
		v.NextBillingAt = shape.TP(&p.nextBillingAt)
	}
	return v
}

// PlanChange is the result of a change of plan: the updated subscription, a checkout that makes the
// change once it is completed, or a page on which the payer confirms the payment.
type PlanChange struct {
	Action        string               `json:"action" enum:"updated,scheduled,checkout_required,confirmation_required"`
	PaymentAction *money.PaymentAction `json:"payment_action,omitempty"`
	Subscription  *SubscriptionView    `json:"subscription,omitempty"`
	CheckoutURL   string               `json:"checkout_url,omitempty"`
	SessionID     string               `json:"session_id,omitempty"`
}

// SubscriptionSeats compares the size of the team with the subscription
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

func newSubscriptionSeats(s seats) SubscriptionSeats {
	return SubscriptionSeats{
		CurrentSeats: s.members, SeatLimit: s.limit,
		PricePerSeat:         money.Money{AmountCents: s.price, Currency: s.currency},
		TotalSeatCost:        money.Money{AmountCents: s.price * s.billed, Currency: s.currency},
		SubscriptionQuantity: s.billed, AvailableSeats: s.availableSeats(),
		IsSeatBased: s.isBySeat, IsSynced: s.isSynced(),
	}
}

// HostedCheckout is a checkout session on the provider's hosted page.
type HostedCheckout struct {
	SessionID string `json:"session_id"`
	URL       string `json:"url"`
}

// PlanCustomers counts the tenants whose subscription to a plan is not over.
type PlanCustomers struct {
	Tenants int64            `json:"tenants" doc:"Number of tenants."`
	ByPrice []PriceCustomers `json:"by_price" doc:"Number of tenants by price, largest number first."`
}

// PriceCustomers counts the tenants that pay the same price. Existing subscriptions keep their
// price when the price of the plan changes.
type PriceCustomers struct {
	Price         *uuid.UUID `json:"price" doc:"ID of the plan's price. Null if the plan no longer has this price."`
	Currency      string     `json:"currency"`
	Amount        int64      `json:"amount" doc:"Price per unit, in minor units of the currency."`
	IntervalUnit  string     `json:"interval_unit" enum:"day,week,month,year"`
	IntervalCount int32      `json:"interval_count"`
	Tenants       int64      `json:"tenants" doc:"Number of tenants that pay this price."`
}
