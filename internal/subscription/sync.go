package subscription

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

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
	if err := s.sync(ctx, session.SubscriptionID, nil); err != nil {
		return final(err)
	}
	return s.store.completeCheckout(ctx, session.ID, s.deps.Clock.Now())
}

// SubscriptionEvent handles notifications about subscriptions.
func (s *Service) SubscriptionEvent(ctx context.Context, e psp.Event) error {
	return final(s.sync(ctx, e.ObjectID, nil))
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
			return s.adopt(ctx, next, remote.Metadata[metaCheckout])
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
		}
		if also == nil {
			return nil
		}
		return also(ctx, next)
	})
}

// merge is what the local subscription becomes by the provider's state.
func (s *Service) merge(ctx context.Context, known *Subscription, remote psp.Subscription) (Subscription, error) {
	status := Status(remote.Status)
	if !status.known() {
		return Subscription{}, fmt.Errorf("subscription %s: unknown status %q", remote.ID, remote.Status)
	}
	now := s.deps.Clock.Now()
	next := Subscription{ID: sqldb.NewID(), CreatedAt: now}
	if known != nil {
		next = *known
	} else {
		var err error
		if next.TenantID, err = uuid.Parse(remote.Metadata[metaTenant]); err != nil {
			return next, jobs.Fatal(fmt.Errorf("subscription %s: no tenant in its metadata", remote.ID))
		}
		next.Currency = remote.Currency
	}
	var err error
	if next.PlanID, err = s.planOf(ctx, remote, next.PlanID); err != nil {
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

// planOf is the plan that a subscription bills. Its metadata names it; where the
// price belongs to other plans only, as after a change that was made at the
// provider, the price does.
func (s *Service) planOf(ctx context.Context, remote psp.Subscription, known uuid.UUID) (uuid.UUID, error) {
	plans, err := s.store.q(ctx).PlansOfPSPPrice(ctx, &remote.PriceID)
	if err != nil {
		return uuid.Nil, err
	}
	named, err := uuid.Parse(remote.Metadata[metaPlan])
	switch {
	case err == nil && (len(plans) == 0 || slices.Contains(plans, named)):
		return named, nil
	case len(plans) > 0:
		return plans[0], nil
	case known != uuid.Nil:
		return known, nil
	default:
		return uuid.Nil, jobs.Fatal(fmt.Errorf("subscription %s: no plan in its metadata", remote.ID))
	}
}

// final makes an error that no repetition heals one that ends a job: what the
// provider does not have, or will never accept.
func final(err error) error {
	if errors.Is(err, psp.ErrNotFound) || errors.Is(err, psp.ErrRefused) {
		return jobs.Fatal(err)
	}
	return err
}
