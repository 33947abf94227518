package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
)

const (
	// jobRefuse gives a second paid checkout back.
	jobRefuse = "subscription.refuse"
	// jobRetire ends, at the provider, a subscription that was replaced.
	jobRetire = "subscription.retire"
)

// adopt stores a subscription that is new here, under the tenant's lock. A tenant
// has one at most. Where it has one already, the new one takes its place if its
// checkout was opened for that; else it is the second of two paid checkouts, and
// a job cancels it and gives its payment back.
//
// Invariant: a subscription is replaced in one step, so that the tenant is never
// without: over here first, and then, by a job that is part of the step, at the
// provider.
func (s *Service) adopt(ctx context.Context, next Subscription, checkoutID string) error {
	since, err := s.store.byPSPID(ctx, next.PSPSubscriptionID)
	if err != nil {
		return err
	}
	if since != nil {
		return errOvertaken
	}
	opened, err := s.checkoutOf(ctx, next.TenantID, checkoutID)
	if err != nil {
		return err
	}
	var other *Subscription
	if !next.Status.Over() {
		if other, err = s.store.live(ctx, next.TenantID); err != nil {
			return err
		}
	}
	switch {
	case other == nil:
	case opened.ReplacesSubscriptionID == nil || *opened.ReplacesSubscriptionID != other.ID:
		r := refusedCheckout{SubscriptionID: next.PSPSubscriptionID}
		if opened.PSPSessionID != nil {
			r.SessionID = *opened.PSPSessionID
		}
		return s.deps.Jobs.Enqueue(ctx, jobRefuse, r, jobs.Key(next.PSPSubscriptionID))
	case !next.Status.Running():
		return nil // until it is paid, the other one stays
	default:
		if err := s.retireHere(ctx, *other); err != nil {
			return err
		}
	}
	if err := s.store.insert(ctx, next); err != nil {
		return err
	}
	members, err := s.deps.Tenants.CountMembers(ctx, next.TenantID)
	if err != nil || members <= next.Quantity {
		return err
	}
	return s.SeatsChanged(ctx, next.TenantID) // they came after the checkout was opened
}

// checkoutOf returns the checkout that started a subscription; an empty one for
// one that came by another way.
func (s *Service) checkoutOf(ctx context.Context, tenantID uuid.UUID, id string) (subscriptionsql.Checkout, error) {
	parsed, _ := uuid.Parse(id) // Nil, which no checkout has, for what is none
	c, err := s.store.q(ctx).Checkout(ctx, parsed)
	if errors.Is(err, sqldb.ErrNoRows) {
		err = nil
	}
	if c.TenantID != tenantID {
		c = subscriptionsql.Checkout{}
	}
	return c, err
}

// retireHere ends a subscription that is replaced, and has the provider end it.
func (s *Service) retireHere(ctx context.Context, old Subscription) error {
	now := s.deps.Clock.Now()
	old.Status, old.CancelAtPeriodEnd, old.CanceledAt, old.UpdatedAt = Canceled, false, &now, now
	stored, err := s.store.update(ctx, old)
	if err == nil && !stored {
		err = errOvertaken
	}
	if err != nil {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, jobRetire, old.PSPSubscriptionID, jobs.Key(old.PSPSubscriptionID))
}

// retire ends a replaced subscription at the provider. The key is fixed: a
// repetition changes nothing.
func (s *Service) retire(ctx context.Context, job jobs.Job) error {
	var id string
	if err := job.Decode(&id); err != nil {
		return err
	}
	_, err := s.deps.Provider.CancelSubscription(ctx, id, "retire-"+id)
	return final(err)
}

// refusedCheckout names a subscription that lost against another, and the
// checkout that paid for it ("" when it came by another way).
type refusedCheckout struct {
	SubscriptionID string `json:"subscription_id"`
	SessionID      string `json:"session_id"`
}

// refuse cancels the subscription at the provider and gives its payment back.
// Both writes have fixed keys: a repetition changes nothing.
func (s *Service) refuse(ctx context.Context, job jobs.Job) error {
	var r refusedCheckout
	if err := job.Decode(&r); err != nil {
		return err
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
