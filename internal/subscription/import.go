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

// ErrOtherCustomer means that the tenant has another customer at the provider, or that the customer
// belongs to another tenant.
var ErrOtherCustomer = errors.New("the customer does not belong to the tenant")

// Examine returns how a new subscription of the provider would be stored for a tenant. uuid.Nil
// stands for a tenant that does not exist yet. It returns an *UnfitError if the subscription cannot
// be stored.
func (s *Service) Examine(ctx context.Context, tenantID uuid.UUID, remote psp.Subscription) (Subscription, error) {
	if tenantID == uuid.Nil {
		tenantID = sqldb.NewID()
	}
	return s.merge(ctx, Subscription{TenantID: tenantID}, remote)
}

// RequireSameCustomer returns ErrOtherCustomer if the provider's customer cannot belong to the
// tenant. uuid.Nil stands for a tenant that does not exist yet.
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

// Import assigns a customer of the provider to a tenant and stores one of the customer's
// subscriptions. It changes nothing at the provider. A retry continues where the previous attempt
// failed.
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
		return fmt.Errorf("subscription %s was not imported: the tenant already has a subscription", pspID)
	}
	return err
}
