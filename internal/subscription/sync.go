package subscription

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

// jobRefuse is the job that gives a second paid checkout back.
const jobRefuse = "subscription.refuse"

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
	if err := s.sync(ctx, session.SubscriptionID, session.ID); err != nil {
		return err
	}
	return s.store.completeCheckout(ctx, session.ID, s.deps.Clock.Now())
}

// SubscriptionEvent handles notifications about subscriptions.
func (s *Service) SubscriptionEvent(ctx context.Context, e psp.Event) error {
	return s.sync(ctx, e.ObjectID, "")
}

// sync takes the provider's state of a subscription over. What the notification
// said does not matter: the state is read back, so that late, doubled and
// reordered notifications all end in the same state.
//
// Invariant: a state is stored only if none was stored since before it was read
// (sync_version), so that of two that run at once the older never wins.
func (s *Service) sync(ctx context.Context, pspID, sessionID string) error {
	for range syncTries {
		known, err := s.store.byPSPID(ctx, pspID)
		if err != nil {
			return err
		}
		remote, err := s.deps.Provider.GetSubscription(ctx, pspID)
		if err != nil {
			return final(err)
		}
		err = s.apply(ctx, known, remote, sessionID)
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return fmt.Errorf("subscription %s: %w", pspID, errOvertaken)
}

// apply stores a state under the tenant's lock.
func (s *Service) apply(ctx context.Context, known *Subscription, remote psp.Subscription, sessionID string) error {
	next, err := s.merge(known, remote)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, next.TenantID); err != nil {
			return err
		}
		if known != nil {
			stored, err := s.store.update(ctx, next)
			if err == nil && !stored {
				err = errOvertaken
			}
			return err
		}
		return s.adopt(ctx, next, sessionID)
	})
}

// adopt stores a subscription that is new here. A tenant has one at most: the
// second of two paid checkouts is canceled and refunded by a job.
func (s *Service) adopt(ctx context.Context, next Subscription, sessionID string) error {
	since, err := s.store.byPSPID(ctx, next.PSPSubscriptionID)
	if err != nil {
		return err
	}
	if since != nil {
		return errOvertaken
	}
	if !next.Status.Over() {
		other, err := s.store.live(ctx, next.TenantID)
		if err != nil {
			return err
		}
		if other != nil {
			return s.deps.Jobs.Enqueue(ctx, jobRefuse, refusal{SubscriptionID: next.PSPSubscriptionID, SessionID: sessionID})
		}
	}
	return s.store.insert(ctx, next)
}

// merge is what the local subscription becomes by the provider's state.
func (s *Service) merge(known *Subscription, remote psp.Subscription) (Subscription, error) {
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
		if next.PlanID, err = uuid.Parse(remote.Metadata[metaPlan]); err != nil {
			return next, jobs.Fatal(fmt.Errorf("subscription %s: no plan in its metadata", remote.ID))
		}
		next.Currency = remote.Currency
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

// refusal names a subscription that lost against another, and the checkout that
// paid for it ("" when it came by another way).
type refusal struct {
	SubscriptionID string `json:"subscription_id"`
	SessionID      string `json:"session_id"`
}

// refuse cancels the subscription at the provider and gives its payment back.
// Both writes have fixed keys: a repetition changes nothing.
func (s *Service) refuse(ctx context.Context, job jobs.Job) error {
	var r refusal
	if err := job.Decode(&r); err != nil {
		return jobs.Fatal(err)
	}
	if _, err := s.deps.Provider.CancelSubscription(ctx, r.SubscriptionID, "refuse-"+r.SubscriptionID); err != nil {
		return final(err)
	}
	if r.SessionID != "" {
		if err := s.deps.Provider.RefundCheckout(ctx, r.SessionID, "refund-"+r.SubscriptionID); err != nil {
			return final(err)
		}
	}
	s.deps.Log.InfoContext(ctx, "second subscription refused", "psp_subscription_id", r.SubscriptionID)
	return nil
}

// final makes an error that no repetition heals one that ends a job: what the
// provider does not have, or will never accept.
func final(err error) error {
	if errors.Is(err, psp.ErrNotFound) || errors.Is(err, psp.ErrRefused) {
		return jobs.Fatal(err)
	}
	return err
}
