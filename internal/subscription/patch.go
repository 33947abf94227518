package subscription

import (
	"context"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/catalog"
)

// patch is a change of a subscription by the platform. Nil fields stay as they are.
type patch struct {
	terms    termsChange
	trialEnd *string
	quantity *int64
	price    *pricePatch
}

// changesContract reports whether the patch changes a field that requires the permission
// subscriptions.manage.
func (p patch) changesContract() bool {
	return !p.terms.isEmpty() || p.quantity != nil || p.price != nil
}

// checkPermissions refuses a caller without the permission of a field. The scope of an API key
// replaces the permissions.
func (p patch) checkPermissions(ctx context.Context) error {
	caller := authz.FromContext(ctx)
	if caller == nil || caller.Key != nil {
		return nil
	}
	if p.trialEnd != nil && !caller.CanOnPlatform(authz.TenantsManage) || p.changesContract() && !caller.CanOnPlatform(authz.SubscriptionsManage) {
		return errNotPermitted
	}
	return nil
}

// applyPatch changes a subscription on behalf of the platform: first the terms of payment, then a
// later end of the trial, then the number of seats, which is invoiced under the new terms, and the
// price of the next period. A trial that ends now ends last, so that its first invoice has the new
// seats and price. Everything that can be checked without the provider is checked first.
func (s *Service) applyPatch(ctx context.Context, tenantID, id uuid.UUID, p patch) (Subscription, error) {
	end, err := s.parseTrialEnd(p.trialEnd)
	if err != nil {
		return Subscription{}, err
	}
	sub, err := s.checkPatch(ctx, tenantID, id, p)
	if err == nil {
		err = p.checkPermissions(ctx)
	}
	if err == nil && !p.terms.isEmpty() {
		sub, err = s.updateTerms(ctx, tenantID, id, p.terms)
	}
	endsNow := p.trialEnd != nil && end.IsZero()
	if err == nil && p.trialEnd != nil && !endsNow {
		sub, err = s.moveTrialEnd(ctx, tenantID, id, end)
	}
	if err == nil && p.quantity != nil && *p.quantity != sub.Quantity {
		sub, err = s.changeSeats(ctx, sub, *p.quantity)
	}
	if err == nil && p.price != nil {
		sub, err = s.schedulePrice(ctx, tenantID, id, *p.price)
	}
	if err == nil && endsNow {
		sub, err = s.moveTrialEnd(ctx, tenantID, id, end)
	}
	return sub, err
}

// checkPatch rejects a change that the state of the subscription does not allow.
func (s *Service) checkPatch(ctx context.Context, tenantID, id uuid.UUID, p patch) (Subscription, error) {
	if !p.changesContract() {
		return s.store.byID(ctx, tenantID, id)
	}
	sub, err := s.loadPatchable(ctx, tenantID, id)
	if err == nil && p.price != nil {
		err = s.checkPricePatch(ctx, sub, p.terms.applyTo(sub.Terms), *p.price)
	}
	if err != nil || p.quantity == nil {
		return sub, err
	}
	plan, err := s.deps.Catalog.Plan(ctx, sub.PlanID)
	switch {
	case err != nil:
		return sub, err
	case !sub.Status.IsRunning():
		return sub, errNotUpgradable
	case plan.PricingType != catalog.PricingSeat:
		return sub, errNoSeats
	}
	_, err = s.checkUnits(ctx, tenantID, plan, *p.quantity)
	return sub, err
}

// changeSeats changes the number of seats of a subscription on behalf of the platform.
func (s *Service) changeSeats(ctx context.Context, sub Subscription, quantity int64) (Subscription, error) {
	p := changeParams{planID: sub.PlanID, quantity: quantity, isUnseen: true}
	result, err := s.changePlan(ctx, s.store.loaderByID(sub.TenantID, sub.ID), p)
	return result.sub, err
}
