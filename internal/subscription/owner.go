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
// Where several plans have that price the metadata decides, and next the plan that is
// stored. For a price that no plan has, such as one made by hand at the provider, it is
// the metadata too.
//
// Invariant: what plans a price is linked to by now does not move a subscription. While
// it pays the price that is stored it keeps its plan, unless the metadata names another
// plan with that price; and the price of a change that waited means the plan of that
// change, which takes no metadata.
func (s *Service) planOf(ctx context.Context, remote psp.Subscription, known Subscription) (uuid.UUID, error) {
	plans, err := s.store.plansOfPrice(ctx, remote.PriceID)
	if err != nil {
		return uuid.Nil, err
	}
	named, _ := uuid.Parse(remote.Metadata[MetaPlan])
	same := known.PlanID != uuid.Nil && known.PSPPriceID == remote.PriceID
	waited := known.Pending != nil && known.Pending.PSPPriceID == remote.PriceID && !same
	renamed := slices.Contains(plans, named) && named != known.PlanID
	switch {
	case renamed:
		return named, nil
	case waited:
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

// pendingOf returns the change that a subscription waits with: to the plan that an
// operation asks for at that price, else to the one that is stored, else to the oldest
// that has the price. It has no plan where none waits, and for a change to a price of no
// plan, which somebody made by hand at the provider.
func (s *Service) pendingOf(ctx context.Context, remote psp.Subscription, known Subscription) (PendingChange, error) {
	w := remote.Pending
	if w == nil {
		return PendingChange{}, nil
	}
	change := PendingChange{PSPPriceID: w.PriceID, PSPInvoiceID: remote.LatestInvoiceID, ExpiresAt: w.ExpiresAt}
	asked, err := s.deps.Operations.PlanAsked(ctx, known, w.PriceID)
	if err != nil || asked != uuid.Nil {
		change.PlanID = asked
		return change, err
	}
	if was := known.Pending; was != nil && was.PSPPriceID == w.PriceID {
		change.PlanID = was.PlanID
		if was.ExpiresAt.Equal(w.ExpiresAt) { // it is the same: its invoice may not be the latest any more
			change.PSPInvoiceID = was.PSPInvoiceID
		}
		return change, nil
	}
	plans, err := s.store.plansOfPrice(ctx, w.PriceID)
	if len(plans) > 0 {
		change.PlanID = plans[0]
	}
	return change, err
}
