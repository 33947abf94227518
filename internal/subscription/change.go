package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/discount"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/money"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/contracts"
)

// changeParams is a tenant's request to change to another plan.
type changeParams struct {
	planID uuid.UUID
	// promotionCode is the code of a discount that the change redeems, or empty.
	promotionCode string
	quantity      int64 // seats; 0 keeps the current number, but bills at least the members
	// URLs that the checkout returns to. Required only when a free plan changes to a paid one.
	successURL, cancelURL string
	// atPeriodEnd makes the change at the end of the period.
	atPeriodEnd bool
	// isUnseen makes the change at the current price, whatever a preview has shown to the tenant.
	isUnseen bool
	// forCustomer means that the platform acts for the customer, who is absent: a change that needs a
	// payment method mails the link to the owner.
	forCustomer bool
}

// changeResult is the result of a change: the updated subscription, or a hosted checkout that makes
// the change once it is paid.
type changeResult struct {
	sub       Subscription
	checkout  *psp.Checkout
	isPending bool // the payer must confirm the payment; until then the subscription is unchanged
	// action is set if the change creates a replacing subscription that waits for its first payment:
	// the action that the payer must take. Otherwise it is nil.
	action *money.PaymentAction
}

// changePlan moves the subscription that load returns to another plan, or changes the number of
// seats of its plan (rules: subscription#change-of-plan). It charges the amounts of the last
// preview immediately. The change is made in full or not at all. A change from a free plan to a
// paid one opens a checkout, and the subscription is replaced once the checkout is completed. If
// the payer has to confirm the payment, the change is pending until then.
//
// It rejects, in this order: no subscription (404), a status that does not allow a change
// (subscription_cannot_be_upgraded), an unknown plan (422), the same plan without another number of
// seats (plan_change_error), a plan without a price in the subscription's currency
// (plan_not_available_in_currency), missing URLs, too few or too many seats (422), a plan that
// allows less than the tenant uses (plan_change_error with violations), missing billing details
// (billing_not_ready), amounts that differ from the preview (preview_outdated), and a declined
// payment (plan_change_error).
func (s *Service) changePlan(ctx context.Context, load loader, p changeParams) (changeResult, error) {
	var bought *purchase // set if the change requires a checkout
	op, claimed, err := s.claim(ctx, request{
		load:    load,
		repeats: p.matches,
		check: func(ctx context.Context, sub Subscription) (in instruction, v verdict, err error) {
			in, v, bought, err = s.checkChange(ctx, sub, p)
			return in, v, err
		},
		confirm: s.confirmSeats,
		missing: ErrNotFound,
		use:     s.useOfChange,
	})
	if err != nil {
		return changeResult{}, err
	}
	if bought != nil {
		return s.buyChange(ctx, *bought, p)
	}
	sub := op.before
	if claimed {
		sent := s.restoreScheduled(ctx, op, s.sendChange(ctx, op))
		sub, err = s.settle(ctx, op, refuseChange(sent))
	}
	if errors.Is(err, errUsageChanged) {
		return changeResult{}, s.newOutdatedError(ctx, load, p)
	}
	isPending := sub.Pending != nil && (sub.PlanID != p.planID || p.quantity != 0 && sub.Quantity != p.quantity)
	return changeResult{sub: sub, isPending: err == nil && isPending}, err
}

// buyChange makes a change from a free plan to a paid one, which starts another subscription: in a
// checkout, or with the saved payment method if the platform acts for the customer.
func (s *Service) buyChange(ctx context.Context, bought purchase, p changeParams) (changeResult, error) {
	if p.forCustomer {
		return s.replaceFree(ctx, bought)
	}
	session, err := s.openCheckout(ctx, bought)
	return changeResult{checkout: &session}, err
}

// changeSeats changes the number of seats of a subscription on behalf of the platform.
func (s *Service) changeSeats(ctx context.Context, sub Subscription, quantity int64) (Subscription, error) {
	p := changeParams{planID: sub.PlanID, quantity: quantity, isUnseen: true}
	result, err := s.changePlan(ctx, s.upgradable(s.store.loaderByID(sub.TenantID, sub.ID)), p)
	return result.sub, err
}

// matches reports whether an instruction changes to the same plan and, if a number of seats was
// given, to the same number.
func (p changeParams) matches(in instruction) bool {
	return in.Kind == opChange && in.PlanID == p.planID && (p.quantity == 0 || in.Quantity == p.quantity) &&
		(p.promotionCode == "") == (in.DiscountID == uuid.Nil)
}

// upgradable returns a load step that rejects a subscription whose status does not allow a change of
// plan.
func (s *Service) upgradable(load loader) loader {
	return func(ctx context.Context) (Subscription, error) {
		sub, err := load(ctx)
		if err == nil && !sub.Status.IsRunning() {
			err = errNotUpgradable
		}
		return sub, err
	}
}

// currentLoader returns a load step that loads the tenant's subscription that is not over.
func (s *Service) currentLoader(tenantID uuid.UUID) loader {
	return func(ctx context.Context) (Subscription, error) { return s.LoadCurrent(ctx, tenantID) }
}

// checkChange checks the rules of a change. It returns the instruction, or the purchase if the
// change requires a checkout.
func (s *Service) checkChange(ctx context.Context, sub Subscription, p changeParams) (instruction, verdict, *purchase, error) {
	m, err := s.selectMove(ctx, sub, p)
	if err != nil {
		return instruction{}, nothingToDo, nil, err
	}
	if m.takesCheckout && !p.forCustomer {
		if err := p.requireURLs(); err != nil {
			return instruction{}, nothingToDo, nil, err
		}
	}
	if !m.isSeatsOnly() { // the current plan is never too small for more seats
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
	price := s.priceAsShown
	if p.isUnseen {
		price = func(ctx context.Context, m move, _ int64) (pricedChange, error) { return s.priceUnseen(ctx, m) }
	}
	change, err := price(ctx, m, p.quantity)
	if err != nil {
		return instruction{}, nothingToDo, nil, err
	}
	if m.takesCheckout {
		return instruction{}, nothingToDo, &purchase{
			selection: m.selection, tenant: t, successURL: p.successURL, cancelURL: p.cancelURL, replaces: sub.ID, discount: m.redeems,
		}, nil
	}
	in := change.instruction(m)
	in.ForCustomer = p.forCustomer
	return in, mustSend, nil, nil
}

// confirmSeats reports whether the plan still has room for the team and the seats still suffice.
// Until now, the old plan limited invitations and joins. From now on, invitations and joins see the
// stored operation.
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

// sendChange makes a change at the provider and drops a pending one. The change is paid or it is
// not made. If the payer has to confirm the payment, the change is pending.
//
// Invariant: while the subscription is past_due, a change that costs something does not create an
// invoice. The new invoice would be the latest one, and the provider considers a subscription paid
// if its latest invoice is paid. So the owed invoices are paid first, or the change is not made.
func (s *Service) sendChange(ctx context.Context, op operation) error {
	if op.Usage == usageSettled {
		// The invoice includes the usage that the provider has by then.
		if err := s.deps.Usage.Settle(ctx, op.before.TenantID); err != nil {
			return err
		}
		if err := s.requireShownUsage(ctx, op); err != nil {
			return err
		}
	}
	if err := s.releaseSchedule(ctx, op); err != nil {
		return err
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
	metadata := map[string]string{metaPlan: op.PlanID.String()}
	if !op.isSeatsOnly() {
		metadata[contracts.MetaCustomPrice] = ""
	}
	_, err := s.deps.Provider.ChangeSubscription(ctx, change, metadata, op.key())
	// Pending updates do not take discounts
	// (https://docs.stripe.com/billing/subscriptions/pending-updates-reference).
	if errors.Is(err, psp.ErrActionRequired) && op.before.Status != PastDue && !change.IsSent && !change.ChangesDiscount() {
		return s.sendPending(ctx, op, change)
	}
	if err == nil {
		s.sendInvoices(ctx, op, false)
	}
	return err
}

// requireShownUsage returns errOtherUsage if the invoice of a change would bill other usage than
// the preview showed. It returns nil if an earlier attempt has already made the change.
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
		err = errUsageChanged
	}
	return err
}

// change converts the instruction to the provider's parameters.
func (op operation) change() psp.Change {
	return psp.Change{
		SubscriptionID: op.before.PSPSubscriptionID, ItemID: op.ItemID, PriceID: op.PriceID, Quantity: op.Quantity,
		ProrationDate: op.ProrationDate, Unprorated: op.Unprorated, TrialEnd: op.TrialEnd, KeepsPrice: op.isSeatsOnly(),
		IsSent: op.before.Terms.IsSent(), Metered: op.Metered, UnpaidCredit: op.UnpaidCredit, ProductID: op.ProductID, Currency: op.before.Currency, PeriodEnd: op.before.CurrentPeriodEnd,
		PromotionCodeID: op.PSPCodeID, RemovesDiscount: op.DropsDiscount,
	}
}

// refuseChange converts an error of sendChange: to errDeclined for a declined payment, and to
// errChangeRefused for any other refusal of the provider.
func refuseChange(err error) error {
	switch {
	case errors.Is(err, errUsageChanged) || !isRefusal(err):
		return err
	case errors.Is(err, psp.ErrDeclined):
		return errDeclined.Wrap(err)
	default:
		return errChangeRefused.Wrap(err)
	}
}

// requireURLs rejects missing URLs, named by their API fields.
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

// selectMove checks whether a subscription can change to a plan at all, with the promotion code.
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
