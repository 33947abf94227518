package subscription

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/customer"
)

// ErrOtherCustomer says that a tenant has another customer at the provider, or that the
// customer is another tenant's.
var ErrOtherCustomer = errors.New("the tenant and the customer do not belong together")

// Examine returns a subscription of the provider, new here, as it would be stored for a
// tenant; uuid.Nil is one that is not there yet. It gives an *UnfitError for one that cannot be.
func (s *Service) Examine(ctx context.Context, tenantID uuid.UUID, remote psp.Subscription) (Subscription, error) {
	if tenantID == uuid.Nil {
		tenantID = sqldb.NewID()
	}
	return s.merge(ctx, Subscription{TenantID: tenantID}, remote)
}

// RequireSameCustomer refuses, with ErrOtherCustomer, a customer of the provider that cannot be a
// tenant's. uuid.Nil is a tenant that is not there yet.
func (s *Service) RequireSameCustomer(ctx context.Context, tenantID uuid.UUID, customerID string) error {
	of, err := s.deps.Customers.TenantOf(ctx, customerID)
	switch {
	case errors.Is(err, customer.ErrForeign):
	case err != nil:
		return err
	case of != tenantID:
		return ErrOtherCustomer
	}
	stored, err := s.deps.Customers.ByTenant(ctx, tenantID)
	switch {
	case errors.Is(err, customer.ErrNone):
		return nil
	case err == nil && stored != customerID:
		return ErrOtherCustomer
	}
	return err
}

// Import makes a customer of the provider that of a tenant, and takes a subscription of it
// over. At the provider it changes nothing. A repetition goes on where the first ended.
func (s *Service) Import(ctx context.Context, tenantID uuid.UUID, customerID, pspID string) error {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		if err := s.RequireSameCustomer(ctx, tenantID, customerID); err != nil {
			return err
		}
		if _, err := s.deps.Customers.StoreFirst(ctx, tenantID, customerID); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "subscription.imported", TenantID: &tenantID, Resource: "subscription", ResourceID: pspID,
			After: map[string]any{"psp_customer_id": customerID, "psp_subscription_id": pspID},
		})
	})
	if err != nil {
		return err
	}
	if err := s.ReadBack(ctx, pspID, nil); err != nil {
		return err
	}
	sub, err := s.store.byPSPID(ctx, pspID)
	if err == nil && sub.TenantID != tenantID || errors.Is(err, ErrNotFound) {
		return fmt.Errorf("subscription %s was not taken over: the tenant has another one", pspID)
	}
	return err
}
