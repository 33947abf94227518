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

// DefaultExpiryDays is the default number of days that an invitation is valid.
const DefaultExpiryDays = 7

// Tenants is the part of the tenant domain that teams use.
type Tenants interface {
	Get(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	GetLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	LockLive(ctx context.Context, id uuid.UUID) (tenant.Tenant, error)
	// Owner returns the owner of a tenant, or nil for a tenant without members.
	Owner(ctx context.Context, id uuid.UUID) (*tenant.Member, error)
	Locale(ctx context.Context, t tenant.Tenant, otherwise string) (string, error)
	View(ctx context.Context, t tenant.Tenant) (tenant.TenantView, error)
}

// Accounts is the part of the account domain that teams use.
type Accounts interface {
	Exists(ctx context.Context, email string) (bool, error)
	LocaleOfEmail(ctx context.Context, email string) (*string, error)
	RegisterWith(ctx context.Context, r account.Registration, g account.Grant, also func(context.Context, account.User) error) (account.User, account.Tokens, error)
	HashPassword(ctx context.Context, password string) (account.HashedPassword, error)
	SetPassword(ctx context.Context, userID int64, password account.HashedPassword) error
	Rename(ctx context.Context, userID int64, name string) error
	// EndTenantAccess ends the access that depends on a user's membership in a tenant, which must
	// be locked.
	EndTenantAccess(ctx context.Context, userID int64) error
	// LockExisting locks a user. It returns an error if the account was deleted.
	LockExisting(ctx context.Context, userID int64) error
	VerifyPassword(ctx context.Context, caller *authz.Caller, password string) (account.Proof, error)
	RunInPerson(ctx context.Context, caller *authz.Caller, do func(context.Context, account.Self) error) error
	RunInPersonWithPassword(ctx context.Context, caller *authz.Caller, proof account.Proof, do func(context.Context, account.Self) error) error
	// Verify records that the user has read mail at their address.
	Verify(ctx context.Context, userID int64) error
}

// seatLimits returns the maximum size of a team.
type seatLimits interface {
	// SeatLimit returns the quota of team members of the tenant's active plan, or nil if it is
	// unlimited (rules: team#seats). It is called in the transaction that holds the tenant's lock.
	SeatLimit(ctx context.Context, tenantID uuid.UUID) (*int64, error)
}

// seatBilling is notified when a team grows or shrinks, in the same transaction, so that a seat
// plan bills the new size.
type seatBilling interface {
	SeatsChanged(ctx context.Context, tenantID uuid.UUID) error
	// SeatFreed is SeatsChanged for a member who has left.
	SeatFreed(ctx context.Context, tenantID uuid.UUID) error
	// OwnerChanged is called in the transaction that changes the owner. Without a billing email,
	// the tenant's owner gets the mail about bills.
	OwnerChanged(ctx context.Context, tenantID uuid.UUID) error
}

// Letters sends mails, in the transaction of ctx.
type Letters interface {
	Invitation(ctx context.Context, locale, to string, i letters.Invitation) error
	OwnershipTransferred(ctx context.Context, locale, to string, o letters.OwnershipTransferred) error
}

// Audit records changes in the audit trail.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps are the dependencies of a Service.
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
	Factors  Factors
	Events   hook.Outbox // nil disables events
	// ExpiryDays is the default number of days that an invitation is valid.
	ExpiryDays int
}

// Factors manages the second factors of users. *factor.Service implements it.
type Factors interface {
	// Reset removes all factors of a user and ends all logins, in the transaction of ctx. It refuses
	// a platform admin, unless byOperator is set.
	Reset(ctx context.Context, userID int64, byOperator bool) error
}

// Service manages the members, roles and invitations of tenants.
type Service struct {
	deps  Deps
	store store
}

// NewService returns a Service.
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

// record adds an entry about a tenant to the audit trail.
func (s *Service) record(ctx context.Context, tenantID uuid.UUID, action, resource, id string, before, after any) error {
	return s.deps.Audit.Record(ctx, audit.Entry{
		Action: action, TenantID: &tenantID, Resource: resource, ResourceID: id, Before: before, After: after,
	})
}

// PublishMemberEvent adds an event about a member to the outbox, in the transaction of ctx. The
// event contains the member's current state, so call it before a member is removed.
func (s *Service) PublishMemberEvent(ctx context.Context, t hook.Type, tenantID uuid.UUID, userID int64) error {
	return hook.Publish(ctx, s.deps.Events, t, tenantID, func(ctx context.Context) (any, error) {
		m, err := s.store.member(ctx, tenantID, userID)
		return teamMember(s.deps.Avatars, m), err
	})
}

// publishInvitationEvent adds an event about an invitation to the outbox.
func (s *Service) publishInvitationEvent(ctx context.Context, t hook.Type, tenantID, id uuid.UUID) error {
	return hook.Publish(ctx, s.deps.Events, t, tenantID, func(ctx context.Context) (any, error) {
		i, err := s.store.invitation(ctx, tenantID, id, s.deps.Clock.Now())
		return teamInvitation(i), err
	})
}

// formatID returns the ID of a user or role for the audit trail.
func formatID(id int64) string { return strconv.FormatInt(id, 10) }
