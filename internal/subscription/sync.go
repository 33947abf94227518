package subscription

import (
	"context"
	"errors"
	"fmt"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// syncTries bounds how often a state is read again because another one was
// stored in between.
const syncTries = 10

// errOvertaken says that another state was stored since this one was read.
var errOvertaken = errors.New("another state was stored in between")

// CheckoutEvent handles notifications about checkout sessions: a completed one
// has started a subscription.
func (s *Service) CheckoutEvent(ctx context.Context, e psp.Event) error {
	session, err := s.deps.Provider.GetCheckout(ctx, e.ObjectID)
	if err != nil {
		return final(err)
	}
	if session.Status == psp.CheckoutExpired {
		now := s.deps.Clock.Now()
		return s.store.q(ctx).ExpireCheckout(ctx, subscriptionsql.ExpireCheckoutParams{PSPSessionID: &session.ID, ExpiredAt: &now})
	}
	if session.Status != psp.CheckoutComplete || session.SubscriptionID == "" {
		return nil
	}
	if err := s.take(ctx, session.SubscriptionID); err != nil {
		return err
	}
	return s.store.completeCheckout(ctx, session.ID, s.deps.Clock.Now())
}

// SubscriptionEvent handles notifications about subscriptions.
func (s *Service) SubscriptionEvent(ctx context.Context, e psp.Event) error {
	return s.take(ctx, e.ObjectID)
}

// take is sync for what the provider tells without being asked. In its account
// there may be what is nobody's here, or cannot be taken over as it is: that is no
// failure, and repeating it would not help.
func (s *Service) take(ctx context.Context, pspID string) error {
	err := s.sync(ctx, pspID, nil)
	if unfit, ok := errors.AsType[*unfitError](err); ok {
		s.deps.Log.WarnContext(ctx, "a subscription of the payment provider cannot be taken over",
			"psp_subscription_id", pspID, "tenant_id", unfit.tenantID, "error", unfit)
		return nil
	}
	if errors.Is(err, errNobodys) {
		s.deps.Log.InfoContext(ctx, "a subscription of the payment provider is no tenant's", "psp_subscription_id", pspID)
		return nil
	}
	return final(err)
}

// sync takes the provider's state of a subscription over. What a notification
// said does not matter: the state is read back, so that late, doubled and
// reordered notifications all end in the same state. also, if given, is run in
// the transaction that stores the state.
//
// Invariant: a state is stored only if none was stored since before it was read
// (sync_version), so that of two that run at once the older never wins.
func (s *Service) sync(ctx context.Context, pspID string, also func(context.Context, Subscription) error) error {
	for range syncTries {
		known, err := s.store.byPSPID(ctx, pspID)
		if err != nil {
			return err
		}
		remote, err := s.deps.Provider.GetSubscription(ctx, pspID)
		if err != nil {
			return err
		}
		err = s.apply(ctx, known, remote, also)
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return fmt.Errorf("subscription %s: %w", pspID, errOvertaken)
}

// apply stores a state under the tenant's lock.
func (s *Service) apply(
	ctx context.Context, known *Subscription, remote psp.Subscription, also func(context.Context, Subscription) error,
) error {
	next, err := s.merge(ctx, known, remote)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, next.TenantID); err != nil {
			return err
		}
		if known == nil {
			return s.adopt(ctx, next, remote)
		}
		// What is over stays so: a subscription that was replaced is over here before
		// it is canceled at the provider.
		if !known.Status.Over() || next.Status.Over() {
			stored, err := s.store.update(ctx, next)
			if err == nil && !stored {
				err = errOvertaken
			}
			if err != nil {
				return err
			}
			if err := s.recordEffect(ctx, next); err != nil {
				return err
			}
		}
		if also == nil {
			return nil
		}
		return also(ctx, next)
	})
}

// merge is what the local subscription becomes by the provider's state. It is
// errNobodys, or an unfitError, for one that cannot become any.
func (s *Service) merge(ctx context.Context, known *Subscription, remote psp.Subscription) (Subscription, error) {
	now := s.deps.Clock.Now()
	next := Subscription{ID: sqldb.NewID(), CreatedAt: now}
	var err error
	if known != nil {
		next = *known
	} else if next.TenantID, err = s.tenantOf(ctx, remote); err != nil {
		return next, err
	}
	status := Status(remote.Status)
	if !status.known() {
		return next, &unfitError{next.TenantID, "status", remote.Status}
	}
	if known == nil {
		if next.Currency, err = s.currencyOf(ctx, next.TenantID, remote); err != nil {
			return next, err
		}
	}
	if next.PlanID, err = s.planOf(ctx, remote, next); err != nil {
		return next, err
	}
	next.Status = status
	next.PriceCents, next.Quantity = remote.UnitAmount, remote.Quantity
	next.IntervalUnit, next.IntervalCount = remote.IntervalUnit, int32(remote.IntervalCount)
	next.BillingAnchor = remote.BillingAnchor
	next.CurrentPeriodStart, next.CurrentPeriodEnd = remote.PeriodStart, remote.PeriodEnd
	next.TrialEndsAt = remote.TrialEnd
	next.CancelAtPeriodEnd, next.CanceledAt = remote.CancelAtPeriodEnd, remote.CanceledAt
	next.PSPSubscriptionID = remote.ID
	next.UpdatedAt = now
	return next, nil
}

// final makes an error that no repetition heals one that ends a job: what the
// provider does not have, or will never accept.
func final(err error) error {
	if errors.Is(err, psp.ErrNotFound) || errors.Is(err, psp.ErrRefused) {
		return jobs.Fatal(err)
	}
	return err
}
