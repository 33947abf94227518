package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/tenant"
)

// move is a subscription with the plan and the number of seats that it changes to.
type move struct {
	sub Subscription
	selection
	// takesCheckout means that a free plan changes to a paid one.
	takesCheckout bool
	// priceID and remote come from the provider. readRemote sets them.
	priceID string
	remote  psp.Subscription
	// redeems is the discount that the move redeems, or nil. drops means that the current discount
	// does not cover the new plan.
	redeems *discount.Discount
	drops   bool
	// atPeriodEnd means that the move is made at the end of the period.
	atPeriodEnd bool
	// forCustomer means that the platform makes the move: the plan's own trial does not apply.
	forCustomer bool
	pspCode     string // the provider's promotion code of redeems; readRemote sets it
}

// isSeatsOnly reports whether only the number of seats changes.
func (m move) isSeatsOnly() bool { return m.plan.ID == m.sub.PlanID }

// selectMove returns the requested move. It returns an error if the subscription cannot change to the
// plan or to the number of seats, or cannot use the promotion code.
func (s *Service) selectMove(ctx context.Context, sub Subscription, p changeParams) (m move, err error) {
	m.sub, m.forCustomer = sub, p.forCustomer
	planID, quantity := p.planID, p.quantity
	if planID == sub.PlanID {
		m.selection, err = s.selectSeats(ctx, sub, quantity)
	} else {
		m.selection, err = s.selectPlan(ctx, sub, planID, quantity)
	}
	if err != nil {
		return m, err
	}
	if m.takesCheckout, err = m.isPaidFromFree(); err != nil {
		return m, err
	}
	err = s.selectDiscount(ctx, &m, p.promotionCode)
	return m, err
}

// isPaidFromFree reports whether the move is from a free plan to a paid one. Such a move requires a
// checkout, because there may be no card to charge. A subscription paid by invoice needs no card. A
// plan that bills usage is not free, even if its base price is 0.
func (m move) isPaidFromFree() (bool, error) {
	if m.sub.Terms.IsSent() || m.sub.PriceCents > 0 || m.price.PriceCents == 0 && m.plan.PricingType != catalog.PricingUsage {
		return false, nil
	}
	metered, _, err := m.sub.MeteredItems()
	return len(metered) == 0, err
}

// selectPlan selects another plan for a subscription.
func (s *Service) selectPlan(ctx context.Context, sub Subscription, planID uuid.UUID, quantity int64) (selection, error) {
	plan, err := s.planOnSale(ctx, planID, "new_plan_id")
	if err != nil {
		return selection{}, err
	}
	if err := refuseDefault(plan); err != nil {
		return selection{}, err
	}
	price, ok := plan.PriceIn(sub.Currency)
	if !ok {
		return selection{}, errNotInCurrency
	}
	if quantity == 0 && plan.PricingType == catalog.PricingSeat {
		// This count is a snapshot. confirmSeats accounts for members who join later.
		var members int64
		members, err = s.deps.Tenants.CountMembers(ctx, sub.TenantID)
		quantity = sub.seatsFor(members)
		if quota := plan.SeatQuota(); quota != nil { // a team above the quota is not eligible
			quantity = max(members, min(quantity, *quota))
		}
	} else {
		quantity, err = s.checkUnits(ctx, sub.TenantID, plan, quantity)
	}
	if err == nil {
		err = s.deps.Prices.CheckSellable(ctx, plan, price, quantity)
	}
	return selection{plan: plan, price: price, quantity: quantity}, err
}

// selectSeats is like selectPlan, but changes the number of seats of the current plan. The
// subscription keeps its price and interval even if the plan has changed since or is no longer
// sold.
func (s *Service) selectSeats(ctx context.Context, sub Subscription, quantity int64) (selection, error) {
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return selection{}, err
	}
	if plan.PricingType != catalog.PricingSeat || quantity == 0 || quantity == sub.Quantity {
		return selection{}, errSamePlan
	}
	plan.Interval = sub.Interval()
	quantity, err = s.checkUnits(ctx, sub.TenantID, plan, quantity)
	price := catalog.Price{PlanID: plan.ID, Currency: sub.Currency, PriceCents: sub.PriceCents}
	return selection{plan: plan, price: price, quantity: quantity}, err
}

// requireMovable returns the tenant of a move. It rejects a move to a plan that allows less than the
// tenant uses, and a tenant without the details that billing requires.
func (s *Service) requireMovable(ctx context.Context, m move) (tenant.Tenant, error) {
	if !m.isSeatsOnly() { // the current plan is never too small for more seats
		if err := s.requireEligible(ctx, m.sub.TenantID, m.plan); err != nil {
			return tenant.Tenant{}, err
		}
	}
	return s.billableTenant(ctx, m.sub.TenantID, false)
}

// readRemote loads the provider's price and state for a move. A move that requires a checkout does
// not need them.
//
// Invariant: a change is priced on the provider's state. If the provider's state is newer than the
// stored one, readRemote stores it and returns isCurrent false. The change must then be checked
// again.
func (s *Service) readRemote(ctx context.Context, m *move) (isCurrent bool, err error) {
	if m.takesCheckout {
		return true, nil
	}
	if !m.isSeatsOnly() {
		if m.priceID, err = s.deps.Prices.Ensure(ctx, m.plan.ID, m.price.ID); err != nil {
			return false, err
		}
	}
	if m.redeems != nil {
		if m.pspCode, err = s.deps.Discounts.EnsureCode(ctx, *m.redeems); err != nil {
			return false, err
		}
	}
	if m.remote, err = s.deps.Provider.GetSubscription(ctx, m.sub.PSPSubscriptionID); err != nil {
		return false, notFoundAs(ErrNotFound, err)
	}
	if m.isSeatsOnly() {
		m.priceID = m.remote.PriceID
	}
	if !m.sub.BillsLike(m.remote) {
		return false, notFoundAs(ErrNotFound, s.ReadBack(ctx, m.remote.ID, nil))
	}
	return true, nil
}
