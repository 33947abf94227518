package tenant

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Subscriptions is what tenants need of the subscription domain.
type Subscriptions interface {
	// HasActive tells whether a tenant has a subscription that grants its
	// plan's features.
	HasActive(ctx context.Context, tenantID uuid.UUID) (bool, error)
}

// Overviews is what the administration's list of tenants needs of the
// subscription domain.
type Overviews interface {
	// Overview tells of each tenant's subscription that is not over, in one
	// query; a tenant without one is left out.
	Overview(ctx context.Context, tenantIDs []uuid.UUID) (map[uuid.UUID]Overview, error)
}

// Overview is a subscription in short.
type Overview struct {
	Status   string
	PlanName string // in the locale of the request
}

// Billing is what tenants tell the subscription domain.
type Billing interface {
	// BillingChanged says, in the transaction that changes them, that a tenant's
	// name or billing details are others.
	BillingChanged(ctx context.Context, tenantID uuid.UUID) error
}

// Deps is what the service needs.
type Deps struct {
	DB            *sqldb.DB
	Clock         clock.Clock
	Subscriptions Subscriptions
	Overviews     Overviews
	Billing       Billing // nil tells nobody
	Audit         Audit   // nil records nothing
}

// Service has the use cases of tenants.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// slugTries bounds the search for a free slug; the second try has a random
// suffix, so that a third one is next to never needed.
const slugTries = 5

// ErrInAnotherTenant says that a user belongs to a tenant already (409).
var ErrInAnotherTenant = fault.Coded(fault.Conflict, fault.UserInAnotherTenant)

// Create makes a tenant owned by a user, in the transaction of ctx if there is
// one. A user who is in a tenant already gives ErrInAnotherTenant.
func (s *Service) Create(ctx context.Context, ownerID int64, name string) (uuid.UUID, error) {
	return s.CreateIn(ctx, ownerID, name, DefaultCurrency)
}

// CreateIn is Create for a tenant that prefers a currency (ISO 4217, upper case).
func (s *Service) CreateIn(ctx context.Context, ownerID int64, name, currency string) (uuid.UUID, error) {
	id := sqldb.NewID()
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		slug := slugOf(name)
		for try := 0; ; try++ {
			if try == slugTries {
				return fmt.Errorf("no free slug for tenant %q", slugOf(name))
			}
			free, err := s.store.insert(ctx, newTenant{id: id, name: name, slug: slug, currency: currency}, now)
			if err != nil {
				return err
			}
			if free {
				break
			}
			slug = withSuffix(slugOf(name))
		}
		joined, err := s.store.insertMember(ctx, id, ownerID, BuiltInOwner, now)
		if err == nil && !joined {
			err = ErrInAnotherTenant
		}
		if err != nil {
			return err
		}
		return s.record(ctx, actionCreated, id, nil, map[string]any{"name": name, "slug": slug, "owner_id": ownerID})
	})
	return id, err
}

// Discard removes a tenant that was made a moment ago, with its memberships. What
// other domains keep of it has to be gone.
func (s *Service) Discard(ctx context.Context, id uuid.UUID) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if err := s.store.q(ctx).DeleteTenant(ctx, id); err != nil {
			return err
		}
		return s.record(ctx, actionDiscarded, id, nil, nil)
	})
}

// Get returns a tenant.
func (s *Service) Get(ctx context.Context, id uuid.UUID) (Tenant, error) { return s.store.get(ctx, id) }

// Lock returns a tenant and holds its lock until the transaction of ctx ends:
// whoever changes what must stay consistent within a tenant takes it first.
func (s *Service) Lock(ctx context.Context, id uuid.UUID) (Tenant, error) {
	if !sqldb.InTx(ctx) {
		return Tenant{}, errors.New("tenant: lock outside of a transaction")
	}
	return s.store.lock(ctx, id)
}

// Members lists a tenant's members, the first to join first.
func (s *Service) Members(ctx context.Context, id uuid.UUID) ([]Member, error) {
	return s.store.members(ctx, id)
}

// BillingEmail is where mail about a tenant's bills goes: its billing address, else
// its owner's; nil for a tenant that has lost its owner.
func (s *Service) BillingEmail(ctx context.Context, t Tenant) (*string, error) {
	if t.Billing.BillingEmail != nil {
		return t.Billing.BillingEmail, nil
	}
	members, err := s.store.members(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Role == BuiltInOwner {
			return &m.Email, nil
		}
	}
	return nil, nil
}

// CountMembers tells how many members a tenant has.
func (s *Service) CountMembers(ctx context.Context, id uuid.UUID) (int64, error) {
	return s.store.q(ctx).CountMembers(ctx, id)
}

// MembershipsOf lists the tenants that a user is in, for the account domain.
func (s *Service) MembershipsOf(ctx context.Context, userID int64) ([]account.Membership, error) {
	rows, err := s.store.q(ctx).MembershipsOfUser(ctx, userID)
	if err != nil {
		return nil, err
	}
	memberships := make([]account.Membership, len(rows))
	for i, row := range rows {
		active, err := s.deps.Subscriptions.HasActive(ctx, row.ID)
		if err != nil {
			return nil, err
		}
		billing := BillingDetails{
			LegalName: row.LegalName, Address: row.Address, City: row.City, PostalCode: row.PostalCode, Country: row.Country,
		}
		memberships[i] = account.Membership{
			TenantID: row.ID, Name: row.Name, Slug: row.Slug, Role: row.RoleName,
			HasActiveSubscription: active, HasBillingDetails: billing.Complete(), OnboardingCompletedAt: row.OnboardingCompletedAt,
		}
	}
	return memberships, nil
}
