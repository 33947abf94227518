package subscription

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/subscription/subscriptionsql"
	"github.com/tenantry/tenantry/internal/tenant"
)

// jobCustomer makes the provider's customer what the tenant's billing details are.
const jobCustomer = "subscription.customer"

// customerOf describes a tenant as a customer, without a key.
func customerOf(t tenant.Tenant) psp.CustomerParams {
	text := func(field *string) string {
		if field == nil {
			return ""
		}
		return *field
	}
	p := psp.CustomerParams{
		TenantID: t.ID.String(), Name: text(t.Billing.LegalName),
		Email: text(t.Billing.BillingEmail), Address: text(t.Billing.Address), City: text(t.Billing.City),
		PostalCode: text(t.Billing.PostalCode), Country: text(t.Billing.Country), VATNumber: text(t.Billing.VATNumber),
	}
	if p.Name == "" {
		p.Name = t.Name
	}
	return p
}

// ensureCustomer returns the provider's customer of a tenant, made at the first
// checkout. Two first checkouts at once keep one of the customers.
//
// It is made without the details, which may be corrected between an attempt of
// unknown outcome and its repetition: so that the repetition is the same write,
// and makes no second customer. The details follow at once.
func (s *Service) ensureCustomer(ctx context.Context, t tenant.Tenant) (string, error) {
	id, err := s.store.customer(ctx, t.ID)
	if err != nil || id != "" {
		return id, err
	}
	key, err := s.customerKey(ctx, t.ID)
	if err != nil {
		return "", err
	}
	id, err = s.deps.Provider.CreateCustomer(ctx, psp.CustomerParams{Key: key, TenantID: t.ID.String()})
	if err != nil {
		return "", err
	}
	p := customerOf(t)
	p.Key, p.Locale = "customer-"+sqldb.NewID().String(), i18n.Locale(ctx) // absolute: a repetition does no harm
	if err := s.deps.Provider.UpdateCustomer(ctx, id, p); err != nil {
		return "", err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now, err := s.deps.Tenants.Lock(ctx, t.ID)
		if err != nil {
			return err
		}
		if id, err = s.store.saveCustomer(ctx, t.ID, id, s.deps.Clock.Now()); err != nil {
			return err
		}
		if customerOf(now) == customerOf(t) {
			return nil
		}
		return s.BillingChanged(ctx, t.ID) // since the details were read, without a customer to change
	})
	return id, err
}

// customerKey is the key that makes the tenant's customer: another one after each
// that was deleted, which the provider would answer for the key of before.
func (s *Service) customerKey(ctx context.Context, tenantID uuid.UUID) (string, error) {
	former, err := s.store.q(ctx).CountFormerCustomers(ctx, tenantID)
	if err != nil || former == 0 {
		return "customer-" + tenantID.String(), err
	}
	return fmt.Sprintf("customer-%s-%d", tenantID, former), nil
}

// CustomerEvent handles the notification that a customer was deleted: the provider
// has ended what it had, and the next checkout makes a new one. Its invoices stay
// the tenant's.
func (s *Service) CustomerEvent(ctx context.Context, e psp.Event) error {
	tenantID, err := s.store.q(ctx).TenantOfCustomer(ctx, e.ObjectID)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	deleted, err := s.deps.Provider.CustomerDeleted(ctx, e.ObjectID)
	if err != nil || !deleted {
		return err
	}
	sub, err := s.store.live(ctx, tenantID)
	if err != nil {
		return err
	}
	if sub != nil {
		// One that the provider lost too is left to the reconciliation.
		if err := s.take(ctx, sub.PSPSubscriptionID); err != nil && !errors.Is(err, psp.ErrNotFound) {
			return err
		}
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		known, err := s.store.q(ctx).ForgetCustomer(ctx, subscriptionsql.ForgetCustomerParams{TenantID: tenantID, PSPCustomerID: e.ObjectID})
		if err != nil || known == 0 {
			return err
		}
		if err := s.store.q(ctx).KeepFormerCustomer(ctx, subscriptionsql.KeepFormerCustomerParams{
			PSPCustomerID: e.ObjectID, TenantID: tenantID, DeletedAt: s.deps.Clock.Now(),
		}); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "customer.deleted", TenantID: &tenantID, Resource: "customer", ResourceID: e.ObjectID,
			Before: map[string]any{"psp_customer_id": e.ObjectID},
		})
	})
}

// BillingChanged has the provider's customer follow a tenant's billing details, in
// the background; it is called in the transaction that changes them.
func (s *Service) BillingChanged(ctx context.Context, tenantID uuid.UUID) error {
	customer, err := s.store.customer(ctx, tenantID)
	if err != nil || customer == "" {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, jobCustomer, tenantID, jobs.Key(tenantID.String()))
}

// updateCustomer is the job. What it sends is absolute, so that a repetition does
// no harm; each attempt has a key of its own, as the provider would answer a used
// one without looking at what it is now.
func (s *Service) updateCustomer(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return err
	}
	customer, err := s.store.customer(ctx, tenantID)
	if err != nil || customer == "" {
		return err
	}
	p := customerOf(t)
	p.Key = fmt.Sprintf("customer-%s-%d", job.ID, job.Attempt)
	return final(s.deps.Provider.UpdateCustomer(ctx, customer, p))
}
