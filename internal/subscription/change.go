package subscription

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
)

// ChangeParams is what a tenant wants to change to.
type ChangeParams struct {
	PlanID   uuid.UUID
	Quantity int64 // seats; 0 for as many as there are now, but not fewer than members
	// Where a checkout leads back to: needed from a free plan to a paid one alone.
	SuccessURL, CancelURL string
}

// needURLs refuses URLs that are missing, by the fields of the API.
func (p ChangeParams) needURLs() error {
	var missing fault.Fields
	if p.SuccessURL == "" {
		missing.Add("success_url", "validation.required")
	}
	if p.CancelURL == "" {
		missing.Add("cancel_url", "validation.required")
	}
	return missing.Err()
}

// Changed is what came of a change: the subscription as it is now, or the hosted
// checkout that makes the change once it is paid.
type Changed struct {
	Subscription *Subscription
	Checkout     *psp.Checkout
}

// target is what a subscription is to become.
type target struct {
	plan     catalog.Plan
	price    catalog.Price
	quantity int64
	date     time.Time // from when unused and new time are counted
}

// paidFromFree tells whether the change is one from a free plan to a paid one:
// there may be no card to charge, so that it takes a checkout.
func (t target) paidFromFree(sub Subscription) bool {
	return sub.PriceCents == 0 && t.price.PriceCents > 0
}

// ChangePlan moves the tenant's subscription to another plan. The difference is
// paid at once, counted from the moment of the last preview if that was a short
// while ago: either all of it happens or nothing. From a free plan to a paid one
// it opens a checkout instead, and the subscription is replaced when that is
// completed.
//
// It refuses, in this order: no subscription (404), a status that does not allow
// it (subscription_cannot_be_upgraded), an unknown plan (422), the same plan and
// usage plans (plan_change_error), a plan without a price in the subscription's
// currency (plan_not_available_in_currency), missing URLs and too few seats (422),
// a plan that allows less than what is used (plan_change_error with violations),
// missing billing details (billing_not_ready), a declined payment
// (plan_change_error).
func (s *Service) ChangePlan(ctx context.Context, tenantID uuid.UUID, p ChangeParams) (Changed, error) {
	var checkout *order
	sub, err := s.operate(ctx, action{
		find:   func(ctx context.Context) (*Subscription, error) { return s.changeable(ctx, tenantID) },
		wanted: request{Kind: opChange, PlanID: p.PlanID, Quantity: p.Quantity},
		prepare: func(ctx context.Context, sub Subscription) (request, error) {
			o, err := s.orderChange(ctx, sub, p)
			if err != nil {
				return request{}, err
			}
			if o.replaces != nil {
				checkout = &o
				return request{}, errNothingToDo
			}
			return s.changeRequest(ctx, sub, o)
		},
		confirm: s.confirmSeats,
		gone:    errNotFound,
	})
	if err != nil || checkout == nil {
		return Changed{Subscription: sub}, err
	}
	session, err := s.open(ctx, *checkout)
	return Changed{Checkout: &session}, err
}

// changeable returns the tenant's subscription that is not over, if its status
// allows another plan.
func (s *Service) changeable(ctx context.Context, tenantID uuid.UUID) (*Subscription, error) {
	sub, err := s.store.live(ctx, tenantID)
	switch {
	case err != nil:
		return nil, err
	case sub == nil:
		return nil, errNotFound
	case !sub.Status.Running():
		return nil, errNotUpgradable
	}
	return sub, nil
}

// orderChange checks a change as far as that goes without the provider.
func (s *Service) orderChange(ctx context.Context, sub Subscription, p ChangeParams) (order, error) {
	t, err := s.target(ctx, sub, p.PlanID, p.Quantity)
	if err != nil {
		return order{}, err
	}
	o := order{
		plan: t.plan, price: t.price, quantity: t.quantity, successURL: p.SuccessURL, cancelURL: p.CancelURL,
	}
	if t.paidFromFree(sub) {
		o.replaces = &sub
		if err := p.needURLs(); err != nil {
			return order{}, err
		}
	}
	used, err := s.used(ctx, sub.TenantID)
	if err != nil {
		return order{}, err
	}
	if found := violations(t.plan, used); len(found) > 0 {
		return order{}, errNotEligible.With("violations", found)
	}
	o.tenant, err = s.billable(ctx, sub.TenantID, false)
	return o, err
}

// target checks what a subscription can be changed to at all.
func (s *Service) target(ctx context.Context, sub Subscription, planID uuid.UUID, quantity int64) (target, error) {
	plan, err := s.planOnSale(ctx, planID, "new_plan_id")
	if err != nil {
		return target{}, err
	}
	if plan.ID == sub.PlanID {
		return target{}, errSamePlan
	}
	current, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return target{}, err
	}
	if plan.PricingType == catalog.Usage || current.PricingType == catalog.Usage {
		return target{}, errUsagePlan
	}
	price, ok := plan.PriceIn(sub.Currency)
	if !ok {
		return target{}, errNotInCurrency
	}
	if quantity == 0 && plan.PricingType == catalog.Seat {
		// Counted once: who joins from here on is found by confirmSeats.
		members, err := s.deps.Tenants.CountMembers(ctx, sub.TenantID)
		return target{plan: plan, price: price, quantity: max(members, sub.Quantity)}, err
	}
	quantity, err = s.quantity(ctx, sub.TenantID, plan, quantity)
	return target{plan: plan, price: price, quantity: quantity}, err
}

// changeRequest is what the provider is asked for.
func (s *Service) changeRequest(ctx context.Context, sub Subscription, o order) (request, error) {
	t := target{plan: o.plan, price: o.price, quantity: o.quantity}
	change, err := s.providerChange(ctx, sub, t)
	if err != nil {
		return request{}, err
	}
	now := s.deps.Clock.Now()
	date, shown, err := s.store.previewed(ctx, sub, t, now)
	if err != nil {
		return request{}, err
	}
	if !shown {
		date = prorationDate(sub, now)
	}
	change.ProrationDate = date
	if sub.Status == PastDue {
		if change, _, err = s.figures(ctx, sub, change); err != nil {
			return request{}, err
		}
	}
	return request{
		Kind: opChange, PlanID: o.plan.ID, Quantity: o.quantity, ItemID: change.ItemID, PriceID: change.PriceID,
		ProrationDate: date, Unprorated: change.Unprorated,
	}, nil
}

// confirmSeats looks once more whether the seats are enough: who joined before the
// operation was stored found a plan without seats, and who joins later finds the
// operation.
func (s *Service) confirmSeats(ctx context.Context, sub Subscription, r request) error {
	plan, err := s.deps.Catalog.Plan(ctx, r.PlanID)
	if err != nil || plan.PricingType != catalog.Seat {
		return err
	}
	members, err := s.deps.Tenants.CountMembers(ctx, sub.TenantID)
	if err == nil && members > r.Quantity {
		err = errOvertaken
	}
	return err
}

// providerChange puts a change in the provider's terms, but for its moment.
func (s *Service) providerChange(ctx context.Context, sub Subscription, t target) (psp.Change, error) {
	price, err := s.deps.Prices.Ensure(ctx, t.plan.ID, t.price.ID)
	if err != nil {
		return psp.Change{}, err
	}
	remote, err := s.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
	if err != nil {
		return psp.Change{}, goneOr(err, errNotFound)
	}
	return psp.Change{SubscriptionID: remote.ID, ItemID: remote.ItemID, PriceID: price, Quantity: t.quantity}, nil
}

// prorationDate is now, in the whole seconds that the provider counts in, and
// within the period that it counts.
func prorationDate(sub Subscription, now time.Time) time.Time {
	date := now.Truncate(time.Second)
	if date.After(sub.CurrentPeriodEnd) {
		date = sub.CurrentPeriodEnd
	}
	if date.Before(sub.CurrentPeriodStart) {
		date = sub.CurrentPeriodStart
	}
	return date
}
