package team

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/hook"
	"github.com/tenantry/tenantry/internal/mail/letters"
	"github.com/tenantry/tenantry/internal/sqldb"
	"github.com/tenantry/tenantry/internal/tenant"
)

// DefaultExpiryDays is how many days an invitation works unless configured otherwise.
const DefaultExpiryDays = 7

// Tenants is what teams need from the tenant domain.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	GetLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	LockLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	View(ctx context.Context, t tenant.Tenant) (tenant.TenantView, error)
}

// Accounts is what teams need from the account domain.
type Accounts interface {
	Exists(ctx context.Context, email string) (bool, error)
	LocaleOfEmail(ctx context.Context, email string) (*string, error)
	RegisterWith(ctx context.Context, r account.Registration, g account.Grant, also func(context.Context, account.User) error) (account.User, account.Tokens, error)
	HashPassword(ctx context.Context, password string) (account.HashedPassword, error)
	SetPassword(ctx context.Context, userID int64, password account.HashedPassword) error
	Rename(ctx context.Context, userID int64, name string) error
	// EndTenantAccess ends what depended on the place of a user in a tenant, which is locked.
	EndTenantAccess(ctx context.Context, userID int64) error
	// LockExisting locks a user; it refuses one who has deleted their account.
	LockExisting(ctx context.Context, userID int64) error
	VerifyPassword(ctx context.Context, caller *authz.Caller, password string) (account.Proof, error)
	RunInPerson(ctx context.Context, caller *authz.Caller, do func(context.Context, account.Self) error) error
	RunInPersonWithPassword(ctx context.Context, caller *authz.Caller, proof account.Proof, do func(context.Context, account.Self) error) error
	// Verify records that a user has read mail at their address.
	Verify(ctx context.Context, userID int64) error
}

// seatLimits knows how large a team may be.
type seatLimits interface {
	// SeatLimit returns the quota of team-members that the tenant's active plan
	// grants; nil is unlimited (rules: team#seats). It is called in the
	// transaction that holds the tenant's lock.
	SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error)
}

// seatBilling is told when a team has grown or shrunk, in the same transaction, so
// that a plan that is sold by the seat is billed for the new size.
type seatBilling interface {
	SeatsChanged(ctx context.Context, tenantID uuid.UUID) error
	// SeatFreed is SeatsChanged for a member who has left.
	SeatFreed(ctx context.Context, tenantID uuid.UUID) error
}

// Letters sends the mail of an invitation, in the transaction of ctx.
type Letters interface {
	Invitation(ctx context.Context, locale, to string, i letters.Invitation) error
}

// Audit is the trail of changes.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps is what the service needs.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Tenants  Tenants
	Accounts Accounts
	Seats    seatLimits
	Billing  seatBilling
	Letters  Letters
	Audit    Audit
	Avatars  Avatars
	Events   hook.Outbox // nil tells nobody
	// ExpiryDays is how many days an invitation works by default.
	ExpiryDays int
}

// Service has the members, roles and invitations of tenants.
type Service struct {
	deps  Deps
	store store
}

// NewService returns the service.
func NewService(d Deps) *Service { return &Service{deps: d, store: store{d.DB}} }

// change runs f in a transaction that holds the tenant's lock.
func (s *Service) change(ctx context.Context, tenantID uuid.UUID, f func(ctx context.Context, t tenant.Tenant) error) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		t, err := s.deps.Tenants.LockLive(ctx, tenantID)
		if err != nil {
			return err
		}
		return f(ctx, t)
	})
}

// record adds an entry about a tenant to the trail of changes.
func (s *Service) record(ctx context.Context, tenantID uuid.UUID, action, resource, id string, before, after any) error {
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, TenantID: &tenantID, Resource: resource, ResourceID: id, Before: before, After: after,
	})
}

// PublishMemberEvent hands an event about a member to the outbox, in the transaction of ctx: the
// member as they are at that moment. Of one who leaves it is called before they do.
func (s *Service) PublishMemberEvent(ctx context.Context, t hook.Type, tenantID uuid.UUID, userID int64) error {
	return hook.Publish(ctx, s.deps.Events, t, tenantID, func(ctx context.Context) (any, error) {
		m, err := s.store.member(ctx, tenantID, userID)
		return teamMember(s.deps.Avatars, m), err
	})
}

// publishInvitationEvent hands an event about an invitation to the outbox.
func (s *Service) publishInvitationEvent(ctx context.Context, t hook.Type, tenantID, id uuid.UUID) error {
	return hook.Publish(ctx, s.deps.Events, t, tenantID, func(ctx context.Context) (any, error) {
		i, err := s.store.invitation(ctx, tenantID, id, s.deps.Clock.Now())
		return teamInvitation(i), err
	})
}

// formatID returns the id of a user or a role as the trail names it.
func formatID(id int64) string { return strconv.FormatInt(id, 10) }
