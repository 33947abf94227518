package subscription

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
)

// A change at the end of the period is a schedule of the provider (rules:
// subscription#changes-at-the-end-of-the-period).
//
// Invariant: the provider's schedule is the only record of a scheduled change, and its state is
// read back like the subscription itself. Every step can be repeated. After an interruption,
// JobSchedule continues as follows. It releases a schedule without a second phase, and a schedule
// whose second phase has begun. It updates a second phase that does not match the team, the
// discount or the terms of payment. If a change was released for an operation without effect, it
// schedules the change again.

// metaSeats is the metadata key of a schedule for the requested number of seats. It is missing if the
// seats follow the team.
const metaSeats = "seats"

// scheduledChange is a change that takes effect at the end of the period.
type scheduledChange struct {
	PlanID      uuid.UUID `json:"plan_id"`
	PSPPriceID  string    `json:"psp_price_id,omitempty"` // empty until a custom price exists at the provider
	PriceCents  int64     `json:"price_cents"`
	Quantity    int64     `json:"quantity"`
	Seats       int64     `json:"seats,omitzero"` // the requested number; 0 follows the team
	CustomPrice bool      `json:"custom_price,omitzero"`
	EffectiveAt time.Time `json:"effective_at"`
	// By is the caller who requested the change, or nil.
	By *authz.Origin `json:"by,omitempty"`
}

// isSameAs reports whether two changes have the same result.
func (c *scheduledChange) isSameAs(o *scheduledChange) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.PlanID == o.PlanID && c.PriceCents == o.PriceCents && c.Quantity == o.Quantity && c.Seats == o.Seats && c.CustomPrice == o.CustomPrice
}

// hasSameView reports whether the API shows two changes alike.
func (c *scheduledChange) hasSameView(o *scheduledChange) bool {
	if c == nil || o == nil {
		return c == o
	}
	return c.PlanID == o.PlanID && c.PriceCents == o.PriceCents && c.Quantity == o.Quantity && c.EffectiveAt.Equal(o.EffectiveAt)
}

// nextPlanID returns the plan of the next period.
func (s Subscription) nextPlanID() uuid.UUID {
	if s.Scheduled != nil {
		return s.Scheduled.PlanID
	}
	return s.PlanID
}

// schedulePlan schedules a change of plan or of seats for the end of the period. It makes the
// checks of changePlan. In addition, it rejects a promotion code (422), a change from a free plan
// to a paid one, a change of a subscription that ends (plan_change_error), and a change while
// another one waits for its payment (change_waits).
func (s *Service) schedulePlan(ctx context.Context, load loader, p changeParams) (Subscription, error) {
	return s.schedule(ctx, steps{
		load: requireUpgradable(load),
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			return s.checkScheduledPlan(ctx, sub, p)
		},
		repeats: func(in instruction) bool {
			return in.Kind == opSchedule && in.PlanID == p.planID && in.Scheduled != nil && in.Scheduled.Seats == p.quantity
		},
		confirm: s.confirmSeats,
	})
}

// schedule runs an operation that schedules a change or removes it. The caller sets the steps up to
// the claim.
func (s *Service) schedule(ctx context.Context, o steps) (Subscription, error) {
	o.send, o.explain = s.sendSchedule, explainChange
	return s.operate(ctx, o)
}

// checkScheduledPlan checks the rules of a change of plan at the end of the period.
func (s *Service) checkScheduledPlan(ctx context.Context, sub Subscription, p changeParams) (instruction, verdict, error) {
	m, err := s.selectScheduled(ctx, sub, p)
	if err != nil {
		return instruction{}, nothingToDo, err
	}
	if _, err := s.requireMovable(ctx, m); err != nil {
		return instruction{}, nothingToDo, err
	}
	isCurrent, err := s.readRemote(ctx, &m)
	if err != nil || !isCurrent {
		return instruction{}, outOfDate, err
	}
	if err := s.requireShownAmount(ctx, m, p.quantity); err != nil {
		return instruction{}, nothingToDo, err
	}
	c := m.changeAtPeriodEnd(p.quantity)
	if c.PSPPriceID = m.priceID; m.isSeatsOnly() {
		c.CustomPrice = sub.CustomPrice
	}
	in, err := s.scheduleInstruction(ctx, opSchedule, sub, c)
	if err == nil && sub.Scheduled.isSameAs(in.Scheduled) {
		return instruction{}, nothingToDo, nil
	}
	return in, mustSend, err
}

// selectScheduled checks whether a subscription can change to a plan at the end of its period.
func (s *Service) selectScheduled(ctx context.Context, sub Subscription, p changeParams) (move, error) {
	if strings.TrimSpace(p.promotionCode) != "" {
		return move{}, errCodeAtPeriodEnd
	}
	m, err := s.selectMove(ctx, sub, p)
	switch {
	case err != nil:
		return m, err
	case m.takesCheckout:
		return m, errNeedsCard
	}
	m.atPeriodEnd = true
	return m, s.requireSchedulable(sub)
}

// requireSchedulable rejects a subscription that ends or whose pending change waits for its payment.
func (s *Service) requireSchedulable(sub Subscription) error {
	switch {
	case sub.IsEnding():
		return errEndingChange
	case sub.hasPendingChange(s.deps.Clock.Now()):
		return errChangeWaits
	}
	return nil
}

// changeAtPeriodEnd returns the change at the end of the period. seats is the requested number, or 0.
func (m move) changeAtPeriodEnd(seats int64) scheduledChange {
	c := scheduledChange{PlanID: m.plan.ID, PriceCents: m.price.PriceCents, Quantity: m.quantity, EffectiveAt: m.sub.CurrentPeriodEnd}
	if m.plan.PricingType == catalog.PricingSeat {
		c.Seats = seats
	}
	return c
}

// previewScheduled returns the preview of a change at the end of the period, which costs nothing now.
func (s *Service) previewScheduled(ctx context.Context, m move) (preview, error) {
	sub := m.sub
	p := preview{
		method: methodPSP, currency: sub.Currency, periodStart: sub.CurrentPeriodStart, periodEnd: sub.CurrentPeriodEnd,
		at: prorationDate(sub, s.deps.Clock.Now()),
	}
	p.nextBillingAt, p.effectiveAt = sub.CurrentPeriodEnd, sub.CurrentPeriodEnd
	c := m.changeAtPeriodEnd(0)
	sub.Scheduled = &c
	var err error
	if p.nextAmount, err = s.nextAmount(ctx, sub); err == nil {
		p.balance, err = s.credit(ctx, sub.TenantID, sub.Currency)
	}
	return p, err
}

// storedScheduled returns the preview of previewScheduled and stores it as the caller's last one.
func (s *Service) storedScheduled(ctx context.Context, m move, requested int64) (preview, error) {
	p, err := s.previewScheduled(ctx, m)
	if err != nil {
		return p, err
	}
	return p, s.storePreview(ctx, m, requested, p)
}

// requireShownAmount returns preview_outdated if the amount of the next bill differs from the last
// preview.
func (s *Service) requireShownAmount(ctx context.Context, m move, requested int64) error {
	shown, err := s.store.lastPreview(ctx, m, requested, s.deps.Clock.Now())
	if errors.Is(err, errNoPreview) {
		return nil
	}
	if err != nil {
		return err
	}
	now, err := s.previewScheduled(ctx, m)
	if err != nil || now.nextAmount == shown.charge {
		return err
	}
	if now, err = s.storedScheduled(ctx, m, requested); err != nil {
		return err
	}
	return errOutdated.With("preview", newChangePreview(now))
}

// scheduleInstruction returns the instruction that sets a scheduled change. It updates the seats to
// match the team, and replaces an archived price by an equal one.
func (s *Service) scheduleInstruction(ctx context.Context, kind string, sub Subscription, c scheduledChange) (instruction, error) {
	in := instruction{Kind: kind, PlanID: c.PlanID, Interval: sub.Interval()}
	plan, err := s.deps.Catalog.Plan(ctx, c.PlanID)
	if err != nil {
		return in, err
	}
	if c.Quantity, err = s.scheduledQuantity(ctx, sub, plan, c); err != nil {
		return in, err
	}
	if c.PlanID != sub.PlanID {
		in.Interval = plan.Interval
	}
	if c.PSPPriceID != "" {
		price, err := s.deps.Provider.GetPrice(ctx, c.PSPPriceID)
		if err != nil {
			return in, err
		}
		in.Interval = catalog.Interval{Unit: price.IntervalUnit, Count: int32(price.IntervalCount)}
		if !price.Active {
			c.PSPPriceID = ""
		}
	}
	if c.PSPPriceID == "" {
		if in.ProductID, err = s.deps.Prices.EnsureProduct(ctx, plan); err != nil {
			return in, err
		}
	}
	metered, err := s.meteredPrices(ctx, purchase{selection: selection{plan: plan, price: catalog.Price{Currency: sub.Currency}}})
	for _, id := range metered {
		in.Metered = append(in.Metered, psp.MeteredChange{PriceID: id})
	}
	if err == nil && sub.liveDiscount() != nil {
		present, loadErr := s.deps.Discounts.Load(ctx, sub.Discount.ID)
		in.DropsDiscount, err = loadErr == nil && !present.Covers(c.PlanID, c.PriceCents), loadErr
	}
	in.Quantity, in.PriceID, in.Scheduled = c.Quantity, c.PSPPriceID, &c
	return in, err
}

// scheduledQuantity returns the number of units of a scheduled change. For a seat plan, it is the
// requested number, but at least the number of members; without a requested number, it follows the
// team.
func (s *Service) scheduledQuantity(ctx context.Context, sub Subscription, plan catalog.Plan, c scheduledChange) (int64, error) {
	if plan.PricingType != catalog.PricingSeat {
		return c.Quantity, nil
	}
	members, err := s.deps.Tenants.CountMembers(ctx, sub.TenantID)
	if err != nil || c.Seats > 0 {
		return max(c.Seats, members), err
	}
	quantity := sub.seatsFor(members)
	if quota := plan.SeatQuota(); quota != nil && c.PlanID != sub.PlanID {
		quantity = max(members, min(quantity, *quota))
	}
	return quantity, nil
}

// sendSchedule sets the schedule of an operation, or releases it.
func (s *Service) sendSchedule(ctx context.Context, op operation) error {
	if op.Scheduled == nil {
		return s.deps.Schedules.Release(ctx, op.before.PSPSubscriptionID, op.key())
	}
	return s.setSchedule(ctx, op, op.key())
}

// setSchedule sets the schedule of an operation.
func (s *Service) setSchedule(ctx context.Context, op operation, key string) error {
	return s.deps.Schedules.Set(ctx, op.before.PSPSubscriptionID, op.next(), key)
}

// next returns the scheduled change of the operation for the provider.
func (op operation) next() subscriptions.NextPeriod {
	c := op.Scheduled
	next := subscriptions.NextPeriod{
		StartsAt: c.EffectiveAt, PriceID: c.PSPPriceID, Quantity: c.Quantity, IntervalUnit: op.Interval.Unit, IntervalCount: int64(op.Interval.Count),
		Metadata: map[string]string{metaPlan: c.PlanID.String(), subscriptions.MetaCustomPrice: ""}, Notes: map[string]string{metaSeats: ""},
		DropsDiscount: op.DropsDiscount, TrialEnd: op.TrialEnd,
	}
	if c.CustomPrice {
		next.Metadata[subscriptions.MetaCustomPrice] = isCustom
	}
	if c.Seats > 0 {
		next.Notes[metaSeats] = strconv.FormatInt(c.Seats, 10)
	}
	if c.PSPPriceID == "" {
		next.Price = &subscriptions.CustomPrice{
			ProductID: op.ProductID, Amount: c.PriceCents, Currency: op.before.Currency,
			IntervalUnit: op.Interval.Unit, IntervalCount: int64(op.Interval.Count),
		}
	}
	for _, m := range op.Metered {
		next.MeteredPriceIDs = append(next.MeteredPriceIDs, m.PriceID)
	}
	return next
}

// releaseSchedule releases the schedule before an operation that replaces a scheduled change.
func (s *Service) releaseSchedule(ctx context.Context, op operation) error {
	if op.before.ScheduleID == "" {
		return nil
	}
	return s.deps.Schedules.Release(ctx, op.before.PSPSubscriptionID, op.key()+"-release")
}

// restoreScheduled schedules again a change that a rejected operation had released. A failure is only
// logged, because JobSchedule schedules the change later.
func (s *Service) restoreScheduled(ctx context.Context, op operation) {
	in, err := s.scheduleInstruction(ctx, opReschedule, op.before, *op.before.Scheduled)
	if err == nil {
		again := op
		again.instruction = in
		err = s.setSchedule(ctx, again, op.key()+"-restore")
	}
	if err == nil { // a concurrent read-back may have seen the state without the schedule
		err = s.store.outdateReads(ctx, op.before)
	}
	if err != nil {
		s.deps.Log.WarnContext(ctx, "failed to restore scheduled change", "tenant_id", op.before.TenantID,
			"psp_subscription_id", op.before.PSPSubscriptionID, "error", err)
	}
}

// mergeScheduled returns the scheduled change of the provider's subscription. It returns nil if
// there is no scheduled change, or if its price does not belong to a plan because the change was
// scheduled at the provider.
func (s *Service) mergeScheduled(ctx context.Context, remote psp.Subscription, known Subscription) (*scheduledChange, error) {
	r := remote.Scheduled
	if r == nil {
		return nil, nil //nolint:nilnil // no change
	}
	var err error
	c := &scheduledChange{
		PSPPriceID: r.PriceID, PriceCents: r.UnitAmount, Quantity: r.Quantity, EffectiveAt: r.EffectiveAt,
		CustomPrice: r.Metadata[subscriptions.MetaCustomPrice] != "",
	}
	c.Seats, _ = strconv.ParseInt(r.Notes[metaSeats], 10, 64) // 0 without a valid number
	if was := known.Scheduled; was != nil && was.PSPPriceID == c.PSPPriceID {
		c.PriceCents = was.PriceCents // the provider's lists omit the amount
	}
	if c.By, err = s.schedulerOf(ctx, known); err != nil {
		return nil, err
	}
	c.PlanID, _ = uuid.Parse(r.Metadata[metaPlan])
	_, err = s.deps.Catalog.Plan(ctx, c.PlanID)
	if !errors.Is(err, catalog.ErrNotFound) {
		return c, err
	}
	plans, err := s.store.listPlansOfPrice(ctx, c.PSPPriceID)
	if err != nil || len(plans) == 0 {
		return nil, err
	}
	c.PlanID = plans[0]
	return c, nil
}

// schedulerOf returns the caller who requested the scheduled change that is being read: the caller of
// the pending operation that sets the change, otherwise the stored caller. If the stored state does not
// contain the change, an operation without effect had released it and it was restored; its caller is
// then stored with that operation.
func (s *Service) schedulerOf(ctx context.Context, known Subscription) (*authz.Origin, error) {
	op, state, err := s.store.lastRequestedOperation(ctx, known)
	switch {
	case err != nil && !errors.Is(err, errNoOperation):
		return nil, err
	case err == nil && op.Kind == opSchedule && state == statePending:
		return op.by.Caller(), nil
	case known.Scheduled != nil:
		return known.Scheduled.By, nil
	case err == nil && op.releases() && state != stateDone && op.before.Scheduled != nil:
		return op.before.Scheduled.By, nil
	}
	return nil, nil //nolint:nilnil // scheduled at the provider
}

// tookEffectIn reports whether a state shows that the scheduled change has taken effect: at its time, or at
// the end of a trial that ended earlier.
func (c *scheduledChange) tookEffectIn(after Subscription) bool {
	if c == nil || after.Scheduled != nil {
		return false
	}
	if !after.CurrentPeriodStart.Before(c.EffectiveAt) {
		return after.PSPPriceID == c.PSPPriceID
	}
	// The provider makes another price for a custom amount.
	return after.TrialEndsAt != nil && after.TrialEndsAt.Equal(after.CurrentPeriodStart) && after.Status.IsRunning() && after.Status != Trialing &&
		after.PlanID == c.PlanID && after.PriceCents == c.PriceCents && after.CustomPrice == c.CustomPrice
}
