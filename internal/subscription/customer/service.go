// Package customer keeps, for each tenant, the customer that the payment provider
// bills: it is made at the first checkout and follows the billing details
// (rules: subscription#customer). It also opens the customer's billing portal.
package customer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/taxid"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/vat"
)

// JobUpdate is the kind of the jobs that send the tenant's billing details to the
// provider.
const JobUpdate = "subscription.customer"

// Provider is what customers need of the payment provider; *psp.Client is one.
type Provider interface {
	CreateCustomer(ctx context.Context, p psp.CustomerParams) (string, error)
	UpdateCustomer(ctx context.Context, id string, p psp.CustomerParams) error
	CreatePortal(ctx context.Context, p psp.PortalParams) (string, error)
}

// Tenants is what customers need of the tenant domain.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	CheckableVAT(t tenant.Tenant) (scheme vat.Scheme, number string)
	VATAnswered(ctx context.Context, t tenant.Tenant, status string, name *string) (changed bool, err error)
}

// Audit keeps the trail of what was changed; *audit.Log is one.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps is what the service needs.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Jobs     *jobs.Queue
	Tenants  Tenants
	Provider Provider
	Registry taxid.Registry
	Audit    Audit
	// TaxedFrom is the seller's country where the provider issues the invoices; empty where the
	// service issues them.
	TaxedFrom string
	// The billing portal leads back to BillingPage, or to another page of FrontendURL's host.
	FrontendURL, BillingPage string
}

// Service has the use cases of customers.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// ByTenant returns the id of a tenant's customer at the provider, else ErrNone.
func (s *Service) ByTenant(ctx context.Context, tenantID uuid.UUID) (string, error) {
	return s.store.byTenant(ctx, tenantID)
}

// Customer returns the id of a tenant's customer at the provider, "" for a tenant
// without one.
func (s *Service) Customer(ctx context.Context, tenantID uuid.UUID) (string, error) {
	id, err := s.store.byTenant(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return "", nil
	}
	return id, err
}

// TenantOf returns the tenant whose customer has an id, else ErrForeign.
func (s *Service) TenantOf(ctx context.Context, id string) (uuid.UUID, error) {
	return s.store.tenantOf(ctx, id)
}

// Ensure returns the provider's customer of a tenant, which it makes where there is
// none. Of two that are made at once one is kept.
//
// It is made without the billing details, which may change between an attempt of
// unknown outcome and its repetition. Without them the repetition is the same
// write, and makes no second customer. The details follow at once, and the VAT number is
// registered before anything is sold.
func (s *Service) Ensure(ctx context.Context, t tenant.Tenant) (string, error) {
	id, err := s.store.byTenant(ctx, t.ID)
	if err == nil {
		return id, s.registerVAT(ctx, t)
	}
	if !errors.Is(err, ErrNone) {
		return id, err
	}
	key, err := s.creationKey(ctx, t.ID)
	if err != nil {
		return "", err
	}
	id, err = s.deps.Provider.CreateCustomer(ctx, psp.CustomerParams{Key: key, TenantID: t.ID.String()})
	if err != nil {
		return "", err
	}
	p := s.params(t)
	// The update sends every detail, so a repetition under another key does no harm.
	p.Key = "customer-" + sqldb.NewID().String()
	if p.Locale, err = s.deps.Tenants.Locale(ctx, t, i18n.Locale(ctx)); err != nil {
		return "", err
	}
	if err := s.deps.Provider.UpdateCustomer(ctx, id, p); err != nil {
		return "", err
	}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now, err := s.deps.Tenants.Lock(ctx, t.ID)
		if err != nil {
			return err
		}
		if id, err = s.StoreFirst(ctx, t.ID, id); err != nil {
			return err
		}
		if s.params(now) == s.params(t) {
			return nil
		}
		// The details changed since t was read, while there was no customer to update.
		return s.BillingChanged(ctx, t.ID)
	})
	if err != nil {
		return "", err
	}
	return id, s.registerVAT(ctx, t)
}

// creationKey returns the idempotency key under which a tenant's customer is made.
// After each deletion it is another one: for the old key the provider would answer
// with the deleted customer.
func (s *Service) creationKey(ctx context.Context, tenantID uuid.UUID) (string, error) {
	former, err := s.store.countFormer(ctx, tenantID)
	if err != nil || former == 0 {
		return "customer-" + tenantID.String(), err
	}
	return fmt.Sprintf("customer-%s-%d", tenantID, former), nil
}

// StoreFirst stores a tenant's first customer and returns the one that the tenant has
// then, which may be another.
func (s *Service) StoreFirst(ctx context.Context, tenantID uuid.UUID, id string) (string, error) {
	if err := s.store.insert(ctx, tenantID, id, s.deps.Clock.Now()); err != nil {
		return "", err
	}
	return s.store.byTenant(ctx, tenantID)
}

// Forget takes a customer that was deleted at the provider off its tenant, whose
// next checkout makes a new one. The tenant keeps the customer's invoices.
func (s *Service) Forget(ctx context.Context, tenantID uuid.UUID, id string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.Lock(ctx, tenantID); err != nil {
			return err
		}
		removed, err := s.store.remove(ctx, tenantID, id)
		if err != nil || !removed {
			return err
		}
		if err := s.store.storeFormer(ctx, tenantID, id, s.deps.Clock.Now()); err != nil {
			return err
		}
		return s.deps.Audit.Record(ctx, audit.Entry{
			Action: "customer.deleted", TenantID: &tenantID, Resource: "customer", ResourceID: id,
			Before: map[string]any{"psp_customer_id": id},
		})
	})
}

// Discard deletes what is kept of a tenant's customers; the tenant is about to be
// deleted itself.
func (s *Service) Discard(ctx context.Context, tenantID uuid.UUID) error {
	return s.store.discard(ctx, tenantID)
}

// BillingChanged updates the provider's customer in the background; it is called in
// the transaction that changes a tenant's billing details.
func (s *Service) BillingChanged(ctx context.Context, tenantID uuid.UUID) error {
	_, err := s.store.byTenant(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.deps.Jobs.Enqueue(ctx, JobUpdate, tenantID, jobs.Key(tenantID.String()))
}

// HandleUpdate is the handler of JobUpdate. It sends every detail, so that a repetition does no harm. Each
// attempt has a key of its own: for a key that was used before, the provider would
// repeat its answer without looking at the details.
func (s *Service) HandleUpdate(ctx context.Context, job jobs.Job) error {
	var tenantID uuid.UUID
	if err := job.Decode(&tenantID); err != nil {
		return err
	}
	t, err := s.deps.Tenants.Get(ctx, tenantID)
	if err != nil {
		return err
	}
	id, err := s.store.byTenant(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	p := s.params(t)
	if p.TaxExempt, err = s.taxExempt(ctx, t, id); err != nil {
		return psp.MarkPermanent(err)
	}
	if p.Locale, err = s.deps.Tenants.Locale(ctx, t, ""); err != nil { // "" leaves it as it is
		return err
	}
	p.Key = fmt.Sprintf("customer-%s-%d", job.ID, job.Attempt)
	if err := s.deps.Provider.UpdateCustomer(ctx, id, p); err != nil {
		return psp.MarkPermanent(err)
	}
	return psp.MarkPermanent(s.registerVAT(ctx, t))
}

// oneLine returns a text of several lines in one, as the provider keeps an address.
func oneLine(text string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ", ")
}

// params describes a tenant as a customer, without a key.
func (s *Service) params(t tenant.Tenant) psp.CustomerParams {
	text := func(field *string) string {
		if field == nil {
			return ""
		}
		return *field
	}
	p := psp.CustomerParams{
		TenantID: t.ID.String(), Name: text(t.Billing.LegalName),
		Email: text(t.Billing.BillingEmail), Address: oneLine(text(t.Billing.Address)), City: text(t.Billing.City),
		PostalCode: text(t.Billing.PostalCode), Country: text(t.Billing.Country), VATNumber: text(t.Billing.VATNumber),
	}
	if p.Name == "" {
		p.Name = t.Name
	}
	if scheme, _ := s.deps.Tenants.CheckableVAT(t); scheme != vat.NoScheme {
		p.VATNumber = "" // the provider's documents show the tax ID
	}
	return p
}
