package subscription

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/catalog"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// errNobodys says that a subscription at the provider is no tenant's: others may
// use its account too.
var errNobodys = errors.New("the subscription is no tenant's")

// unfitError says that a tenant's subscription at the provider cannot be one
// here, because of a value that means nothing here.
type unfitError struct {
	tenantID     uuid.UUID
	field, value string
}

// Error names the value.
func (e *unfitError) Error() string {
	return fmt.Sprintf("its %s means nothing here: %q", e.field, e.value)
}

// tenantOf is the tenant that a subscription belongs to, as it may have been made
// by hand at the provider: the customer tells, else the metadata, but only of a
// tenant that has no other customer. Else it is errNobodys.
func (s *Service) tenantOf(ctx context.Context, remote psp.Subscription) (uuid.UUID, error) {
	if remote.CustomerID == "" {
		return uuid.Nil, errNobodys
	}
	id, err := s.store.q(ctx).TenantOfCustomer(ctx, remote.CustomerID)
	if !errors.Is(err, sqldb.ErrNoRows) {
		return id, err
	}
	id, unreadable := uuid.Parse(remote.Metadata[metaTenant])
	if unreadable != nil {
		return uuid.Nil, errNobodys
	}
	if _, err := s.deps.Tenants.Get(ctx, id); errors.Is(err, sqldb.ErrNoRows) {
		return uuid.Nil, errNobodys
	} else if err != nil {
		return uuid.Nil, err
	}
	customer, err := s.store.customer(ctx, id)
	if err == nil && customer != "" {
		err = errNobodys
	}
	return id, err
}

// currencyOf is the currency of a subscription that is new here.
func (s *Service) currencyOf(ctx context.Context, tenantID uuid.UUID, remote psp.Subscription) (string, error) {
	exists, err := s.deps.Catalog.CurrencyExists(ctx, remote.Currency)
	if err == nil && !exists {
		err = &unfitError{tenantID, "currency", remote.Currency}
	}
	return remote.Currency, err
}

// planOf is the plan that a subscription bills: the one whose price it has. Where
// several have it, and where none does, as with a price that was made by hand at
// the provider, the metadata tells, and after that what is known so far.
func (s *Service) planOf(ctx context.Context, remote psp.Subscription, known Subscription) (uuid.UUID, error) {
	plans, err := s.store.q(ctx).PlansOfPSPPrice(ctx, &remote.PriceID)
	if err != nil {
		return uuid.Nil, err
	}
	named, _ := uuid.Parse(remote.Metadata[metaPlan])
	switch {
	case slices.Contains(plans, named):
		return named, nil
	case slices.Contains(plans, known.PlanID):
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
		return uuid.Nil, &unfitError{known.TenantID, "price", remote.PriceID}
	}
}
