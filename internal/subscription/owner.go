package subscription

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/subscription/customer"
	"github.com/tenantry/tenantry/internal/tenant"
)

// ErrForeign says that a subscription at the provider belongs to no tenant: others
// may use the provider's account too.
var ErrForeign = errors.New("the subscription belongs to no tenant")

// UnfitError says that a tenant's subscription at the provider cannot be stored
// here, because of a value that is unknown here.
type UnfitError struct {
	TenantID     uuid.UUID
	Field, Value string
}

// Error names the value.
func (e *UnfitError) Error() string {
	return fmt.Sprintf("its %s is unknown here: %q", e.Field, e.Value)
}

// tenantOf returns the tenant of a subscription, which may have been made by hand at
// the provider: the tenant of its customer, else the one that the metadata names if
// that has no other customer. Else it is ErrForeign.
func (s *Service) tenantOf(ctx context.Context, remote psp.Subscription) (uuid.UUID, error) {
	if remote.CustomerID == "" {
		return uuid.Nil, ErrForeign
	}
	id, err := s.deps.Customers.TenantOf(ctx, remote.CustomerID)
	if !errors.Is(err, customer.ErrForeign) {
		return id, err
	}
	id, unreadable := uuid.Parse(remote.Metadata[metaTenant])
	if unreadable != nil {
		return uuid.Nil, ErrForeign
	}
	if _, err := s.deps.Tenants.Get(ctx, id); errors.Is(err, tenant.ErrNotFound) {
		return uuid.Nil, ErrForeign
	} else if err != nil {
		return uuid.Nil, err
	}
	_, err = s.deps.Customers.OfTenant(ctx, id)
	switch {
	case errors.Is(err, customer.ErrNone):
		return id, nil
	case err != nil:
		return uuid.Nil, err
	default:
		return uuid.Nil, ErrForeign
	}
}

// currencyOf returns the currency of a subscription that is new here.
func (s *Service) currencyOf(ctx context.Context, tenantID uuid.UUID, remote psp.Subscription) (string, error) {
	exists, err := s.deps.Catalog.CurrencyExists(ctx, remote.Currency)
	if err == nil && !exists {
		err = &UnfitError{tenantID, "currency", remote.Currency}
	}
	return remote.Currency, err
}

// planOf returns the plan that a subscription bills: the one that has its price.
// Where several plans have that price the metadata decides. Where none has it any more,
// the price tells as long as it is the one that is stored, or that of a change which
// waited: that change takes no metadata. For a price that was made by hand at the
// provider it is the metadata, and after that the plan that is stored.
func (s *Service) planOf(ctx context.Context, remote psp.Subscription, known Subscription) (uuid.UUID, error) {
	plans, err := s.store.plansOfPrice(ctx, remote.PriceID)
	if err != nil {
		return uuid.Nil, err
	}
	named, _ := uuid.Parse(remote.Metadata[MetaPlan])
	switch {
	case slices.Contains(plans, named):
		return named, nil
	case slices.Contains(plans, known.PlanID):
		return known.PlanID, nil
	case len(plans) > 0:
		return plans[0], nil
	case known.Pending != nil && known.Pending.PSPPriceID == remote.PriceID:
		return known.Pending.PlanID, nil
	case known.PlanID != uuid.Nil && known.PSPPriceID == remote.PriceID:
		return known.PlanID, nil
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

// pendingOf returns the change that a subscription waits with. It has no plan where none
// waits, and for a change to a price of no plan, which somebody made by hand at the
// provider.
func (s *Service) pendingOf(ctx context.Context, remote psp.Subscription, known Subscription) (PendingChange, error) {
	w := remote.Pending
	if w == nil {
		return PendingChange{}, nil
	}
	change := PendingChange{PSPPriceID: w.PriceID, PSPInvoiceID: remote.LatestInvoiceID, ExpiresAt: w.ExpiresAt}
	plans, err := s.store.plansOfPrice(ctx, w.PriceID)
	switch {
	case err != nil:
	case known.Pending != nil && known.Pending.PSPPriceID == w.PriceID:
		change.PlanID = known.Pending.PlanID
	case len(plans) > 0:
		change.PlanID = plans[0]
	}
	return change, err
}
