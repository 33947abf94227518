package subscription

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/catalog/pricelink"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
)

// JobMetered is the kind of job that updates the metered items of a subscription to the current
// prices when a period has begun.
const JobMetered = "subscription.metered"

// meteredAttempts is the maximum number of attempts, which take about an hour. After that, the
// existing items bill the usage of the period.
const meteredAttempts = 12

// enqueueMetered enqueues the decision on the metered items for a new period. Call it in the
// transaction that stores the period.
func (s *Service) enqueueMetered(ctx context.Context, sub Subscription) error {
	if billsUsage, err := s.billsUsage(ctx, sub); err != nil || !billsUsage {
		return err
	}
	return s.enqueueMeteredJob(ctx, sub.TenantID)
}

func (s *Service) enqueueMeteredJob(ctx context.Context, tenantID uuid.UUID) error {
	return s.deps.Jobs.Enqueue(ctx, JobMetered, tenantID, jobs.Key(tenantID.String()))
}

// SweepMetered enqueues the decision for subscriptions whose new period was missed.
func (s *Service) SweepMetered(ctx context.Context) error {
	return s.eachUndecided(ctx, func(tenantID uuid.UUID) error { return s.enqueueMeteredJob(ctx, tenantID) })
}

func (s *Service) billsUsage(ctx context.Context, sub Subscription) (bool, error) {
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	return plan.PricingType == catalog.PricingUsage, err
}

// HandleMetered handles JobMetered (rules: usage#new-prices).
//
// Invariants: the items that bill the usage of a period are decided once, after the period has
// begun, from the prices at its start. A price change during a period applies from the next period.
// No usage of a period is reported before this decision, so that all of it is billed at one price.
func (s *Service) HandleMetered(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	err := s.syncMetered(ctx, tenantID)
	refused := errors.Is(err, psp.ErrRefused) || errors.Is(err, psp.ErrDeclined)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, psp.ErrNotFound):
		return nil // it is over or missing at the provider; reconciliation finds the latter
	case err != nil && (refused || job.Attempt >= meteredAttempts):
		return errors.Join(s.keepMeteredItems(ctx, tenantID, err), ctx.Err())
	}
	return err
}

// syncMetered updates the metered items to the prices that usage plans sell. If the stored period
// is over, it reads the subscription back first.
func (s *Service) syncMetered(ctx context.Context, tenantID uuid.UUID) error {
	load := func(ctx context.Context) (Subscription, error) { return s.loadPeriodic(ctx, tenantID) }
	sub, err := load(ctx)
	if err != nil {
		return err
	}
	if !s.deps.Clock.Now().Before(sub.CurrentPeriodEnd) {
		if err := s.ReadBack(ctx, sub.PSPSubscriptionID, nil); err != nil {
			return err
		}
	}
	_, err = s.operate(ctx, steps{load: load, check: s.checkMetered, repeats: isKind(opMetered), send: s.sendMetered})
	return err
}

// loadPeriodic returns the tenant's subscription if it has billing periods.
func (s *Service) loadPeriodic(ctx context.Context, tenantID uuid.UUID) (Subscription, error) {
	sub, err := s.LoadCurrent(ctx, tenantID)
	if err == nil && !sub.Status.IsRunning() && sub.Status != Unpaid {
		err = ErrNotFound
	}
	return sub, err
}

// checkMetered returns the instruction to change the items. If no item changes, it stores the
// decision.
func (s *Service) checkMetered(ctx context.Context, sub Subscription) (instruction, verdict, error) {
	billsUsage, err := s.billsUsage(ctx, sub)
	if err != nil || !billsUsage {
		return instruction{}, nothingToDo, err
	}
	_, decided, err := sub.MeteredTerms()
	if err != nil || decided {
		return instruction{}, nothingToDo, err
	}
	sold, err := s.deps.Metering.PricesSoldAt(ctx, sub.Currency, sub.CurrentPeriodStart)
	if err != nil {
		return instruction{}, nothingToDo, err
	}
	changes, err := s.meteredChanges(ctx, sub, sold)
	if err == nil {
		changes, err = s.dropImpossible(ctx, sub, changes)
	}
	if err != nil {
		return instruction{}, nothingToDo, err
	}
	if len(changes) == 0 {
		return instruction{}, nothingToDo, s.lockAndDecideMetered(ctx, sub, false)
	}
	return instruction{Kind: opMetered, Metered: changes, Period: sub.CurrentPeriodStart}, mustSend, nil
}

// sendMetered changes all items in one request. If the provider refuses it, sendMetered changes
// them one by one, so that one price does not block the others.
func (s *Service) sendMetered(ctx context.Context, op operation) error {
	_, err := s.deps.Provider.ChangeMetered(ctx, op.before.PSPSubscriptionID, op.Metered, op.key())
	if !errors.Is(err, psp.ErrRefused) || len(op.Metered) == 1 {
		return err
	}
	for i, change := range op.Metered {
		_, err := s.deps.Provider.ChangeMetered(ctx, op.before.PSPSubscriptionID, []psp.MeteredChange{change}, fmt.Sprintf("%s-%d", op.key(), i))
		switch {
		case errors.Is(err, psp.ErrRefused):
			s.deps.Log.ErrorContext(ctx, "failed to switch meter price at the payment provider", "tenant", op.before.TenantID,
				"psp_subscription_id", op.before.PSPSubscriptionID, "psp_price_id", change.PriceID, "error", err)
		case err != nil:
			return err
		}
	}
	return nil
}

// keepMeteredItems keeps the current items for the current period after the provider failed to change
// them.
func (s *Service) keepMeteredItems(ctx context.Context, tenantID uuid.UUID, cause error) error {
	sub, err := s.loadPeriodic(ctx, tenantID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	s.deps.Log.ErrorContext(ctx, "usage of this period is billed at the old prices: failed to switch prices at the payment provider",
		"tenant", sub.TenantID, "psp_subscription_id", sub.PSPSubscriptionID, "period_start", sub.CurrentPeriodStart, "error", cause)
	return s.lockAndDecideMetered(ctx, sub, true)
}

// lockAndDecideMetered stores that the current items bill the current period. isUnsure means that
// the provider may have changed them.
func (s *Service) lockAndDecideMetered(ctx context.Context, sub Subscription, isUnsure bool) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, sub.TenantID); err != nil {
			return err
		}
		return s.decideMetered(ctx, sub, s.billsFrom(), isUnsure)
	})
}

// billsFrom returns a time, in whole seconds, from which items that the provider has just changed
// certainly bill.
func (s *Service) billsFrom() time.Time {
	return s.deps.Clock.Now().Truncate(time.Second).Add(time.Second)
}

// meteredOfPlan returns the changes of metered items that a change to a plan makes. A usage plan
// bills the meters that are sold now. Any other plan bills no meters.
func (s *Service) meteredOfPlan(ctx context.Context, sub Subscription, plan catalog.Plan, now time.Time) ([]psp.MeteredChange, error) {
	sold := map[uuid.UUID]string{}
	if plan.PricingType == catalog.PricingUsage {
		var err error
		if sold, err = s.deps.Metering.PricesSoldAt(ctx, sub.Currency, now); err != nil {
			return nil, err
		}
	}
	changes, err := s.meteredChanges(ctx, sub, sold)
	for i, ch := range changes {
		if ch.ItemID != "" && ch.PriceID != "" { // use a new item, which records when its price starts
			changes[i].PriceID = ""
			changes = append(changes, psp.MeteredChange{PriceID: ch.PriceID})
		}
	}
	return changes, err
}

// meteredChanges returns the changes that make a subscription's items bill the sold prices. It modifies
// sold.
func (s *Service) meteredChanges(ctx context.Context, sub Subscription, sold map[uuid.UUID]string) ([]psp.MeteredChange, error) {
	items, known, err := sub.MeteredItems()
	if err != nil || !known {
		return nil, err
	}
	prices := make([]string, len(items))
	for i, item := range items {
		prices[i] = item.PriceID
	}
	meters, err := s.deps.Metering.MetersOf(ctx, prices)
	if err != nil {
		return nil, err
	}
	var changes []psp.MeteredChange
	for _, item := range items {
		meter, ours := meters[item.PriceID]
		if !ours {
			continue
		}
		if price := sold[meter]; price != item.PriceID {
			changes = append(changes, psp.MeteredChange{ItemID: item.ID, PriceID: price})
		}
		delete(sold, meter)
	}
	for _, price := range sold {
		changes = append(changes, psp.MeteredChange{PriceID: price})
	}
	slices.SortFunc(changes, func(a, b psp.MeteredChange) int {
		return cmp.Or(cmp.Compare(a.ItemID, b.ItemID), cmp.Compare(a.PriceID, b.PriceID))
	})
	return changes, nil
}

// dropImpossible removes changes to prices that cannot bill the subscription, such as a monthly
// price in a yearly plan, and new prices beyond the provider's maximum number of items.
func (s *Service) dropImpossible(ctx context.Context, sub Subscription, changes []psp.MeteredChange) ([]psp.MeteredChange, error) {
	items, _, failed := sub.MeteredItems()
	changes = slices.DeleteFunc(changes, func(ch psp.MeteredChange) bool {
		if ch.PriceID == "" {
			return false
		}
		bills, err := s.deps.Metering.BillsEvery(ctx, ch.PriceID, sub.Currency, sub.Interval())
		failed = errors.Join(failed, err)
		return !bills
	})
	free := pricelink.MaxItems - 1 - len(items)
	for _, ch := range changes {
		if ch.PriceID == "" {
			free++
		}
	}
	return slices.DeleteFunc(changes, func(ch psp.MeteredChange) bool {
		if ch.ItemID == "" {
			free--
		}
		return ch.ItemID == "" && free < 0
	}), failed
}
