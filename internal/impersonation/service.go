// Package impersonation lets platform admins act as users of a tenant (rules:
// impersonation#sessions). Who is impersonated is stored with the credential of the
// admin, a token or a session, and so ends with it; account reads it when it looks up
// the caller of a request.
package impersonation

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/audit"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/clock"
	"github.com/tenantry/tenantry/internal/fault"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Accounts is what impersonation needs from accounts.
type Accounts interface {
	// RenewSession gives a session a new secret, in the transaction of ctx, which has
	// locked its user; "" for a credential that is not a session.
	RenewSession(ctx context.Context, id uuid.UUID) (secret string, keep time.Duration, err error)
	// SessionUser returns a user in the form that the answer of a login has.
	SessionUser(ctx context.Context, id int64) (account.SessionUser, error)
}

// Audit is the trail of changes.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps is what the service needs.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Accounts Accounts
	Audit    Audit
}

// Service starts, ends and logs impersonations.
type Service struct {
	deps  Deps
	store store
	bus   Bus
}

// NewService returns the service, with the listener that writes its log.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	s.bus.Started.Listen(func(ctx context.Context, e StartEvent) error { return s.log(ctx, actionStarted, e.Facts) })
	s.bus.Ended.Listen(func(ctx context.Context, e EndEvent) error { return s.log(ctx, actionEnded, e.Facts) })
	return s
}

// Bus returns the bus, for adding listeners before the service is used.
func (s *Service) Bus() *Bus { return &s.bus }

// Target is the user to act as, and in which tenant.
type Target struct {
	UserID   int64
	TenantID uuid.UUID
}

// RenewedSession is the new secret of the caller's session, which changes whenever its
// privileges do. Secret is "" for a token, which stays the same.
type RenewedSession struct {
	Secret string
	Keep   time.Duration // how long the browser keeps it; 0 is until it is closed
}

// Start makes the caller of ctx act as the target, with the credential that they used,
// unless a guard rail refuses it (rules: impersonation#guard-rails). A user or tenant
// that does not exist is a validation error.
//
// Invariant: the rows that the checks read are locked in the order tenant, users,
// credential (rules: account#lock-order). So of two starts with one credential the second
// sees the first, and between the checks and the start the target is not removed from the
// tenant and does not become a platform admin, and the caller does not lose the permission.
func (s *Service) Start(ctx context.Context, target Target) (RenewedSession, error) {
	caller := authz.FromContext(ctx)
	var renewed RenewedSession
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		admin, targetIsAdmin, refused := s.lock(ctx, caller.UserID, target)
		if refusal := new(fault.Error); refused != nil && !errors.As(refused, &refusal) {
			return refused
		}
		credential, err := s.store.lockCredential(ctx, caller.TokenID)
		switch {
		case errors.Is(err, errNoCredential) || err == nil && credential.isDead(s.deps.Clock.Now()):
			return errUnauthenticated
		case err != nil:
			return err
		case refused != nil:
			return refused
		}
		isMember, err := s.store.isMember(ctx, target)
		if err != nil {
			return err
		}
		mayStart, err := admin.canStart()
		if err != nil {
			return err
		}
		switch {
		case credential.userID == target.UserID:
			return errSelf
		case !admin.isPlatformAdmin:
			return errNotAdmin
		case !mayStart:
			return errForbidden
		case targetIsAdmin:
			return errAdmin
		case credential.target != nil:
			return errActive
		case !isMember:
			return errNotMember
		}
		if err := s.store.setTarget(ctx, credential.id, &target); err != nil {
			return err
		}
		if renewed.Secret, renewed.Keep, err = s.deps.Accounts.RenewSession(ctx, credential.id); err != nil {
			return err
		}
		return s.bus.Started.publish(ctx, StartEvent{factsOf(ctx, credential.userID, target)})
	})
	return renewed, err
}

// Stop makes the caller of ctx act for themself again and returns them.
func (s *Service) Stop(ctx context.Context) (account.SessionUser, RenewedSession, error) {
	caller := authz.FromContext(ctx)
	var renewed RenewedSession
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.store.lockUser(ctx, caller.Impersonator.UserID); err != nil {
			return err
		}
		ended, err := s.end(ctx, caller.TokenID, false)
		if err != nil {
			return err
		}
		if !ended { // another request has ended it already
			return errNotImpersonating
		}
		renewed.Secret, renewed.Keep, err = s.deps.Accounts.RenewSession(ctx, caller.TokenID)
		return err
	})
	if err != nil {
		return account.SessionUser{}, RenewedSession{}, err
	}
	admin, err := s.deps.Accounts.SessionUser(ctx, caller.Impersonator.UserID)
	return admin, renewed, err
}

// lock locks the tenant of a target and the two users. It returns the caller, and whether
// the target is a platform admin. A tenant or target that does not exist is a validation error.
func (s *Service) lock(ctx context.Context, callerID int64, target Target) (caller user, targetIsAdmin bool, err error) {
	noTenant := s.store.lockTenant(ctx, target.TenantID)
	if noTenant != nil && !errors.Is(noTenant, errNoTenant) {
		return user{}, false, noTenant
	}
	var noUser error
	for _, id := range []int64{min(callerID, target.UserID), max(callerID, target.UserID)} {
		locked, err := s.store.lockUser(ctx, id)
		if err != nil && !errors.Is(err, errNoUser) {
			return user{}, false, err
		}
		if id == callerID {
			caller = locked
		}
		if id == target.UserID {
			targetIsAdmin, noUser = locked.isPlatformAdmin, err
		}
	}
	var broken fault.Fields
	if noUser != nil {
		broken.Add("user_id", "validation.exists")
	}
	if noTenant != nil {
		broken.Add("tenant_id", "validation.exists")
	}
	return caller, targetIsAdmin, broken.Err()
}

// checkTarget refuses a user or tenant that does not exist.
func (s *Service) checkTarget(ctx context.Context, target Target) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		_, _, err := s.lock(ctx, authz.FromContext(ctx).UserID, target)
		return err
	})
}

func factsOf(ctx context.Context, impersonator int64, target Target) Facts {
	source := authz.SourceOf(ctx)
	return Facts{
		ImpersonatorID: impersonator, ImpersonatedID: target.UserID, TenantID: target.TenantID,
		IPAddress: source.IP, UserAgent: source.UserAgent,
	}
}
