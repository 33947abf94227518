package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
)

// changeParams is a tenant's wish for another plan.
type changeParams struct {
	planID   uuid.UUID
	quantity int64 // seats; 0 keeps as many as there are, but not fewer than members
	// Where a checkout leads back to; needed only from a free plan to a paid one.
	successURL, cancelURL string
}

// changeResult is the result of a change: the subscription as it is now, or the hosted
// checkout that makes the change once it is paid.
type changeResult struct {
	sub       Subscription
	checkout  *psp.Checkout
	isPending bool // for its confirmation; until then the subscription is as it was
}

// changePlan moves the tenant's subscription to another plan, or changes the number of seats
// of its own (rules: subscription#change-of-plan). It costs what the last preview showed, and is
// paid at once: either all of it happens or nothing. From a free plan to a paid one it opens a
// checkout instead, and the subscription is replaced when that is completed. A change whose payment
// the payer has to confirm is pending until then.
//
// It refuses, in this order: no subscription (404), a status that does not allow
// it (subscription_cannot_be_upgraded), an unknown plan (422), the same plan
// without another number of seats (plan_change_error), a plan without a price in the subscription's
// currency (plan_not_available_in_currency), missing URLs, too few and too many seats (422),
// a plan that allows less than what is used (plan_change_error with violations),
// missing billing details (billing_not_ready), other amounts than were shown
// (preview_outdated), a declined payment (plan_change_error).
func (s *Service) changePlan(ctx context.Context, tenantID uuid.UUID, p changeParams) (changeResult, error) {
	var bought *purchase // where the change takes a checkout
	op, claimed, err := s.claim(ctx, request{
		load:    func(ctx context.Context) (Subscription, error) { return s.loadUpgradable(ctx, tenantID) },
		repeats: p.matches,
		check: func(ctx context.Context, sub Subscription) (in instruction, v verdict, err error) {
			in, v, bought, err = s.checkChange(ctx, sub, p)
			return in, v, err
		},
		confirm: s.confirmSeats,
		missing: ErrNotFound,
	})
	if err != nil {
		return changeResult{}, err
	}
	if bought != nil {
		session, err := s.openCheckout(ctx, *bought)
		return changeResult{checkout: &session}, err
	}
	sub := op.before
	if claimed {
		sent := s.sendChange(ctx, op)
		sub, err = s.settle(ctx, op, refuseChange(sent))
	}
	if errors.Is(err, errOtherUsage) {
		return changeResult{}, s.outdatedPreview(ctx, tenantID, p)
	}
	isPending := sub.Pending != nil && (sub.PlanID != p.planID || p.quantity != 0 && sub.Quantity != p.quantity)
	return changeResult{sub: sub, isPending: err == nil && isPending}, err
}

// matches reports whether an instruction changes to the same plan, and to the same number of
// seats if that was given.
func (p changeParams) matches(in instruction) bool {
	return in.Kind == opChange && in.PlanID == p.planID && (p.quantity == 0 || in.Quantity == p.quantity)
}

// loadUpgradable returns the tenant's subscription if its status allows another plan.
func (s *Service) loadUpgradable(ctx context.Context, tenantID uuid.UUID) (Subscription, error) {
	sub, err := s.LoadCurrent(ctx, tenantID)
	if err == nil && !sub.Status.IsRunning() {
		err = errNotUpgradable
	}
	return sub, err
}

// checkChange checks the rules of a change, and returns the instruction for it, or the purchase
// where it takes a checkout.
func (s *Service) checkChange(ctx context.Context, sub Subscription, p changeParams) (instruction, verdict, *purchase, error) {
	m, err := s.selectMove(ctx, sub, p.planID, p.quantity)
	if err != nil {
		return instruction{}, nothingToDo, nil, err
	}
	if m.takesCheckout {
		if err := p.requireURLs(); err != nil {
			return instruction{}, nothingToDo, nil, err
		}
	}
	if !m.isSeatsOnly() { // its own plan is never too small for more seats
		if err := s.requireEligible(ctx, sub.TenantID, m.plan); err != nil {
			return instruction{}, nothingToDo, nil, err
		}
	}
	t, err := s.billableTenant(ctx, sub.TenantID, false)
	if err != nil {
		return instruction{}, nothingToDo, nil, err
	}
	isCurrent, err := s.readRemote(ctx, &m)
	if err != nil || !isCurrent {
		return instruction{}, outOfDate, nil, err
	}
	change, err := s.priceAsShown(ctx, m, p.quantity)
	if err != nil {
		return instruction{}, nothingToDo, nil, err
	}
	if m.takesCheckout {
		return instruction{}, nothingToDo, &purchase{
			selection: m.selection, tenant: t, successURL: p.successURL, cancelURL: p.cancelURL, replaces: sub.ID,
		}, nil
	}
	return change.instruction(m), mustSend, nil, nil
}

// confirmSeats reports whether the plan still has room for the team, and the seats suffice:
// the old plan applied to invitations and joins before the operation is stored. Later ones
// find the operation.
func (s *Service) confirmSeats(ctx context.Context, sub Subscription, in instruction) (bool, error) {
	plan, err := s.deps.Catalog.Plan(ctx, in.PlanID)
	if err != nil {
		return false, err
	}
	if in.PlanID != sub.PlanID {
		tooLarge, err := s.deps.Entitlements.TeamTooLarge(ctx, sub.TenantID, plan)
		if err != nil || tooLarge {
			return false, err
		}
	}
	if plan.PricingType != catalog.PricingSeat {
		return true, nil
	}
	members, err := s.deps.Tenants.CountMembers(ctx, sub.TenantID)
	return members <= in.Quantity, err
}

// sendChange makes a change at the provider, in place of a pending one. It is paid or does
// not happen; if its payer has to confirm the payment it is pending.
//
// Invariant: while something is owed (past_due), no change that costs something makes an
// invoice. It would be the latest, and the provider takes a subscription for paid when its
// latest invoice is. So what is owed is paid first, or nothing happens.
func (s *Service) sendChange(ctx context.Context, op operation) error {
	if op.Usage == usageSettled {
		// The invoice has the usage that the provider knows by then.
		if err := s.deps.Usage.Settle(ctx, op.before.TenantID); err != nil {
			return err
		}
		if err := s.requireShownUsage(ctx, op); err != nil {
			return err
		}
	}
	if err := s.dropPending(ctx, op); err != nil {
		return err
	}
	if op.PaysOwed {
		if err := s.payOwed(ctx, op); err != nil {
			return err
		}
	}
	change := op.change()
	_, err := s.deps.Provider.ChangeSubscription(ctx, change, map[string]string{metaPlan: op.PlanID.String()}, op.key())
	if errors.Is(err, psp.ErrActionRequired) && op.before.Status != PastDue {
		return s.sendPending(ctx, op, change)
	}
	return err
}

// requireShownUsage returns errOtherUsage unless the invoice of a change has the usage that the
// preview showed. An earlier attempt may have made the change already.
func (s *Service) requireShownUsage(ctx context.Context, op operation) error {
	if op.ShownUsage == nil {
		return nil
	}
	remote, err := s.deps.Provider.GetSubscription(ctx, op.before.PSPSubscriptionID)
	if err != nil || remote.PriceID == op.PriceID {
		return err
	}
	items, _, err := op.before.MeteredItems()
	if err != nil {
		return err
	}
	p, err := s.previewCost(ctx, op.before, pricedChange{Change: op.change(), metered: items})
	if err == nil && p.usage != *op.ShownUsage {
		err = errOtherUsage
	}
	return err
}

// change returns the instruction in the provider's terms.
func (op operation) change() psp.Change {
	return psp.Change{
		SubscriptionID: op.before.PSPSubscriptionID, ItemID: op.ItemID, PriceID: op.PriceID, Quantity: op.Quantity,
		ProrationDate: op.ProrationDate, Unprorated: op.Unprorated, TrialEnd: op.TrialEnd, KeepsPrice: op.isSeatsOnly(),
		Metered: op.Metered, UnpaidCredit: op.UnpaidCredit, ProductID: op.ProductID, Currency: op.before.Currency, PeriodEnd: op.before.CurrentPeriodEnd,
	}
}

// refuseChange returns the refusal for an error of sendChange: a declined payment, or any
// other refusal of the provider.
func refuseChange(err error) error {
	switch {
	case errors.Is(err, errOtherUsage) || !isRefusal(err):
		return err
	case errors.Is(err, psp.ErrDeclined):
		return errDeclined.Wrap(err)
	default:
		return errChangeRefused.Wrap(err)
	}
}

// requireURLs refuses missing URLs, by the fields of the API.
func (p changeParams) requireURLs() error {
	var missing fault.Fields
	if p.successURL == "" {
		missing.Add("success_url", "validation.required")
	}
	if p.cancelURL == "" {
		missing.Add("cancel_url", "validation.required")
	}
	return missing.Err()
}

// move is a subscription with the plan and the number of seats that it is to change to.
type move struct {
	sub Subscription
	selection
	// takesCheckout: the change is one from a free plan to a paid one.
	takesCheckout bool
	// priceID and remote are the provider's; readRemote sets them.
	priceID string
	remote  psp.Subscription
}

// isSeatsOnly reports whether the plan stays and only the number of seats changes.
func (m move) isSeatsOnly() bool { return m.plan.ID == m.sub.PlanID }

// selectMove checks whether a subscription can be changed to a plan at all; quantity
// is as in changeParams.
func (s *Service) selectMove(ctx context.Context, sub Subscription, planID uuid.UUID, quantity int64) (m move, err error) {
	m.sub = sub
	if planID == sub.PlanID {
		m.selection, err = s.selectSeats(ctx, sub, quantity)
	} else {
		m.selection, err = s.selectPlan(ctx, sub, planID, quantity)
	}
	if err != nil {
		return m, err
	}
	m.takesCheckout, err = m.isPaidFromFree()
	return m, err
}

// isPaidFromFree reports whether the move is from a free plan to a paid one. There may be no
// card to charge then, so that it takes a checkout. A plan that bills usage is not free, whatever
// its base price is.
func (m move) isPaidFromFree() (bool, error) {
	if m.sub.PriceCents > 0 || m.price.PriceCents == 0 && m.plan.PricingType != catalog.PricingUsage {
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
		// The members are counted once here; confirmSeats finds those who join later.
		var members int64
		members, err = s.deps.Tenants.CountMembers(ctx, sub.TenantID)
		quantity = sub.seatsFor(members)
		if quota := plan.SeatQuota(); quota != nil { // a team above it is not eligible
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

// selectSeats is selectPlan for the present plan, whose number of seats can be changed. The
// subscription keeps its price and interval, also where the plan has others by now or is
// no longer sold.
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
