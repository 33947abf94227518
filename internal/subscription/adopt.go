package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
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
// has one at most; see placeOf for what becomes of another.
//
// Invariants: a subscription is replaced in one step, so that the tenant is never
// without: over here first, and then, by a job that is part of the step, at the
// provider. And what a tenant has that is not over is of its one customer, which is
// kept with the first.
func (s *Service) adopt(ctx context.Context, next Subscription, remote psp.Subscription) error {
	since, err := s.store.byPSPID(ctx, next.PSPSubscriptionID)
	if err != nil {
		return err
	}
	if since != nil {
		return errOvertaken
	}
	if !next.Status.Over() {
		customer, err := s.store.saveCustomer(ctx, next.TenantID, remote.CustomerID, s.deps.Clock.Now())
		if err != nil {
			return err
		}
		if customer != remote.CustomerID {
			return errOvertaken
		}
	}
	p, err := s.placeOf(ctx, next, remote)
	if err != nil {
		return err
	}
	switch p.place {
	case placeRefused:
		r := refusedCheckout{SubscriptionID: next.PSPSubscriptionID}
		if p.opened.PSPSessionID != nil {
			r.SessionID = *p.opened.PSPSessionID
		}
		return s.deps.Jobs.Enqueue(ctx, jobRefuse, r, jobs.Key(next.PSPSubscriptionID))
	case placeLeft:
		s.deps.Log.WarnContext(ctx, "a tenant has a second subscription at the payment provider, which was not bought here",
			"tenant_id", next.TenantID, "psp_subscription_id", next.PSPSubscriptionID)
		return nil
	case placeLater:
		return nil
	case placeOther:
		if err := s.retireHere(ctx, *p.other); err != nil {
			return err
		}
	case placeFree:
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

// place is where a subscription that is new here goes.
type place uint8

const (
	placeFree    place = iota // the tenant has no other
	placeOther                // it takes the other's place: its checkout was opened for that
	placeLater                // the same, once it is paid; until then the other one stays
	placeRefused              // it is the second of two paid checkouts: canceled, and its payment given back
	placeLeft                 // it is a second one that was not bought here: not ours to cancel
)

type placing struct {
	place
	opened subscriptionsql.Checkout // by which it was bought; empty without one
	other  *Subscription            // that the tenant has, else nil
}

// placeOf decides where a subscription that is new here goes.
func (s *Service) placeOf(ctx context.Context, next Subscription, remote psp.Subscription) (placing, error) {
	var p placing
	var err error
	if next.Status.Over() {
		return p, nil
	}
	if p.opened, err = s.checkoutOf(ctx, next.TenantID, remote.Metadata[metaCheckout]); err != nil {
		return p, err
	}
	if p.other, err = s.store.live(ctx, next.TenantID); err != nil || p.other == nil {
		return p, err
	}
	replaces := p.opened.ReplacesSubscriptionID != nil && *p.opened.ReplacesSubscriptionID == p.other.ID
	switch {
	case p.opened.ID == uuid.Nil:
		p.place = placeLeft
	case !replaces:
		p.place = placeRefused
	case !next.Status.Running():
		p.place = placeLater
	default:
		p.place = placeOther
	}
	return p, nil
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
	if _, err := s.endHere(ctx, old); err != nil {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, jobRetire, old.PSPSubscriptionID, jobs.Key(old.PSPSubscriptionID))
}

// endHere ends a subscription without the provider, and returns what it is then;
// errOvertaken when another state was stored since it was read.
func (s *Service) endHere(ctx context.Context, old Subscription) (Subscription, error) {
	now := s.deps.Clock.Now()
	old.Status, old.CancelAtPeriodEnd, old.CanceledAt, old.UpdatedAt = Canceled, false, &now, now
	stored, err := s.store.update(ctx, old)
	if err == nil && !stored {
		err = errOvertaken
	}
	return old, err
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
// checkout that paid for it.
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
