package subscription

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/subscriptions"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/tenant"
)

// ForeignError means that a subscription at the provider belongs to no tenant. Other programs may
// share the provider's account.
type ForeignError struct {
	// TenantID is the unknown tenant of a subscription that was bought through this service and is not
	// over, for example because a backup was restored. It is Nil for any other subscription.
	TenantID   uuid.UUID
	CustomerID string // at the provider
}

// Error names the tenant.
func (e *ForeignError) Error() string {
	if e.TenantID == uuid.Nil {
		return "the subscription does not belong to a tenant"
	}
	return fmt.Sprintf("the tenant %s of the subscription is unknown here", e.TenantID)
}

// provisionTime is how long a free subscription can exist before its tenant is stored.
const provisionTime = 10 * time.Minute

// UnfitError means that a tenant's subscription at the provider cannot be stored because one of its
// values is unknown here.
type UnfitError struct {
	TenantID     uuid.UUID
	Field, Value string
}

// Error names the unknown value.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("its %s is unknown here: %q", e.Field, e.Value)
}

// findTenant returns the tenant that owns a subscription, which may have been created manually at
// the provider. It looks up the tenant of the customer. If the customer is unknown, it uses the
// tenant from the metadata, provided that tenant has no other customer. Otherwise it returns
// a *ForeignError.
func (s *Service) findTenant(ctx context.Context, remote psp.Subscription) (uuid.UUID, error) {
	foreign := &ForeignError{CustomerID: remote.CustomerID}
	if remote.CustomerID == "" {
		return uuid.Nil, foreign
	}
	id, err := s.deps.Customers.TenantOf(ctx, remote.CustomerID)
	if !errors.Is(err, customer.ErrForeign) {
		return id, err
	}
	id, unreadable := uuid.Parse(remote.Metadata[metaTenant])
	if unreadable != nil {
		return uuid.Nil, foreign
	}
	if _, err := s.deps.Tenants.Get(ctx, id); errors.Is(err, tenant.ErrNotFound) {
		if s.isBoughtHere(remote) {
			foreign.TenantID = id
		}
		return uuid.Nil, foreign
	} else if err != nil {
		return uuid.Nil, err
	}
	_, err = s.deps.Customers.ByTenant(ctx, id)
	switch {
	case errors.Is(err, customer.ErrNone):
		return id, nil
	case err != nil:
		return uuid.Nil, err
	default:
		return uuid.Nil, foreign
	}
}

// isBoughtHere reports whether the subscription of an unknown tenant was bought through this service
// and is not over. Only an existing tenant opens a checkout. A free subscription is created shortly
// before its tenant, so it counts only after provisionTime.
func (s *Service) isBoughtHere(remote psp.Subscription) bool {
	_, noCheckout := uuid.Parse(remote.Metadata[metaCheckout])
	_, noPlan := uuid.Parse(remote.Metadata[metaPlan])
	isSettled := s.deps.Clock.Now().Sub(remote.CreatedAt) >= provisionTime
	return (noCheckout == nil || noPlan == nil && isSettled) && !Status(remote.Status).IsOver()
}

// checkCurrency returns the currency of a new subscription, or an *UnfitError if it is unknown.
func (s *Service) checkCurrency(ctx context.Context, tenantID uuid.UUID, remote psp.Subscription) (string, error) {
	exists, err := s.deps.Catalog.CurrencyExists(ctx, remote.Currency)
	if err == nil && !exists {
		err = &UnfitError{tenantID, "currency", remote.Currency}
	}
	return remote.Currency, err
}

// findPlan returns the plan of a subscription, which it finds by the price. If several plans share
// the price, the metadata decides, or else the stored plan. The metadata also decides if the price
// does not belong to a plan, for example because it was created manually at the provider.
//
// Invariant: linking a price to more plans does not move a subscription. As long as it pays the
// stored price it keeps its plan, unless the metadata names another plan with that price. A pending
// change cannot carry metadata, so its price selects its plan.
func (s *Service) findPlan(ctx context.Context, remote psp.Subscription, known Subscription) (uuid.UUID, error) {
	plans, err := s.store.listPlansOfPrice(ctx, remote.PriceID)
	if err != nil {
		return uuid.Nil, err
	}
	named, _ := uuid.Parse(remote.Metadata[metaPlan])
	same := known.PlanID != uuid.Nil && known.PSPPriceID == remote.PriceID
	wasPending := known.Pending != nil && known.Pending.PSPPriceID == remote.PriceID && !same
	renamed := slices.Contains(plans, named) && named != known.PlanID
	switch {
	case renamed:
		return named, nil
	case wasPending:
		return known.Pending.PlanID, nil
	case same || slices.Contains(plans, known.PlanID):
		return known.PlanID, nil
	case len(plans) > 0:
		return plans[0], nil
	}
	_, err = s.deps.Catalog.Plan(ctx, named)
	switch {
	case err == nil:
		return named, nil
	case !errors.Is(err, catalog.ErrNotFound):
		return uuid.Nil, err
	case known.PlanID != uuid.Nil:
		return known.PlanID, nil
	default:
		return uuid.Nil, &UnfitError{known.TenantID, "price", remote.PriceID}
	}
}

// hasCustomPrice reports whether the price of a subscription was agreed with the customer. The
// metadata says so, unless the price belongs to a plan: a pending change cannot carry metadata.
func (s *Service) hasCustomPrice(ctx context.Context, remote psp.Subscription, known Subscription) (bool, error) {
	if known.ID != uuid.Nil && known.PSPPriceID == remote.PriceID {
		return known.CustomPrice, nil
	}
	if remote.Metadata[subscriptions.MetaCustomPrice] == "" {
		return false, nil
	}
	plans, err := s.store.listPlansOfPrice(ctx, remote.PriceID)
	return len(plans) == 0, err
}

// pendingChange returns the pending change of a subscription. Its plan is the plan that an
// operation requests at that price, otherwise the stored plan, otherwise the oldest plan with the
// price. It has no plan if no change is pending, or if the price belongs to no plan because the
// change was made manually at the provider.
func (s *Service) pendingChange(ctx context.Context, remote psp.Subscription, known Subscription) (PendingChange, error) {
	if remote.Pending == nil {
		return PendingChange{}, nil
	}
	requested, by, err := s.requestedPlan(ctx, known, remote.Pending.PriceID)
	if err != nil {
		return PendingChange{}, err
	}
	change := newPendingChange(remote, known.Pending, requested)
	if requested != uuid.Nil {
		change.By = by
	}
	if change.PlanID != uuid.Nil {
		return change, nil
	}
	plans, err := s.store.listPlansOfPrice(ctx, change.PSPPriceID)
	if len(plans) > 0 {
		change.PlanID = plans[0]
	}
	return change, err
}

// newPendingChange returns the pending change of the provider's subscription. Its plan is the
// requested one if set, otherwise the plan of the stored change if that has the same price.
func newPendingChange(remote psp.Subscription, stored *PendingChange, requested uuid.UUID) PendingChange {
	change := PendingChange{
		PlanID: requested, PSPPriceID: remote.Pending.PriceID, PSPInvoiceID: remote.LatestInvoiceID, ExpiresAt: remote.Pending.ExpiresAt,
		Quantity: remote.Pending.Quantity, PriceCents: remote.Pending.UnitAmount,
	}
	if requested != uuid.Nil || stored == nil || stored.PSPPriceID != change.PSPPriceID {
		return change
	}
	change.PlanID, change.By = stored.PlanID, stored.By
	if stored.ExpiresAt.Equal(change.ExpiresAt) { // the same change: its invoice may no longer be the latest
		change.PSPInvoiceID = stored.PSPInvoiceID
	}
	return change
}
