package customer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/psp"
	"github.com/tenantry/tenantry/internal/psp/customers"
	"github.com/tenantry/tenantry/internal/tenant"
	"github.com/tenantry/tenantry/internal/vat"
)

// recheckAfter is how long the registry's answer about a VAT number is valid. The provider does not
// validate an existing tax ID again, so a new one is registered.
const recheckAfter = 7 * 24 * time.Hour

// recheckedPerRun limits how many numbers one run of RecheckVAT registers again.
const recheckedPerRun = 500

// registerVAT registers the tenant's VAT number as the tax ID of its customer, and deletes the tax
// ID of an earlier number. If the last answer is too old, it registers the number again.
//
// Invariant: a registration is stored before the provider is called, and its version is part of the
// idempotency key. After a crash or a timeout, a retry finds the tax ID that the first attempt
// created before it replaces it. So a customer never has two tax IDs from this service.
func (s *Service) registerVAT(ctx context.Context, t tenant.Tenant) error {
	want := s.taxIDOf(t)
	for {
		r, err := s.store.registration(ctx, t.ID)
		if errors.Is(err, ErrNone) {
			return nil
		}
		if err != nil {
			return err
		}
		if r.id != (taxID{}) && r.pspID == "" && r.answeredAt == nil {
			if err := s.createTaxID(ctx, t.ID, r); err != nil {
				return err
			}
			continue
		}
		if r.id == want && !s.isStale(r, t) {
			return nil
		}
		if r.pspID != "" {
			if err := s.deps.Registry.DeleteTaxID(ctx, r.customerID, r.pspID); err != nil {
				return err
			}
		}
		if err := s.store.beginRegistration(ctx, t.ID, r, want); err != nil {
			return err
		}
	}
}

// createTaxID registers a tax ID and stores its ID. The notification about the registry's answer
// can arrive before the ID is stored, so createTaxID reads the answer back afterwards.
func (s *Service) createTaxID(ctx context.Context, tenantID uuid.UUID, r registration) error {
	created, err := s.deps.Registry.CreateTaxID(ctx, customers.TaxIDParams{
		Key: fmt.Sprintf("tax-id-%s-%d", r.customerID, r.version), CustomerID: r.customerID, Type: r.id.kind, Value: r.id.value,
	})
	if err != nil {
		return err
	}
	if created.ID == "" { // the provider rejected the format
		return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
			if err := s.store.setAnswered(ctx, tenantID, r.version, s.deps.Clock.Now()); err != nil {
				return err
			}
			return s.storeAnswer(ctx, tenantID, created)
		})
	}
	if err := s.store.setTaxID(ctx, tenantID, r, created.ID); err != nil {
		return err
	}
	return s.readTaxID(ctx, tenantID, r.customerID, created.ID)
}

// TaxIDEvent handles the notification that the registry has answered about a tax ID.
func (s *Service) TaxIDEvent(ctx context.Context, e psp.Event) error {
	tenantID, err := s.store.tenantOfTaxID(ctx, e.ObjectID)
	if errors.Is(err, ErrForeign) {
		return nil
	}
	if err != nil {
		return err
	}
	customerID, err := s.store.byTenant(ctx, tenantID)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.readTaxID(ctx, tenantID, customerID, e.ObjectID)
}

// readTaxID reads a tax ID back from the provider and stores the registry's answer.
func (s *Service) readTaxID(ctx context.Context, tenantID uuid.UUID, customerID, pspID string) error {
	id, err := s.deps.Registry.GetTaxID(ctx, customerID, pspID)
	if errors.Is(err, psp.ErrNotFound) {
		return nil // it was replaced
	}
	if err != nil {
		return err
	}
	return s.storeAnswer(ctx, tenantID, id)
}

// storeAnswer stores the registry's answer about a tax ID.
//
// Invariant: an answer is stored, under the tenant's lock, only if it is for the tenant's current
// registration, and this registration has the tenant's current number. While a number is being
// registered again, the last answer remains. A repeated answer changes nothing.
func (s *Service) storeAnswer(ctx context.Context, tenantID uuid.UUID, id customers.TaxID) error {
	status, ok := map[string]string{
		customers.StatusVerified: vat.StatusValid, customers.StatusUnverified: vat.StatusInvalid, customers.StatusUnavailable: vat.StatusUnknown,
	}[id.Status]
	if !ok { // pending
		return nil
	}
	var name *string
	if status == vat.StatusValid && id.Name != "" {
		name = &id.Name
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.Lock(ctx, tenantID)
		if err != nil {
			return err
		}
		r, err := s.store.registration(ctx, tenantID)
		if errors.Is(err, ErrNone) {
			return nil
		}
		if err != nil || r.pspID != id.ID || r.id == (taxID{}) || r.id != s.taxIDOf(t) || t.DeletedAt != nil {
			return err
		}
		if r.answeredAt != nil && t.VAT.Status == status && equalText(t.VAT.Name, name) {
			return nil
		}
		if err := s.store.setAnswered(ctx, tenantID, r.version, s.deps.Clock.Now()); err != nil {
			return err
		}
		changed, err := s.deps.Tenants.VATAnswered(ctx, t, status, name)
		if err != nil || !changed || s.deps.TaxedFrom == "" {
			return err
		}
		return s.BillingChanged(ctx, tenantID)
	})
}

// RecheckVAT enqueues a new registration for subscribed tenants whose last answer is too old.
func (s *Service) RecheckVAT(ctx context.Context) error {
	ids, err := s.store.listStale(ctx, s.deps.Clock.Now().Add(-recheckAfter), recheckedPerRun)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := s.deps.Jobs.Enqueue(ctx, JobUpdate, id, jobs.Key(id.String())); err != nil {
			return err
		}
	}
	return nil
}

// isStale reports whether the number must be registered again.
func (s *Service) isStale(r registration, t tenant.Tenant) bool {
	return r.answeredAt != nil && (t.VAT.Status == vat.StatusValid || t.VAT.Status == vat.StatusUnknown) &&
		!s.deps.Clock.Now().Before(r.answeredAt.Add(recheckAfter))
}

// taxIDOf returns a tenant's VAT number in the provider's format, or zero.
func (s *Service) taxIDOf(t tenant.Tenant) taxID {
	scheme, number := s.deps.Tenants.CheckableVAT(t)
	switch scheme {
	case vat.Union:
		return taxID{customers.Union, number}
	case vat.UnitedKingdom:
		return taxID{customers.UnitedKingdom, number}
	case vat.Switzerland: // formatted as CHE-123.456.789 MWST
		suffix := number[12:]
		if suffix == "" {
			suffix = "MWST"
		}
		return taxID{customers.Switzerland, fmt.Sprintf("CHE-%s.%s.%s %s", number[3:6], number[6:9], number[9:12], suffix)}
	}
	return taxID{}
}

// taxExempt returns the tax exemption to set on the provider's customer, or "" to leave it
// unchanged. A customer that the seller has exempted at the provider stays exempt.
func (s *Service) taxExempt(ctx context.Context, t tenant.Tenant, customerID string) (string, error) {
	if s.deps.TaxedFrom == "" {
		return "", nil
	}
	if t.ReverseCharge(s.deps.TaxedFrom, s.deps.Clock.Now()) {
		return psp.TaxExemptReverse, nil
	}
	now, err := s.deps.Registry.CustomerTaxExempt(ctx, customerID)
	if err != nil || now != psp.TaxExemptReverse {
		return "", err
	}
	return psp.TaxExemptNone, nil
}

func equalText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
