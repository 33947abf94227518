package domain

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/team"
	"github.com/tenantry/tenantry/internal/tenant"
)

// Tenants is the part of the tenant domain that domains use.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	// LockLive locks a tenant until the transaction of ctx ends, and checks the caller's
	// permissions again.
	LockLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Owner(ctx context.Context, id uuid.UUID) (*tenant.Member, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
}

// Team is the part of the team domain that domains use.
type Team interface {
	// GrantableRole returns the role with a name, if the actor can assign it.
	GrantableRole(ctx context.Context, by team.Actor, tenantID uuid.UUID, name string) (team.Role, error)
	// HasSeatFor reports whether the user with an email can become a member.
	HasSeatFor(ctx context.Context, tenantID uuid.UUID, email string) (bool, error)
	// Enrol adds a user who joins without an invitation.
	Enrol(ctx context.Context, tenantID uuid.UUID, userID, roleID int64) error
}

// Accounts is the part of the account domain that domains use.
type Accounts interface {
	// LockExisting locks a user. It returns an error if the account was deleted.
	LockExisting(ctx context.Context, userID int64) error
}

// Letters sends mail in the transaction of ctx.
type Letters interface {
	DomainLost(ctx context.Context, locale, to string, l letters.DomainLost) error
}

// Audit records changes in the audit trail.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Resolver looks up TXT records. *net.Resolver implements it.
type Resolver interface {
	// LookupTXT returns the TXT records of a name. For a name without records it returns a
	// *net.DNSError with IsNotFound.
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Tenants  Tenants
	Team     Team
	Accounts Accounts
	Letters  Letters
	Audit    Audit
	Resolver Resolver
	Log      *slog.Logger
}

// Service manages the domains of tenants.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a new Service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// List returns the domains of a tenant, oldest first.
func (s *Service) List(ctx context.Context, tenantID uuid.UUID) ([]Domain, error) {
	return s.store.list(ctx, tenantID)
}

// Get returns a domain of a tenant, or a not-found error.
func (s *Service) Get(ctx context.Context, tenantID, id uuid.UUID) (Domain, error) {
	return s.store.get(ctx, tenantID, id)
}

// Create adds a domain, which is pending until it is verified. It returns DOMAIN_TAKEN if another
// tenant has verified it.
//
// Invariant: a tenant has at most maxDomains domains. They are counted under the tenant's lock.
func (s *Service) Create(ctx context.Context, tenantID uuid.UUID, text string) (d Domain, err error) {
	name, ok := normalize(text)
	if !ok {
		return Domain{}, errInvalid
	}
	d = Domain{ID: sqldb.NewID(), TenantID: tenantID, Name: name, token: strings.ToLower(rand.Text())}
	err = s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.LockLive(ctx, tenantID); err != nil {
			return err
		}
		if err := s.checkNew(ctx, tenantID, name); err != nil {
			return err
		}
		if err := s.requireFree(ctx, d); err != nil {
			return err
		}
		if err := s.store.insert(ctx, d, team.MemberRole, s.deps.Clock.Now()); err != nil {
			return err
		}
		if d, err = s.store.get(ctx, tenantID, d.ID); err != nil {
			return err
		}
		return s.record(ctx, "domain.created", d, nil, map[string]any{"domain": name})
	})
	return d, err
}

// checkNew returns the validation errors of a new domain.
func (s *Service) checkNew(ctx context.Context, tenantID uuid.UUID, name string) error {
	domains, err := s.store.list(ctx, tenantID)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(domains, func(d Domain) bool { return d.Name == name }):
		return errPresent
	case len(domains) >= maxDomains:
		return errTooMany
	}
	return nil
}

func (s *Service) requireFree(ctx context.Context, d Domain) error {
	taken, err := s.store.isTaken(ctx, d.Name, d.TenantID)
	if err == nil && taken {
		err = errTaken
	}
	return err
}

// Change holds the changes to a domain. Nil fields are unchanged.
type Change struct {
	AutoJoin *bool
	Role     *string
}

// Update changes who joins through a domain. A caller cannot choose a role with a permission that
// they lack, and cannot turn on joining with such a role (403).
func (s *Service) Update(ctx context.Context, tenantID, id uuid.UUID, c Change) (d Domain, err error) {
	err = s.change(ctx, tenantID, id, func(ctx context.Context, old Domain) error {
		d = old
		if c.Role != nil {
			d.Role = *c.Role
		}
		if c.AutoJoin != nil {
			d.AutoJoin = *c.AutoJoin
		}
		if c.Role != nil || d.AutoJoin && !old.AutoJoin {
			role, err := s.deps.Team.GrantableRole(ctx, team.MemberActor(authz.FromContext(ctx)), tenantID, d.Role)
			if err != nil {
				return err
			}
			d.RoleID = role.ID
		}
		if d == old {
			return nil
		}
		if err := s.store.update(ctx, d, s.deps.Clock.Now()); err != nil {
			return err
		}
		return s.record(ctx, "domain.updated", d, auditFields(old), auditFields(d))
	})
	return d, err
}

// checkRole validates the role of Update.
func (s *Service) checkRole(ctx context.Context, tenantID uuid.UUID, role *string) error {
	if role == nil {
		return nil
	}
	_, err := s.deps.Team.GrantableRole(ctx, team.MemberActor(authz.FromContext(ctx)), tenantID, *role)
	return err
}

// Delete deletes a domain. Members who joined through it stay.
func (s *Service) Delete(ctx context.Context, tenantID, id uuid.UUID) error {
	return s.change(ctx, tenantID, id, func(ctx context.Context, d Domain) error {
		if err := s.store.delete(ctx, tenantID, id); err != nil {
			return err
		}
		return s.record(ctx, "domain.deleted", d, map[string]any{"domain": d.Name}, nil)
	})
}

// change calls f with a domain, in a transaction that has locked its tenant.
func (s *Service) change(ctx context.Context, tenantID, id uuid.UUID, f func(ctx context.Context, d Domain) error) error {
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.deps.Tenants.LockLive(ctx, tenantID); err != nil {
			return err
		}
		d, err := s.store.get(ctx, tenantID, id)
		if err != nil {
			return err
		}
		return f(ctx, d)
	})
	if sqldb.IsUnique(err) { // another tenant has verified it concurrently
		err = errTaken
	}
	return err
}

func auditFields(d Domain) map[string]any {
	return map[string]any{"domain": d.Name, "auto_join": autoJoinText(d.AutoJoin), "role": d.Role}
}

func (s *Service) record(ctx context.Context, action string, d Domain, before, after any) error {
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, TenantID: &d.TenantID, Resource: "domain", ResourceID: d.ID.String(), Before: before, After: after,
	})
}

// isTenantGone reports whether an operation failed because the tenant was deleted.
func isTenantGone(err error) bool { return errors.Is(err, tenant.ErrNotFound) }

// withRecord returns errNotVerified with the missing record.
func withRecord(d Domain) *fault.Error { return errNotVerified.With("verification_record", record(d)) }
