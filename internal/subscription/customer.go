package subscription

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/sqldb"
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
	id, err = s.deps.Provider.CreateCustomer(ctx, psp.CustomerParams{Key: "customer-" + t.ID.String(), TenantID: t.ID.String()})
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
