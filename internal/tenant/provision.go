package tenant

import (
	"context"
	"errors"
	"maps"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/vat"
)

// ProvisionedTenant describes a tenant that the platform creates (rules: tenant#provisioning).
type ProvisionedTenant struct {
	ID         uuid.UUID
	Name       string
	Slug       string // empty to derive it from the name
	Currency   string // the preferred currency (ISO 4217, upper case)
	Billing    BillingDetails
	ExternalID *string
	Metadata   sqldb.JSON        // an object
	Owner      *account.NewOwner // nil for a tenant without members
}

// Draft returns the tenant that Provision would create, without its times.
func (s *Service) Draft(p ProvisionedTenant) Tenant {
	t := Tenant{
		ID: p.ID, Name: p.Name, Slug: p.Slug, ExternalID: p.ExternalID, Metadata: p.Metadata, PreferredCurrency: p.Currency,
		Billing: p.Billing, VAT: VATCheck{Status: vat.StatusNone}, OwnerAssigned: p.Owner != nil,
	}
	s.resetVAT(&t, Tenant{})
	return t
}

// CheckProvision returns the validation errors of Provision, and ErrInAnotherTenant.
func (s *Service) CheckProvision(ctx context.Context, p ProvisionedTenant) error {
	t := Tenant{ID: p.ID, Slug: p.Slug, ExternalID: p.ExternalID}
	var slug error
	if p.Slug != "" {
		slug = s.checkSlug(ctx, t)
	}
	return fault.Join(slug, s.checkExternalID(ctx, t), s.checkNewOwner(ctx, p.Owner))
}

func (s *Service) checkSlug(ctx context.Context, t Tenant) error {
	isTaken, err := s.store.isSlugTaken(ctx, t)
	if err == nil && isTaken {
		err = errSlugTaken
	}
	return err
}

func (s *Service) checkExternalID(ctx context.Context, t Tenant) error {
	isTaken, err := s.store.isExternalIDTaken(ctx, t)
	if err == nil && isTaken {
		err = errExternalID
	}
	return err
}

func (s *Service) checkNewOwner(ctx context.Context, o *account.NewOwner) error {
	if o == nil {
		return nil
	}
	return s.deps.Accounts.CheckOwner(ctx, *o)
}

// Provision creates a tenant whose onboarding is complete, in the transaction of ctx. It returns a
// validation error for a slug or an external ID that is in use, and ErrInAnotherTenant for an owner
// who belongs to a tenant.
func (s *Service) Provision(ctx context.Context, p ProvisionedTenant) error {
	if err := authz.Recheck(ctx); err != nil {
		return err
	}
	t := s.Draft(p)
	t.CreatedAt = s.deps.Clock.Now()
	t.OnboardingCompletedAt = &t.CreatedAt
	err := s.insertProvisioned(ctx, &t)
	if sqldb.IsUnique(err) { // on the external ID; insertProvisioned handles the slug
		err = errExternalID
	}
	if err != nil {
		return err
	}
	after := map[string]any{"name": t.Name, "slug": t.Slug, "external_id": t.ExternalID, "metadata": t.Metadata, "preferred_currency": t.PreferredCurrency}
	maps.Copy(after, recordedBilling(t.Billing))
	if p.Owner != nil {
		ownerID, _, err := s.assignOwner(ctx, t, *p.Owner)
		if err != nil {
			return err
		}
		maps.Copy(after, ownerFields(ownerID, *p.Owner))
	}
	if err := s.deps.Subscriptions.RecordEntitlements(ctx, t.ID); err != nil {
		return err
	}
	if err := s.publish(ctx, hook.TenantCreated, t.ID); err != nil {
		return err
	}
	return s.record(ctx, actionCreated, t.ID, nil, after)
}

func (s *Service) insertProvisioned(ctx context.Context, t *Tenant) error {
	if t.Slug == "" {
		return s.insert(ctx, t)
	}
	free, err := s.store.insert(ctx, *t)
	if err == nil && !free {
		err = errSlugTaken
	}
	return err
}

// ownerFields returns the audited fields of an owner.
func ownerFields(ownerID int64, o account.NewOwner) map[string]any {
	fields := map[string]any{"owner_id": ownerID}
	if o.ExternalID != nil {
		fields["owner_external_id"] = *o.ExternalID
	}
	return fields
}

// assignOwner makes the owner a member of a locked tenant, and creates the account if there is none.
// It returns the user's ID. joined is false if the owner already was a member.
func (s *Service) assignOwner(ctx context.Context, t Tenant, o account.NewOwner) (ownerID int64, joined bool, err error) {
	ownerID, err = s.deps.Accounts.AssignOwner(ctx, o, t.Name, func(ctx context.Context, userID int64) (err error) {
		joined, err = s.store.insertMember(ctx, t.ID, userID, BuiltInOwner, s.deps.Clock.Now())
		if err != nil || joined {
			return err
		}
		isMember, err := s.store.makeOwner(ctx, t.ID, userID)
		if err == nil && !isMember {
			err = ErrInAnotherTenant
		}
		return err
	})
	return ownerID, joined, err
}

// announceOwner publishes the event about an owner whom assignOwner has chosen. The pending invitation
// of a new member counts as accepted.
func (s *Service) announceOwner(ctx context.Context, id uuid.UUID, ownerID int64, joined bool) error {
	if !joined {
		return s.deps.Team.PublishMemberEvent(ctx, hook.MemberRoleChanged, id, ownerID)
	}
	if s.deps.Billing != nil {
		if err := s.deps.Billing.MemberJoined(ctx, id); err != nil {
			return err
		}
	}
	return s.deps.Team.Joined(ctx, id, ownerID)
}

// hasOwner reports whether a tenant has an owner.
func (s *Service) hasOwner(ctx context.Context, id uuid.UUID) (bool, error) {
	_, err := s.store.ownerLocale(ctx, id)
	if errors.Is(err, errNoOwner) {
		return false, nil
	}
	return err == nil, err
}

// adminChange is a change of a tenant by the platform.
type adminChange struct {
	Apply func(*Tenant) error
	Owner *account.NewOwner // for a tenant without an owner
}

// checkAdminUpdate returns the validation errors of adminUpdate.
func (s *Service) checkAdminUpdate(ctx context.Context, id uuid.UUID, c adminChange) error {
	t, err := s.GetLive(ctx, id)
	if err != nil {
		return err
	}
	broken := c.Apply(&t)
	if c.Owner != nil {
		has, err := s.hasOwner(ctx, id)
		switch {
		case err != nil:
			return err
		case has:
			broken = fault.Join(broken, errHasOwner)
		}
	}
	return fault.Join(broken, s.checkExternalID(ctx, t), s.checkNewOwner(ctx, c.Owner))
}

// adminUpdate changes a tenant under its lock. It returns ErrNotFound if the tenant does not exist.
// It returns a validation error if the external ID is in use, or if an owner is given for a tenant
// that already has an owner. It returns ErrInAnotherTenant if the given owner belongs to another
// tenant.
func (s *Service) adminUpdate(ctx context.Context, id uuid.UUID, c adminChange) error {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.LockLive(ctx, id)
		if err != nil {
			return err
		}
		if c.Owner == nil {
			_, err = s.update(ctx, id, actionUpdated, c.Apply)
			return err
		}
		if has, err := s.hasOwner(ctx, id); err != nil || has {
			return fault.Join(err, errHasOwner)
		}
		next := t // the mail contains the new name
		if err := c.Apply(&next); err != nil {
			return err
		}
		ownerID, joined, err := s.assignOwner(ctx, next, *c.Owner)
		if err != nil {
			return err
		}
		if err := s.announceOwner(ctx, id, ownerID, joined); err != nil {
			return err
		}
		_, err = s.update(ctx, id, actionUpdated, func(t *Tenant) error {
			t.OwnerAssigned = true
			return c.Apply(t)
		})
		if err != nil {
			return err
		}
		return s.record(ctx, actionUpdated, id, nil, ownerFields(ownerID, *c.Owner))
	})
	if sqldb.IsUnique(err) { // on the external ID: the platform cannot change the slug
		err = errExternalID
	}
	return err
}
