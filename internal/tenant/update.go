package tenant

import (
	"context"
	"maps"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Audit records changes in the audit trail.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// The audit actions of tenants.
const (
	actionCreated                = "tenant.created"
	actionDiscarded              = "tenant.discarded"
	actionUnverifiedOwnerRemoved = "tenant.forsaken"
	actionDissolved              = "tenant.dissolved"
	actionUpdated                = "tenant.updated"
	actionDeleted                = "tenant.deleted"
	actionRestored               = "tenant.restored"
	actionPurged                 = "tenant.purged"
	actionSetupCompleted         = "tenant.setup_completed"
	actionVATChecked             = "tenant.vat_checked"
)

// Update changes a tenant under its lock, unless change returns an error. A slug that another
// tenant uses is a validation error. It returns ErrNotFound if the tenant does not exist.
func (s *Service) Update(ctx context.Context, id uuid.UUID, change func(*Tenant) error) (Tenant, error) {
	t, err := s.update(ctx, id, actionUpdated, change)
	if sqldb.IsUnique(err) { // on the slug: members cannot change the external ID
		err = errSlugTaken
	}
	return t, err
}

// checkUpdate validates the fields of Update.
func (s *Service) checkUpdate(ctx context.Context, id uuid.UUID, change func(*Tenant) error) error {
	t, err := s.GetLive(ctx, id)
	if err != nil {
		return err
	}
	broken := change(&t)
	isTaken, err := s.store.isSlugTaken(ctx, t)
	if err == nil && isTaken {
		err = errSlugTaken
	}
	return fault.Join(broken, err)
}

// CompleteSetup changes billing details and marks the tenant's onboarding as complete, even if no
// detail changes. The time of completion is the time of the first call.
func (s *Service) CompleteSetup(ctx context.Context, id uuid.UUID, change func(*BillingDetails) error) (Tenant, error) {
	return s.update(ctx, id, actionSetupCompleted, func(t *Tenant) error {
		if t.OnboardingCompletedAt == nil {
			t.OnboardingCompletedAt = &t.UpdatedAt
		}
		return change(&t.Billing)
	})
}

// CompleteOnboarding ends the onboarding of a tenant, without further billing details.
func (s *Service) CompleteOnboarding(ctx context.Context, id uuid.UUID) error {
	t, err := s.Get(ctx, id)
	if err != nil || t.OnboardingCompletedAt != nil {
		return err
	}
	_, err = s.CompleteSetup(ctx, id, func(*BillingDetails) error { return nil })
	return err
}

// PreferCurrency makes a currency (ISO 4217, upper case) the tenant's preferred one
// (rules: tenant#preferred-currency).
func (s *Service) PreferCurrency(ctx context.Context, id uuid.UUID, currency string) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.Lock(ctx, id)
		if err != nil || t.PreferredCurrency == currency {
			return err
		}
		_, err = s.update(ctx, id, actionUpdated, func(t *Tenant) error { t.PreferredCurrency = currency; return nil })
		return err
	})
}

// update changes a tenant and records the change. The tenant that change receives already has the
// new UpdatedAt.
func (s *Service) update(ctx context.Context, id uuid.UUID, action string, change func(*Tenant) error) (Tenant, error) {
	var t Tenant
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		old, err := requireLive(s.Lock(ctx, id))
		if err != nil {
			return err
		}
		t = old
		t.UpdatedAt = s.deps.Clock.Now()
		if err := change(&t); err != nil {
			return err
		}
		s.resetVAT(&t, old)
		if err := s.store.update(ctx, old, t); err != nil {
			return err
		}
		if err := s.notifyBilling(ctx, old, t); err != nil {
			return err
		}
		if err := s.publish(ctx, hook.TenantUpdated, id); err != nil {
			return err
		}
		return s.record(ctx, action, id, auditFields(old), auditFields(t))
	})
	return t, err
}

// publish adds an event about a tenant to the outbox. The event contains the view of the tenant for
// its members, without caller-specific fields.
func (s *Service) publish(ctx context.Context, t hook.Type, id uuid.UUID) error {
	return hook.Publish(ctx, s.deps.Events, t, id, func(ctx context.Context) (any, error) {
		now, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return s.View(ctx, now)
	})
}

// notifyBilling notifies the subscription domain if a field changed that the payment provider
// stores.
func (s *Service) notifyBilling(ctx context.Context, old, t Tenant) error {
	if s.deps.Billing == nil || old.Name == t.Name && old.Billing.equal(t.Billing) && old.LocaleFor(nil, "") == t.LocaleFor(nil, "") {
		return nil
	}
	return s.deps.Billing.BillingChanged(ctx, t.ID)
}

// record adds an entry about a tenant to the audit trail, if there is one.
func (s *Service) record(ctx context.Context, action string, id uuid.UUID, before, after any) error {
	if s.deps.Audit == nil {
		return nil
	}
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, TenantID: &id, Resource: "tenant", ResourceID: id.String(), Before: before, After: after,
	})
}

// auditFields returns the audited fields of a tenant by their API names.
func auditFields(t Tenant) map[string]any {
	fields := recordedBilling(t.Billing)
	maps.Copy(fields, map[string]any{
		"name": t.Name, "slug": t.Slug, "external_id": t.ExternalID, "metadata": t.Metadata, "settings": t.Settings, "preferred_currency": t.PreferredCurrency,
		"onboarding_completed_at": t.OnboardingCompletedAt, "require_mfa": t.FactorFrom != nil, "require_mfa_from": dayText(t.FactorFrom),
	})
	return fields
}

func recordedBilling(b BillingDetails) map[string]any {
	return map[string]any{
		"legal_name": b.LegalName, "address": b.Address, "city": b.City, "postal_code": b.PostalCode,
		"country": b.Country, "vat_number": b.VATNumber, "billing_email": b.BillingEmail,
	}
}
