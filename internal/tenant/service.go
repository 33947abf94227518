package tenant

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/lastused"
	"github.com/tenantry/tenantry/internal/querycache"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/vat"
)

// Subscriptions is the part of the subscription domain that tenants use.
type Subscriptions interface {
	// HasActive reports whether the tenant has a subscription that grants the features of its plan.
	HasActive(ctx context.Context, tenantID uuid.UUID) (bool, error)
	// Overview returns the subscription of each tenant that has not ended, or the default plan.
	// Tenants with neither are left out.
	Overview(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Overview, error)
	// RecordEntitlements stores the entitlements of a new tenant, so that changes are published.
	RecordEntitlements(ctx context.Context, tenantID uuid.UUID) error
	// HasBought reports whether the tenant has ever had a subscription that is not free.
	HasBought(ctx context.Context, tenantID uuid.UUID) (bool, error)
}

// Overview is the summary of a subscription, or of the default plan for a tenant without one.
type Overview struct {
	Status   string            // empty for the default plan
	PlanName map[string]string // by locale
}

// IsSubscribed reports whether the tenant has a subscription that has not ended.
func (o Overview) IsSubscribed() bool { return o.Status != "" }

// IsActive reports whether the subscription grants features.
func (o Overview) IsActive() bool { return o.Status == "active" || o.Status == "trialing" }

// StatusAndPlan returns the status of the subscription and the name of the plan in a locale. Each
// is nil if it is missing.
func (o Overview) StatusAndPlan(locale string) (status, planName *string) {
	if o.IsSubscribed() {
		status = &o.Status
	}
	if o.PlanName != nil {
		name := i18n.Pick(o.PlanName, locale)
		planName = &name
	}
	return status, planName
}

// Billing is notified about changes of tenants.
type Billing interface {
	// BillingChanged reports that the tenant's name or billing details have changed. It is called
	// in the transaction of the change.
	BillingChanged(ctx context.Context, tenantID uuid.UUID) error
	// MemberJoined reports a new member. It is called in the transaction of the change.
	MemberJoined(ctx context.Context, tenantID uuid.UUID) error
	// Discard deletes the billing records of a tenant that never had a subscription, in the
	// transaction of ctx.
	Discard(ctx context.Context, tenantID uuid.UUID) error
}

// Team follows changes of members and publishes events about them.
type Team interface {
	// Joined settles the invitation of a new member and publishes member.joined.
	Joined(ctx context.Context, tenantID uuid.UUID, userID int64) error
	// PublishMemberEvent adds an event with the current state of a member to the outbox.
	PublishMemberEvent(ctx context.Context, t hook.Type, tenantID uuid.UUID, userID int64) error
}

// Deps are the dependencies of a Service.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Subscriptions Subscriptions
	Billing       Billing     // nil disables notifications
	Team          Team        // required if Events is set or the platform assigns owners
	Audit         Audit       // nil records nothing
	Events        hook.Outbox // nil disables events
	Accounts      Accounts    // nil if tenants are never deleted by their owners
	Purger        Purger      // nil if there is no other data to purge
	// TestVATNumbers accepts the payment provider's test numbers.
	TestVATNumbers bool
	// Keep is how long a deleted tenant can be restored.
	Keep time.Duration
}

// Service manages tenants and their billing details.
type Service struct {
	deps        Deps
	store       store
	memberships *querycache.Cache[int64, []account.Membership] // keyed by user
	activity    *lastused.Recorder
}

// NewService returns a Service.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	s.activity = lastused.New(s.store.markActive, nil)
	s.memberships = querycache.New(querycache.Config[int64, []account.Membership]{
		DB: d.DB, Tables: membershipTables(), Load: s.loadMemberships,
	})
	return s
}

// MarkActive records an authenticated request of a member or of an API key of a tenant.
func (s *Service) MarkActive(tenantID uuid.UUID) { s.activity.AddRecent(tenantID, s.deps.Clock.Now()) }

// Run stores the last activity of tenants until ctx is done.
func (s *Service) Run(ctx context.Context) error { return s.activity.Run(ctx) }

// slugTries is the maximum number of attempts to find a free slug. From the second attempt, the
// slug has a random suffix, so a third attempt is almost never needed.
const slugTries = 5

// Create creates a tenant owned by a user, in the transaction of ctx if there is one. It returns
// ErrInAnotherTenant if the user already belongs to a tenant.
func (s *Service) Create(ctx context.Context, ownerID int64, name string) (uuid.UUID, error) {
	return s.CreateWith(ctx, ownerID, NewTenant{Name: name, Currency: DefaultCurrency})
}

// NewTenant describes a tenant to create.
type NewTenant struct {
	Name     string
	Currency string // the preferred currency (ISO 4217, upper case)
	Billing  BillingDetails
}

// CreateWith is like Create, with a preferred currency and billing details.
func (s *Service) CreateWith(ctx context.Context, ownerID int64, n NewTenant) (uuid.UUID, error) {
	id := sqldb.NewID()
	t := Tenant{ID: id, Name: n.Name, Metadata: noMetadata(), PreferredCurrency: n.Currency, Billing: n.Billing, VAT: VATCheck{Status: vat.StatusNone}}
	s.resetVAT(&t, Tenant{})
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t.CreatedAt = s.deps.Clock.Now()
		if err := s.insert(ctx, &t); err != nil {
			return err
		}
		if s.deps.Accounts != nil {
			if err := s.deps.Accounts.LockExisting(ctx, ownerID); err != nil {
				return err
			}
		}
		joined, err := s.store.insertMember(ctx, id, ownerID, BuiltInOwner, t.CreatedAt)
		if err == nil && !joined {
			err = ErrInAnotherTenant
		}
		if err != nil {
			return err
		}
		if err := s.deps.Subscriptions.RecordEntitlements(ctx, id); err != nil {
			return err
		}
		if err := s.publish(ctx, hook.TenantCreated, id); err != nil {
			return err
		}
		after := map[string]any{"name": t.Name, "slug": t.Slug, "owner_id": ownerID}
		if n.Billing != (BillingDetails{}) {
			maps.Copy(after, recordedBilling(t.Billing))
		}
		return s.record(ctx, actionCreated, id, nil, after)
	})
	return id, err
}

// insert inserts a tenant and sets its slug, which it derives from the name.
func (s *Service) insert(ctx context.Context, t *Tenant) error {
	t.Slug = slugOf(t.Name)
	for range slugTries {
		free, err := s.store.insert(ctx, *t)
		if err != nil || free {
			return err
		}
		t.Slug = withSuffix(slugOf(t.Name))
	}
	return fmt.Errorf("no free slug for tenant %q", slugOf(t.Name))
}

// Discard deletes a tenant that was just created, including its memberships. Other domains must
// have deleted their data about the tenant before.
func (s *Service) Discard(ctx context.Context, id uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.publish(ctx, hook.TenantDeleted, id); err != nil {
			return err
		}
		if err := s.store.delete(ctx, id); err != nil {
			return err
		}
		return s.record(ctx, actionDiscarded, id, nil, nil)
	})
}

// Get returns a tenant, or ErrNotFound.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (Tenant, error) { return s.store.get(ctx, id) }

// Lock returns a tenant, or ErrNotFound, and locks it until the transaction of ctx ends. Lock the
// tenant before you change data that must stay consistent within it.
func (s *Service) Lock(ctx context.Context, id uuid.UUID) (Tenant, error) {
	if !sqldb.InTx(ctx) {
		return Tenant{}, errNotLocked
	}
	return s.store.lock(ctx, id)
}

// Members lists a tenant's members in the order in which they joined.
func (s *Service) Members(ctx context.Context, id uuid.UUID) ([]Member, error) {
	return s.store.members(ctx, id)
}

// BillingEmail returns the address for mail about a tenant's bills: its billing email, or else the
// owner's email. It returns nil if the tenant has no owner.
func (s *Service) BillingEmail(ctx context.Context, t Tenant) (*string, error) {
	if t.Billing.BillingEmail != nil {
		return t.Billing.BillingEmail, nil
	}
	owner, err := s.Owner(ctx, t.ID)
	if owner == nil {
		return nil, err
	}
	return &owner.Email, nil
}

// Owner returns the owner of a tenant, or nil for a tenant without members.
func (s *Service) Owner(ctx context.Context, id uuid.UUID) (*Member, error) {
	members, err := s.store.members(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Role == BuiltInOwner {
			return &m, nil
		}
	}
	return nil, nil
}

// CountMembers returns the number of members of a tenant.
func (s *Service) CountMembers(ctx context.Context, id uuid.UUID) (int64, error) {
	return s.store.countMembers(ctx, id)
}
