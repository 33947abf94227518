// Package customer manages the payment provider's customer of each tenant. It creates the customer
// at the first checkout and updates it when the billing details change
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
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/vat"
)

// JobUpdate is the kind of job that sends a tenant's billing details to the provider.
const JobUpdate = "subscription.customer"

// Provider is the part of the payment provider that customers use. *psp.Client implements it.
type Provider interface {
	CreateCustomer(ctx context.Context, p psp.CustomerParams) (string, error)
	UpdateCustomer(ctx context.Context, id string, p psp.CustomerParams) error
	CreatePortal(ctx context.Context, p psp.PortalParams) (string, error)
}

// Tenants is the part of the tenant domain that customers use.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Lock(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	BillingEmail(ctx context.Context, t tenant.Tenant) (*string, error)
	CheckableVAT(t tenant.Tenant) (scheme vat.Scheme, number string)
	VATAnswered(ctx context.Context, t tenant.Tenant, status string, name *string) (changed bool, err error)
}

// Audit records changes in the audit trail. *audit.Log implements it.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Jobs     *jobs.Queue
	Tenants  Tenants
	Provider Provider
	Registry customers.TaxIDs
	Audit    Audit
	// TaxedFrom is the seller's country if the provider issues the invoices. It is empty if the
	// service issues them.
	TaxedFrom string
	// The billing portal links back to BillingPage or to another page on the host of FrontendURL.
	FrontendURL, BillingPage string
}

// Service implements the use cases of customers.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// ByTenant returns the ID of a tenant's customer at the provider, or ErrNone.
func (s *Service) ByTenant(ctx context.Context, tenantID uuid.UUID) (string, error) {
	return s.store.byTenant(ctx, tenantID)
}

// Customer returns the ID of a tenant's customer at the provider, or "".
func (s *Service) Customer(ctx context.Context, tenantID uuid.UUID) (string, error) {
	id, err := s.store.byTenant(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return "", nil
	}
	return id, err
}

// TenantOf returns the tenant of the customer with the given ID, or ErrForeign.
func (s *Service) TenantOf(ctx context.Context, id string) (uuid.UUID, error) {
	return s.store.tenantOf(ctx, id)
}

// Ensure returns the provider's customer of a tenant, and creates the customer if necessary. If two
// requests create a customer concurrently, only one customer is stored.
//
// The customer is created without billing details, so that a retry after an unknown outcome sends
// the same request even if the details have changed, and does not create a second customer. An
// update sends the details immediately afterwards, and the VAT number is registered before anything
// is sold.
func (s *Service) Ensure(ctx context.Context, t tenant.Tenant) (string, error) {
	id, err := s.store.byTenant(ctx, t.ID)
	if err == nil {
		return id, s.registerVAT(ctx, t)
	}
	if !errors.Is(err, ErrNone) {
		return id, err
	}
	if id, err = s.Create(ctx, t); err != nil {
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
		// The details have changed since t was read, when there was no customer to update.
		return s.BillingChanged(ctx, t.ID)
	})
	if err != nil {
		return "", err
	}
	return id, s.registerVAT(ctx, t)
}

// Create creates a tenant's customer at the provider, without storing it, and returns its ID. The
// tenant need not exist yet.
func (s *Service) Create(ctx context.Context, t tenant.Tenant) (string, error) {
	key, err := s.creationKey(ctx, t.ID)
	if err != nil {
		return "", err
	}
	id, err := s.deps.Provider.CreateCustomer(ctx, psp.CustomerParams{Key: key, TenantID: t.ID.String()})
	if err != nil {
		return "", err
	}
	p, err := s.fullParams(ctx, t)
	if err != nil {
		return "", err
	}
	// The update sends all details, so repeating it under another key is harmless.
	p.Key = "customer-" + sqldb.NewID().String()
	if p.Locale, err = s.deps.Tenants.Locale(ctx, t, i18n.Locale(ctx)); err != nil {
		return "", err
	}
	return id, s.deps.Provider.UpdateCustomer(ctx, id, p)
}

// creationKey returns the idempotency key for creating a tenant's customer. It differs after each
// deletion, because the provider would return the deleted customer for the old key.
func (s *Service) creationKey(ctx context.Context, tenantID uuid.UUID) (string, error) {
	former, err := s.store.countFormer(ctx, tenantID)
	if err != nil || former == 0 {
		return "customer-" + tenantID.String(), err
	}
	return fmt.Sprintf("customer-%s-%d", tenantID, former), nil
}

// StoreFirst stores a tenant's first customer. It returns the tenant's stored customer, which is
// another one if a concurrent request was first.
func (s *Service) StoreFirst(ctx context.Context, tenantID uuid.UUID, id string) (string, error) {
	if err := s.store.insert(ctx, tenantID, id, s.deps.Clock.Now()); err != nil {
		return "", err
	}
	return s.store.byTenant(ctx, tenantID)
}

// Forget removes a customer that was deleted at the provider from its tenant. The next checkout
// creates a new customer. The tenant keeps the invoices of the deleted one.
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

// Discard deletes the data about a tenant's customers, just before the tenant is deleted.
func (s *Service) Discard(ctx context.Context, tenantID uuid.UUID) error {
	return s.store.discard(ctx, tenantID)
}

// BillingChanged enqueues an update of the provider's customer. Call it in the transaction that
// changes the tenant's billing details.
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

// HandleUpdate handles JobUpdate. It sends all details, so a repetition is harmless. Each attempt
// has its own idempotency key. For a used key, the provider would return the earlier response and
// ignore the details.
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
	if err := s.update(ctx, t, id, fmt.Sprintf("customer-%s-%d", job.ID, job.Attempt)); err != nil {
		return psp.MarkPermanent(err)
	}
	return psp.MarkPermanent(s.registerVAT(ctx, t))
}

// Send sends the current details of a tenant to the provider now.
func (s *Service) Send(ctx context.Context, t tenant.Tenant) error {
	id, err := s.store.byTenant(ctx, t.ID)
	if err != nil {
		return err
	}
	return s.update(ctx, t, id, "customer-"+sqldb.NewID().String())
}

func (s *Service) update(ctx context.Context, t tenant.Tenant, id, key string) error {
	p, err := s.fullParams(ctx, t)
	if err != nil {
		return err
	}
	if p.TaxExempt, err = s.taxExempt(ctx, t, id); err != nil {
		return err
	}
	if p.Locale, err = s.deps.Tenants.Locale(ctx, t, ""); err != nil { // "" leaves it unchanged
		return err
	}
	p.Key = key
	return s.deps.Provider.UpdateCustomer(ctx, id, p)
}

// fullParams is params with the owner's email for a tenant without a billing address, because the
// provider requires an email of customers who pay by invoice.
func (s *Service) fullParams(ctx context.Context, t tenant.Tenant) (psp.CustomerParams, error) {
	p := s.params(t)
	to, err := s.deps.Tenants.BillingEmail(ctx, t)
	if err == nil && to != nil {
		p.Email = *to
	}
	return p, err
}

// oneLine joins the lines of a text, because the provider stores an address in one line.
func oneLine(text string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ", ")
}

// params returns a tenant's customer parameters, without a key.
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
		p.VATNumber = "" // the tax ID appears on the provider's documents
	}
	return p
}
