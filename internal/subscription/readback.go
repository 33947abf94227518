package subscription

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/customer"
)

// readBackTries limits how often a state is read again because another state was stored in between.
const readBackTries = 40

// errOvertaken means that another state was stored since this one was read.
var errOvertaken = errors.New("the state was changed concurrently")

// SubscriptionEvent handles notifications about subscriptions.
func (s *Service) SubscriptionEvent(ctx context.Context, e psp.Event) error {
	return s.TakeOver(ctx, e.ObjectID)
}

// CustomerEvent handles the notification that a customer was deleted. The provider has ended the
// customer's subscription, and the next checkout creates a new customer.
func (s *Service) CustomerEvent(ctx context.Context, e psp.Event) error {
	tenantID, err := s.deps.Customers.TenantOf(ctx, e.ObjectID)
	if errors.Is(err, customer.ErrForeign) {
		return nil
	}
	if err != nil {
		return err
	}
	deleted, err := s.deps.Provider.CustomerDeleted(ctx, e.ObjectID)
	if err != nil || !deleted {
		return err
	}
	sub, err := s.store.loadCurrent(ctx, tenantID)
	if err == nil {
		err = s.TakeOver(ctx, sub.PSPSubscriptionID)
		if errors.Is(err, psp.ErrNotFound) {
			err = nil // missing at the provider too; reconciliation finds it
		}
	} else if errors.Is(err, ErrNotFound) {
		err = nil
	}
	if err != nil {
		return err
	}
	return s.deps.Customers.Forget(ctx, tenantID, e.ObjectID)
}

// TakeOver stores the provider's current state of a subscription, which need not be stored yet. The
// provider's account can contain subscriptions that belong to no tenant or that cannot be stored.
// TakeOver only logs them, because a retry would not help.
func (s *Service) TakeOver(ctx context.Context, pspID string) error {
	err := s.ReadBack(ctx, pspID, nil)
	if unfit, ok := errors.AsType[*UnfitError](err); ok {
		s.deps.Log.WarnContext(ctx, "failed to import subscription from the payment provider",
			"psp_subscription_id", pspID, "tenant_id", unfit.TenantID, "error", unfit)
		return nil
	}
	if foreign, ok := errors.AsType[*ForeignError](err); ok {
		s.logForeign(ctx, pspID, foreign)
		return nil
	}
	return psp.MarkPermanent(err)
}

// logForeign logs a subscription that belongs to no tenant, as a warning if it was bought through this
// service.
func (s *Service) logForeign(ctx context.Context, pspID string, foreign *ForeignError) {
	if foreign.TenantID == uuid.Nil {
		s.deps.Log.InfoContext(ctx, "subscription at the payment provider does not belong to a tenant", "psp_subscription_id", pspID)
		return
	}
	s.deps.Log.WarnContext(ctx, "unexpected subscription at the payment provider: tenant is unknown",
		"tenant_id", foreign.TenantID, "psp_subscription_id", pspID, "psp_customer_id", foreign.CustomerID)
}

// ReadBack reads the provider's current state of a subscription and stores it
// (rules: subscription#read-back). It ignores the content of the notification, so that late,
// repeated and reordered notifications all lead to the same state. If then is not nil, it runs in
// the same transaction with the new state.
//
// Invariant: a state is stored only if no other state was stored since the read began
// (sync_version). So of two concurrent reads, the older state never wins.
func (s *Service) ReadBack(ctx context.Context, pspID string, then func(ctx context.Context, after Subscription) error) error {
	for range readBackTries {
		known, err := s.store.byPSPID(ctx, pspID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		remote, err := s.deps.Provider.GetSubscription(ctx, pspID)
		if err != nil {
			return err
		}
		err = s.apply(ctx, known, remote, then)
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return fmt.Errorf("subscription %s: %w", pspID, errOvertaken)
}

// apply stores a state under the tenant's lock. known is zero for a new subscription.
func (s *Service) apply(ctx context.Context, known Subscription, remote psp.Subscription, then func(ctx context.Context, after Subscription) error) error {
	next, err := s.merge(ctx, known, remote)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, next.TenantID); err != nil {
			return err
		}
		if known.ID == uuid.Nil {
			return s.adopt(ctx, next, remote)
		}
		// A subscription that is over stays over. A replaced subscription ends here before it is
		// canceled at the provider.
		reopens := known.Status.IsOver() && !next.Status.IsOver()
		if !reopens {
			if err := s.storeChange(ctx, known, next, remote); err != nil {
				return err
			}
		}
		if then != nil {
			if err := then(ctx, next); err != nil {
				return err
			}
		}
		if reopens {
			return nil // nothing was stored
		}
		if err := s.publishChange(ctx, known, next); err != nil {
			return err
		}
		return s.mailChange(ctx, known, next, remote)
	})
}

// storeChange stores a newer state of a known subscription and applies its consequences.
func (s *Service) storeChange(ctx context.Context, known, next Subscription, remote psp.Subscription) error {
	if err := s.store.update(ctx, next); err != nil {
		return err
	}
	if err := s.updateMeteredTerms(ctx, known, next); err != nil {
		return err
	}
	// A change of plan, or a change at the provider, can start a trial.
	if known.TrialEndsAt == nil || known.Status != Trialing && next.Status == Trialing {
		if err := s.recordTrial(ctx, adoption{}, next); err != nil {
			return err
		}
	}
	if err := s.enqueueCardRequest(ctx, next); err != nil {
		return err
	}
	if err := s.recordEffect(ctx, known, next); err != nil {
		return err
	}
	if err := s.enqueueDiscount(ctx, next); err != nil {
		return err
	}
	if err := s.enqueueSchedule(ctx, known, next); err != nil {
		return err
	}
	if known.Status != next.Status { // its seats may be synced again, or their credit is no longer paid
		if err := s.SeatsChanged(ctx, next.TenantID); err != nil {
			return err
		}
	}
	if known.Status == Incomplete && next.Status != Incomplete {
		if err := s.endIncomplete(ctx, next, remote); err != nil {
			return err
		}
	}
	if next.CurrentPeriodStart.After(known.CurrentPeriodStart) && !next.Status.IsOver() {
		return s.enqueueMetered(ctx, next)
	}
	return nil
}

// endIncomplete applies the consequences of the first payment that a subscription waited for, or of its
// expiry. A payment sets the tenant's preferred currency, and counts the redemption of a contract.
func (s *Service) endIncomplete(ctx context.Context, next Subscription, remote psp.Subscription) error {
	bought, err := s.findCheckout(ctx, next.TenantID, remote.Metadata[metaCheckout])
	if errors.Is(err, errNoCheckout) {
		return nil
	}
	if err == nil && bought.contract != nil {
		err = s.redeemContract(ctx, bought, next)
	}
	if err != nil || !next.Status.IsRunning() {
		return err
	}
	return s.deps.Tenants.PreferCurrency(ctx, next.TenantID, next.Currency)
}

// Merge returns the stored subscription, zero if the subscription is new, and the state that results
// from the provider's state. It returns a *ForeignError or an *UnfitError if that state cannot be
// stored.
func (s *Service) Merge(ctx context.Context, remote psp.Subscription) (known, next Subscription, err error) {
	known, err = s.store.byPSPID(ctx, remote.ID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return known, next, err
	}
	next, err = s.merge(ctx, known, remote)
	return known, next, err
}

// merge is Merge for a given known subscription. For a new subscription, known is zero or has only the
// tenant.
func (s *Service) merge(ctx context.Context, known Subscription, remote psp.Subscription) (Subscription, error) {
	now := s.deps.Clock.Now()
	next := known
	isNew := known.ID == uuid.Nil
	var err error
	if isNew {
		next = Subscription{ID: sqldb.NewID(), TenantID: known.TenantID, CreatedAt: now}
		if next.TenantID == uuid.Nil {
			next.TenantID, err = s.findTenant(ctx, remote)
		}
		if err != nil {
			return next, err
		}
	}
	status := Status(remote.Status)
	if !status.isKnown() {
		return next, &UnfitError{next.TenantID, "status", remote.Status}
	}
	if isNew {
		if next.Currency, err = s.checkCurrency(ctx, next.TenantID, remote); err != nil {
			return next, err
		}
	}
	if next.PlanID, err = s.findPlan(ctx, remote, next); err != nil {
		return next, err
	}
	next.Status = status
	next.PriceCents, next.Quantity = remote.UnitAmount, remote.Quantity
	next.IntervalUnit, next.IntervalCount = remote.IntervalUnit, int32(remote.IntervalCount)
	next.BillingAnchor = remote.BillingAnchor
	next.CurrentPeriodStart, next.CurrentPeriodEnd = remote.PeriodStart, remote.PeriodEnd
	next.TrialEndsAt = remote.TrialEnd
	next.CancelAt, next.CancelAtPeriodEnd, next.CanceledAt = remote.CancelAt, remote.CancelAtPeriodEnd, remote.CanceledAt
	next.PSPSubscriptionID, next.PSPPriceID, next.Action = remote.ID, remote.PriceID, remote.Action
	next.HasPaymentMethod, next.Terms = remote.HasPaymentMethod, newTerms(remote)
	if next.CustomPrice, err = s.hasCustomPrice(ctx, remote, known); err != nil {
		return next, err
	}
	next.UpdatedAt = now
	if err := s.mergeChanges(ctx, known, &next, remote); err != nil {
		return next, err
	}
	if err := s.mergeDiscount(ctx, known, &next, remote); err != nil {
		return next, err
	}
	if next.Unpaid, err = s.oldestUnpaid(ctx, known, next); err != nil {
		return next, err
	}
	if next.metered, err = json.Marshal(remote.Metered); err != nil {
		return next, fmt.Errorf("encode metered items: %w", err)
	}
	next.effectiveAt = next.tookEffect(known, remote.EndedAt, now)
	if next.pastDiscount, err = s.findPastDiscount(ctx, known, next); err != nil {
		return next, err
	}
	if !isNew && !known.Status.IsOver() {
		next.former, err = noteFormerTerms(known, next, now)
	}
	return next, err
}

// mergeChanges sets the changes of a subscription that wait for a payment or for the end of the period.
func (s *Service) mergeChanges(ctx context.Context, known Subscription, next *Subscription, remote psp.Subscription) error {
	pending, err := s.pendingChange(ctx, remote, known)
	if next.Pending = nil; pending.PlanID != uuid.Nil {
		next.Pending = &pending
	}
	if err != nil {
		return err
	}
	next.ScheduleID = remote.ScheduleID
	next.Scheduled, err = s.mergeScheduled(ctx, remote, known)
	return err
}
