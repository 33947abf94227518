package subscription

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/catalog"
)

// startTrial starts a trial without a card and returns the subscription (rules: subscription#trials).
// It rejects an unknown plan or currency. It returns trial_not_available if the plan does not offer
// such a trial, or if the tenant, or its owner as the owner of another tenant, has had a trial of the
// product. After that, it rejects the same requests as a checkout, except that the billing details can
// be added later.
//
// Invariant: like a checkout, the trial is stored before the provider is called, and its ID is the
// idempotency key. A repeated or concurrent request continues it, so a tenant gets one trial. A
// trial is used up only in the transaction that stores the subscription.
func (s *Service) startTrial(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (Subscription, error) {
	bought, err := s.checkTrial(ctx, tenantID, p)
	if err != nil {
		return Subscription{}, err
	}
	params, err := s.checkoutParams(ctx, bought)
	if err != nil {
		return Subscription{}, err
	}
	if params.TrialDays == 0 {
		return Subscription{}, errNoTrial // a concurrent request has used it up
	}
	id, _, err := s.continueCheckout(ctx, bought, params)
	if err != nil {
		return Subscription{}, err
	}
	params.Key, params.Metadata = id.String(), bought.metadata(id)
	remote, err := s.deps.Provider.CreateSubscription(ctx, params)
	if err != nil {
		return Subscription{}, s.deps.Prices.ExplainRefusal(ctx, bought.plan, bought.price, bought.quantity, err)
	}
	if err := s.ReadBack(ctx, remote.ID, nil); err != nil {
		return Subscription{}, err
	}
	sub, err := s.store.byPSPID(ctx, remote.ID)
	if errors.Is(err, ErrNotFound) || err == nil && sub.Status.IsOver() { // refused: another subscription or trial began first
		if err = s.RequireNone(ctx, tenantID); err == nil {
			err = errNoTrial
		}
	}
	if err != nil {
		return Subscription{}, err
	}
	s.reapplyNow(ctx, sub)
	return sub, s.completeTrial(ctx, id, sub)
}

// completeTrial completes the checkout that a trial was started with, and records the trial in the
// audit trail.
func (s *Service) completeTrial(ctx context.Context, id uuid.UUID, sub Subscription) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		first, err := s.store.setSession(ctx, sub.TenantID, id, sub.PSPSubscriptionID, now)
		if err != nil || !first {
			return err
		}
		if err := s.store.completeCheckout(ctx, sub.TenantID, sub.PSPSubscriptionID, now); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "subscription.created", TenantID: &sub.TenantID, Resource: "subscription", ResourceID: sub.ID.String(),
			After: map[string]any{
				"plan_id": sub.PlanID, "currency": sub.Currency, "quantity": sub.Quantity, "status": sub.Status, "trial_ends_at": sub.TrialEndsAt,
			},
		})
	})
}

func (s *Service) checkTrial(ctx context.Context, tenantID uuid.UUID, p CheckoutParams) (purchase, error) {
	plan, err := s.selectOffered(ctx, p.PlanID, p.Currency)
	if err != nil {
		return purchase{}, err
	}
	if err := refuseDefault(plan); err != nil {
		return purchase{}, err
	}
	if err := s.requireTrial(ctx, tenantID, plan); err != nil {
		return purchase{}, err
	}
	p.BillingLater = true
	return s.checkPurchase(ctx, tenantID, p)
}

// requireTrial rejects a plan that does not offer a trial without a card, and a tenant or an owner
// that had a trial of its product.
func (s *Service) requireTrial(ctx context.Context, tenantID uuid.UUID, plan catalog.Plan) error {
	if plan.TrialDays == 0 || plan.CardForTrial {
		return errNoTrial
	}
	had, err := s.store.hadTrial(ctx, tenantID, plan.ID)
	if err != nil {
		return err
	}
	owner, err := s.deps.Tenants.Owner(ctx, tenantID)
	if err == nil && owner != nil && !had {
		had, err = s.store.hadTrialAsOwner(ctx, owner.UserID, plan.ID)
	}
	if err == nil && had {
		err = errNoTrial
	}
	return err
}
