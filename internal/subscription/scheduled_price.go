package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
)

// pricePatch is a change of the price by the platform at the end of the period.
type pricePatch struct {
	custom *int64 // nil returns to the list price
}

// schedulePrice schedules another price of the same plan for the end of the period. If the price is
// the current one, it removes the scheduled change.
func (s *Service) schedulePrice(ctx context.Context, tenantID, id uuid.UUID, p pricePatch) (Subscription, error) {
	return s.schedule(ctx, steps{
		load: requireUpgradable(s.store.loaderByID(tenantID, id)),
		check: func(ctx context.Context, sub Subscription) (instruction, verdict, error) {
			return s.checkPrice(ctx, sub, p)
		},
		repeats: func(in instruction) bool {
			return in.Kind == opSchedule && in.Scheduled != nil && in.Scheduled.CustomPrice == (p.custom != nil) &&
				(p.custom == nil || in.Scheduled.PriceCents == *p.custom)
		},
	})
}

// checkPrice checks the rules of another price of the same plan.
func (s *Service) checkPrice(ctx context.Context, sub Subscription, p pricePatch) (instruction, verdict, error) {
	if err := s.requireSchedulable(sub); err != nil {
		return instruction{}, nothingToDo, err
	}
	plan, price, err := s.pricedPlan(ctx, sub, p)
	if err != nil {
		return instruction{}, nothingToDo, err
	}
	c := scheduledChange{
		PlanID: plan.ID, PriceCents: price.PriceCents, Quantity: sub.Quantity, CustomPrice: p.custom != nil, EffectiveAt: sub.CurrentPeriodEnd,
	}
	if c.PriceCents == sub.PriceCents && c.CustomPrice == sub.CustomPrice && plan.Interval == sub.Interval() {
		if sub.Scheduled == nil {
			return instruction{}, nothingToDo, nil
		}
		return instruction{Kind: opUnschedule}, mustSend, nil
	}
	if p.custom == nil {
		if c.PSPPriceID, err = s.deps.Prices.Ensure(ctx, plan.ID, price.ID); err != nil {
			return instruction{}, nothingToDo, err
		}
	}
	in, err := s.scheduleInstruction(ctx, opSchedule, sub, c)
	if err == nil && sub.Scheduled.isSameAs(in.Scheduled) {
		return instruction{}, nothingToDo, nil
	}
	return in, mustSend, err
}

// pricedPlan returns the plan of a subscription and its new price.
func (s *Service) pricedPlan(ctx context.Context, sub Subscription, p pricePatch) (catalog.Plan, catalog.Price, error) {
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	if err != nil {
		return plan, catalog.Price{}, err
	}
	if p.custom != nil {
		price := catalog.Price{PlanID: plan.ID, Currency: sub.Currency, PriceCents: *p.custom}
		plan.Interval = sub.Interval()
		return plan, price, s.deps.Prices.CheckSellable(ctx, plan, price, sub.Quantity)
	}
	price, ok := plan.PriceIn(sub.Currency)
	if !ok {
		return plan, price, errNotInCurrency
	}
	return plan, price, s.deps.Prices.CheckSellable(ctx, plan, price, sub.Quantity)
}

// checkPricePatch rejects a price that the state of the subscription, or its later terms of payment, do
// not allow.
func (s *Service) checkPricePatch(ctx context.Context, sub Subscription, terms Terms, p pricePatch) error {
	if !sub.Status.IsRunning() {
		return errNotUpgradable
	}
	if err := s.requireSchedulable(sub); err != nil {
		return err
	}
	_, price, err := s.pricedPlan(ctx, sub, p)
	if err != nil || terms.IsSent() || sub.PriceCents > 0 || price.PriceCents == 0 {
		return err
	}
	return s.requireSavedMethod(ctx, sub.TenantID)
}

// requireSavedMethod rejects a change that costs something unless a payment method is saved.
func (s *Service) requireSavedMethod(ctx context.Context, tenantID uuid.UUID) error {
	customerID, err := s.deps.Customers.ByTenant(ctx, tenantID)
	if err != nil {
		return err
	}
	method, err := s.deps.Contracts.SavedPaymentMethod(ctx, customerID)
	if err == nil && method == "" {
		err = errNeedsCard
	}
	return err
}
