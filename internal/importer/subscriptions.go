package importer

import (
	"context"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription"
)

const kindSubscription, kindSubscriber = "subscription", "subscriber"

var subscriptionColumns = []column{{"tenant", true}, {"psp_subscription_id", true}, {"psp_customer_id", false}}

// subscription decides how to import a line of the subscriptions file.
func (s *Service) subscription(ctx context.Context, p *pass, r row) (decision, error) {
	pspID := r.get("psp_subscription_id")
	if !strings.HasPrefix(pspID, "sub_") {
		return decision{}, newProblem("psp_subscription_id", "must be the ID of a Stripe subscription (sub_…): %q; create the subscription at Stripe first if it is billed elsewhere", pspID)
	}
	if err := errors.Join(p.checkUnique("psp_subscription_id", kindSubscription, pspID), p.checkUnique("tenant", kindSubscriber, r.get("tenant"))); err != nil {
		return decision{}, err
	}
	before, again, err := s.store.findImported(ctx, kindSubscription, pspID)
	if err != nil {
		return decision{}, err
	}
	now := importedLine{kind: kindSubscription, key: pspID, digest: lineHash(r, subscriptionColumns), made: true}
	if again && before.digest == now.digest {
		return decision{}, nil
	}
	tenantID, err := s.organization(ctx, p, r.get("tenant"))
	if err != nil {
		return decision{}, err
	}
	now.resourceID = tenantID.String()
	known, err := s.deps.Subscriptions.ByPSPID(ctx, pspID)
	switch {
	case err == nil && known.TenantID != tenantID:
		return decision{}, newProblem("psp_subscription_id", "belongs to another organization: %q", pspID)
	case err == nil:
		return s.keepUnchanged(now, now.resourceID), nil
	case !errors.Is(err, subscription.ErrNotFound):
		return decision{}, err
	}
	remote, err := s.loadSubscription(ctx, p, r, tenantID)
	if err != nil {
		return decision{}, err
	}
	return decision{action: create, do: func(ctx context.Context) error {
		if err := s.deps.Subscriptions.Import(ctx, tenantID, remote.CustomerID, pspID); err != nil {
			return err
		}
		return s.finish(ctx, now, nil)
	}}, nil
}

// loadSubscription retrieves the subscription from Stripe. It returns a problem if the subscription
// cannot be imported for the tenant.
func (s *Service) loadSubscription(ctx context.Context, p *pass, r row, tenantID uuid.UUID) (psp.Subscription, error) {
	pspID := r.get("psp_subscription_id")
	remote, err := s.deps.Provider.GetSubscription(ctx, pspID)
	if errors.Is(err, psp.ErrNotFound) {
		return remote, newProblem("psp_subscription_id", "does not exist at Stripe: %q", pspID)
	}
	if err != nil {
		return remote, err
	}
	if given := r.get("psp_customer_id"); given != "" && given != remote.CustomerID {
		return remote, newProblem("psp_customer_id", "the subscription belongs to customer %q at Stripe", remote.CustomerID)
	}
	err = s.deps.Subscriptions.RequireSameCustomer(ctx, tenantID, remote.CustomerID)
	if errors.Is(err, subscription.ErrOtherCustomer) {
		return remote, newProblem("tenant", "is linked to a different Stripe customer, or customer %q belongs to another organization", remote.CustomerID)
	}
	if err := errors.Join(err, p.checkUnique("psp_subscription_id", "customer", remote.CustomerID)); err != nil {
		return remote, err
	}
	if tenantID != uuid.Nil {
		_, err := s.deps.Subscriptions.LoadCurrent(ctx, tenantID)
		if err == nil {
			return remote, newProblem("tenant", "already has a subscription: %q", r.get("tenant"))
		}
		if !errors.Is(err, subscription.ErrNotFound) {
			return remote, err
		}
	}
	next, err := s.deps.Subscriptions.Examine(ctx, tenantID, remote)
	if unfit, ok := errors.AsType[*subscription.UnfitError](err); ok {
		return remote, newProblem("psp_subscription_id", "%v; link the price to a plan of the catalog first", unfit)
	}
	if err != nil {
		return remote, err
	}
	if next.Status.IsOver() {
		return remote, newProblem("psp_subscription_id", "has ended at Stripe (%s)", next.Status)
	}
	return remote, s.planSeats(ctx, p, r, tenantID, next)
}

// planSeats records the seats of the subscription for the members that are read later. It returns a
// problem if the team already has more members than a per-seat subscription is billed for.
func (s *Service) planSeats(ctx context.Context, p *pass, r row, tenantID uuid.UUID, next subscription.Subscription) error {
	plan, err := s.deps.Catalog.Plan(ctx, next.PlanID)
	if err != nil {
		return err
	}
	var team seats
	if team.limit, err = s.deps.Subscriptions.SeatLimitWith(ctx, tenantID, plan); err != nil {
		return err
	}
	if plan.PricingType == catalog.PricingSeat {
		team.billed = &next.Quantity
	}
	here, err := s.deps.Tenants.CountMembers(ctx, tenantID)
	if err != nil {
		return err
	}
	key := hashParts(r.get("tenant"))
	p.plans[key] = team
	return team.checkBilled(here + p.added[key])
}
