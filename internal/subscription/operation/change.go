package operation

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

// ChangeParams is what a tenant wants to change to.
type ChangeParams struct {
	PlanID   uuid.UUID
	Quantity int64 // seats; 0 keeps as many as there are, but not fewer than members
	// Where a checkout leads back to; needed only from a free plan to a paid one.
	SuccessURL, CancelURL string
}

// Changed is what came of a change: the subscription as it is now, or the hosted
// checkout that makes the change once it is paid.
type Changed struct {
	Subscription subscription.Subscription
	Checkout     *psp.Checkout
	Waits        bool // for its confirmation; until then the subscription is as it was
}

// ChangePlan moves the tenant's subscription to another plan, or changes the number of seats
// of its own
// (rules: subscription#change-of-plan). It costs what the last preview showed, and is
// paid at once: either all of it happens or nothing. From a free plan to a paid one it opens a
// checkout instead, and the subscription is replaced when that is completed. A payment
// that the payer has to confirm leaves the change waiting.
//
// It refuses, in this order: no subscription (404), a status that does not allow
// it (subscription_cannot_be_upgraded), an unknown plan (422), the same plan
// without another number of seats (plan_change_error), a plan without a price in the subscription's
// currency (plan_not_available_in_currency), missing URLs, too few and too many seats (422),
// a plan that allows less than what is used (plan_change_error with violations),
// missing billing details (billing_not_ready), other figures than were shown
// (preview_outdated), a declined payment (plan_change_error).
func (s *Service) ChangePlan(ctx context.Context, tenantID uuid.UUID, p ChangeParams) (Changed, error) {
	change := &changePlan{ofRunning: ofRunning{s, tenantID}, params: p}
	sub, err := s.operate(ctx, change)
	if errors.Is(err, errOtherUsage) {
		next, err := s.PreviewChange(ctx, tenantID, p.PlanID, p.Quantity)
		if err == nil {
			err = errOutdated.With("preview", newChangePreview(next))
		}
		return Changed{}, err
	}
	if err != nil || change.purchase == nil {
		waits := sub.Pending != nil && (sub.PlanID != p.PlanID || p.Quantity != 0 && sub.Quantity != p.Quantity)
		return Changed{Subscription: sub, Waits: err == nil && waits}, err
	}
	session, err := s.deps.Subscriptions.Open(ctx, *change.purchase)
	return Changed{Checkout: &session}, err
}

// changePlan moves a subscription to another plan. Its steps follow in the order in
// which they are made; the invoice of the change arrives with its notification.
type changePlan struct {
	ofRunning
	params ChangeParams
	// purchase is what is bought where the change takes a checkout; prepare sets it.
	purchase *subscription.Purchase
}

// load returns the tenant's subscription if its status allows another plan.
func (c *changePlan) load(ctx context.Context) (subscription.Subscription, error) {
	sub, err := c.svc.deps.Subscriptions.Current(ctx, c.tenantID)
	if err == nil && !sub.Status.Running() {
		err = errNotUpgradable
	}
	return sub, err
}

// continues reports whether the pending operation changes to the same plan, and to
// the same number of seats if that was given.
func (c *changePlan) continues(pending instruction) bool {
	return pending.Kind == opChange && pending.PlanID == c.params.PlanID &&
		(c.params.Quantity == 0 || pending.Quantity == c.params.Quantity)
}

// prepare checks the rules, and says what the provider is to be told.
func (c *changePlan) prepare(ctx context.Context, sub subscription.Subscription) (instruction, error) {
	sel, err := c.svc.selectPlan(ctx, sub, c.params.PlanID, c.params.Quantity)
	if err != nil {
		return instruction{}, err
	}
	takesCheckout, err := paidFromFree(sub, sel)
	if err != nil {
		return instruction{}, err
	}
	if takesCheckout {
		if err := c.params.needURLs(); err != nil {
			return instruction{}, err
		}
	}
	if sel.Plan.ID != sub.PlanID { // its own plan is never too small for more seats
		if err := c.svc.deps.Subscriptions.NeedEligible(ctx, sub.TenantID, sel.Plan); err != nil {
			return instruction{}, err
		}
	}
	t, err := c.svc.deps.Subscriptions.Billable(ctx, sub.TenantID, false)
	if err != nil {
		return instruction{}, err
	}
	change, err := c.svc.bound(ctx, sub, sel, c.params.Quantity)
	if err != nil {
		return instruction{}, err
	}
	if takesCheckout {
		c.purchase = &subscription.Purchase{
			Selection: sel, Tenant: t, SuccessURL: c.params.SuccessURL, CancelURL: c.params.CancelURL, Replaces: sub.ID,
		}
		return instruction{}, errNothingToDo
	}
	settles := ""
	if change.invoicesUsage(sub, sel) || change.PaysOwed {
		settles = usageSettled
	}
	return instruction{
		Usage: settles, ShownUsage: change.shownUsage,
		Kind: opChange, PlanID: sel.Plan.ID, Quantity: sel.Quantity, ItemID: change.ItemID, PriceID: change.PriceID,
		ProrationDate: change.ProrationDate, Unprorated: change.Unprorated, TrialEnd: change.TrialEnd, Departures: sub.Departures,
		UnpaidCredit: change.UnpaidCredit, ProductID: change.ProductID, PaysOwed: change.PaysOwed, Metered: change.Metered,
	}, nil
}

// confirm checks that the plan still has room for the team, and that the seats suffice:
// who was invited or joined before the operation is stored found the old plan. Who joins
// later finds the operation.
func (c *changePlan) confirm(ctx context.Context, sub subscription.Subscription, in instruction) error {
	plan, err := c.svc.deps.Catalog.Plan(ctx, in.PlanID)
	if err != nil {
		return err
	}
	if in.PlanID != sub.PlanID {
		var tooLarge bool
		tooLarge, err = c.svc.deps.Entitlements.TeamTooLarge(ctx, sub.TenantID, plan)
		if tooLarge {
			err = subscription.ErrOvertaken
		}
	}
	if err != nil || plan.PricingType != catalog.Seat {
		return err
	}
	members, err := c.svc.deps.Tenants.CountMembers(ctx, sub.TenantID)
	if err == nil && members > in.Quantity {
		err = subscription.ErrOvertaken
	}
	return err
}

// send makes the change at the provider, in place of one that waits. It is paid or does
// not happen; one that its payer has to confirm waits for that.
//
// Invariant: while something is owed (past_due), no change that costs something makes an
// invoice. It would be the latest, and the provider takes a subscription for paid when its
// latest invoice is. So what is owed is paid first, or nothing happens.
func (c *changePlan) send(ctx context.Context, op operation) error {
	if op.Usage == usageSettled {
		// The invoice has the usage that the provider knows by then.
		if err := c.svc.deps.Usage.Settle(ctx, op.before.TenantID); err != nil {
			return err
		}
		if err := c.svc.needUsage(ctx, op); err != nil {
			return err
		}
	}
	if err := c.svc.dropWaiting(ctx, op); err != nil {
		return err
	}
	if op.PaysOwed {
		if err := c.svc.payOwed(ctx, op); err != nil {
			return err
		}
	}
	change := op.change()
	_, err := c.svc.deps.Provider.ChangeSubscription(ctx, change, map[string]string{subscription.MetaPlan: op.PlanID.String()}, op.key())
	if errors.Is(err, psp.ErrActionRequired) && op.before.Status != subscription.PastDue {
		return c.svc.await(ctx, op, change)
	}
	return err
}

// needUsage returns errOtherUsage unless the invoice of a change has the usage that the preview
// showed. An earlier attempt may have made the change already.
func (s *Service) needUsage(ctx context.Context, op operation) error {
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
	p, err := s.cost(ctx, op.before, pricedChange{Change: op.change(), metered: items})
	if err == nil && p.Usage != *op.ShownUsage {
		err = errOtherUsage
	}
	return err
}

// change returns the instruction in the provider's terms.
func (op operation) change() psp.Change {
	return psp.Change{
		SubscriptionID: op.before.PSPSubscriptionID, ItemID: op.ItemID, PriceID: op.PriceID, Quantity: op.Quantity,
		ProrationDate: op.ProrationDate, Unprorated: op.Unprorated, TrialEnd: op.TrialEnd, KeepsPrice: op.seatsOnly(),
		Metered: op.Metered, UnpaidCredit: op.UnpaidCredit, ProductID: op.ProductID, Currency: op.before.Currency, PeriodEnd: op.before.CurrentPeriodEnd,
	}
}

// refusal tells a declined payment from any other refusal of the provider.
func (c *changePlan) refusal(err error) error {
	switch {
	case errors.Is(err, errOtherUsage):
		return err
	case errors.Is(err, psp.ErrDeclined):
		return errDeclined.Wrap(err)
	}
	return errChangeRefused.Wrap(err)
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

// paidFromFree reports whether a change to a selection is one from a free plan to a
// paid one. There may be no card to charge then, so that it takes a checkout. A plan that
// bills usage is not free, whatever its base price is.
func paidFromFree(sub subscription.Subscription, sel subscription.Selection) (bool, error) {
	if sub.PriceCents > 0 || sel.Price.PriceCents == 0 && sel.Plan.PricingType != catalog.Usage {
		return false, nil
	}
	metered, _, err := sub.MeteredItems()
	return len(metered) == 0, err
}

// selectPlan checks whether a subscription can be changed to a plan at all; quantity
// is as in ChangeParams.
func (s *Service) selectPlan(ctx context.Context, sub subscription.Subscription, planID uuid.UUID, quantity int64) (subscription.Selection, error) {
	if planID == sub.PlanID {
		return s.selectSeats(ctx, sub, quantity)
	}
	plan, err := s.deps.Subscriptions.PlanOnSale(ctx, planID, "new_plan_id")
	if err != nil {
		return subscription.Selection{}, err
	}
	price, ok := plan.PriceIn(sub.Currency)
	if !ok {
		return subscription.Selection{}, subscription.ErrNotInCurrency
	}
	if quantity == 0 && plan.PricingType == catalog.Seat {
		// The members are counted once here; confirm finds those who join later.
		var members int64
		members, err = s.deps.Tenants.CountMembers(ctx, sub.TenantID)
		quantity = sub.SeatsFor(members)
		if quota := plan.SeatQuota(); quota != nil { // a team above it is not eligible
			quantity = max(members, min(quantity, *quota))
		}
	} else {
		quantity, err = s.deps.Subscriptions.Units(ctx, sub.TenantID, plan, quantity)
	}
	if err == nil {
		err = s.deps.Prices.Sellable(ctx, plan, price, quantity)
	}
	return subscription.Selection{Plan: plan, Price: price, Quantity: quantity}, err
}

// selectSeats is selectPlan for the present plan, whose number of seats can be changed. The
// subscription keeps its price and interval, also where the plan has others by now or is
// no longer sold.
func (s *Service) selectSeats(ctx context.Context, sub subscription.Subscription, quantity int64) (subscription.Selection, error) {
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return subscription.Selection{}, err
	}
	if plan.PricingType != catalog.Seat || quantity == 0 || quantity == sub.Quantity {
		return subscription.Selection{}, errSamePlan
	}
	plan.Interval = sub.Interval()
	quantity, err = s.deps.Subscriptions.Units(ctx, sub.TenantID, plan, quantity)
	price := catalog.Price{PlanID: plan.ID, Currency: sub.Currency, PriceCents: sub.PriceCents}
	return subscription.Selection{Plan: plan, Price: price, Quantity: quantity}, err
}

// providerChange puts a change, counted from a moment, in the provider's terms.
//
// Invariant: a change is priced on the state that the provider has. If that is newer than
// the one that is stored here, it is stored first, and ErrOvertaken has the change
// prepared on it.
func (s *Service) providerChange(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, from time.Time) (pricedChange, error) {
	seatsOnly := sel.Plan.ID == sub.PlanID
	var price string
	if !seatsOnly {
		var err error
		if price, err = s.deps.Prices.Ensure(ctx, sel.Plan.ID, sel.Price.ID); err != nil {
			return pricedChange{}, err
		}
	}
	remote, err := s.deps.Provider.GetSubscription(ctx, sub.PSPSubscriptionID)
	if err != nil {
		return pricedChange{}, goneOr(err, subscription.ErrNotFound)
	}
	if seatsOnly {
		price = remote.PriceID
	}
	if !sub.BillsLike(remote) {
		if err := s.deps.Subscriptions.ReadBack(ctx, remote.ID, nil); err != nil {
			return pricedChange{}, goneOr(err, subscription.ErrNotFound)
		}
		return pricedChange{}, subscription.ErrOvertaken
	}
	change := pricedChange{Change: psp.Change{
		SubscriptionID: remote.ID, ItemID: remote.ItemID, PriceID: price, KeepsPrice: seatsOnly, Quantity: sel.Quantity, ProrationDate: from,
		Currency: sub.Currency, ProductID: remote.ProductID, PeriodEnd: remote.PeriodEnd,
	}}
	if change.Waiting, err = s.settleItems(ctx, sub); err != nil {
		return pricedChange{}, err
	}
	if change.paid, err = s.paidTime(ctx, sub, remote, from); err != nil {
		return pricedChange{}, err
	}
	if change.Metered, err = s.meteredOfPlan(ctx, sub, sel.Plan, from); err != nil {
		return pricedChange{}, err
	}
	if change.metered, _, err = sub.MeteredItems(); err != nil {
		return pricedChange{}, err
	}
	change.TrialEnd, err = s.trialEnd(ctx, sub, sel, from)
	return change, err
}

// pricedChange is a change with the conditions under which its price holds.
type pricedChange struct {
	psp.Change
	paid paidTime
	// PaysOwed: what is owed for the current period is collected before the change.
	PaysOwed bool
	metered  []psp.MeteredItem // the items that bill usage before the change
	// shownUsage is the usage that the preview showed; nil where the invoice of the change has
	// no usage, or nothing was shown.
	shownUsage *int64
}

// invoicesUsage reports whether the invoice of the change has the usage so far: because the
// change takes away an item that bills usage, or begins a period.
func (c pricedChange) invoicesUsage(sub subscription.Subscription, sel subscription.Selection) bool {
	return sub.Status != subscription.Trialing && len(c.metered) > 0 &&
		(removesMetered(c.Metered) || beginsPeriod(sub, sel) || !c.TrialEnd.IsZero())
}

// billsUsage reports whether a line of the change's invoice is for usage.
func (c pricedChange) billsUsage(line psp.InvoiceLine) bool {
	return slices.ContainsFunc(c.metered, func(m psp.MeteredItem) bool { return m.PriceID == line.PriceID })
}

// removesMetered reports whether changes take away an item that bills usage, so that the
// usage is invoiced with them.
func removesMetered(changes []psp.MeteredChange) bool {
	return slices.ContainsFunc(changes, func(ch psp.MeteredChange) bool { return ch.ItemID != "" })
}

// trialEnd returns when the trial ends that a change begins: one to a paid plan of
// another product, of which the tenant has had no trial. Zero is for none. A trial that
// runs keeps its end, and whoever has not paid gets none (rules: subscription#trials).
func (s *Service) trialEnd(ctx context.Context, sub subscription.Subscription, sel subscription.Selection, from time.Time) (time.Time, error) {
	if sub.Status != subscription.Active || sub.Ending() || sel.Price.PriceCents == 0 || sel.Plan.TrialDays == 0 {
		return time.Time{}, nil
	}
	current, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil || current.Product.ID == sel.Plan.Product.ID {
		return time.Time{}, err
	}
	days, err := s.deps.Subscriptions.TrialDays(ctx, sub.TenantID, sel.Plan)
	if err != nil || days == 0 {
		return time.Time{}, err
	}
	return from.AddDate(0, 0, days), nil
}

// prorationDate returns a moment in whole seconds, which the provider counts in, and
// within the current period.
func prorationDate(sub subscription.Subscription, at time.Time) time.Time {
	date := at.Truncate(time.Second)
	if date.After(sub.CurrentPeriodEnd) {
		date = sub.CurrentPeriodEnd
	}
	if date.Before(sub.CurrentPeriodStart) {
		date = sub.CurrentPeriodStart
	}
	return date
}
