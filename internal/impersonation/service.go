// Package impersonation lets platform admins act as users of a tenant (rules:
// impersonation#sessions). The target is stored with the admin's credential, a token or a session,
// so the impersonation ends with the credential. Package account reads the target when it looks up
// the caller of a request.
package impersonation

import (
	"cmp"
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

// Accounts is the part of the account service that impersonation uses.
type Accounts interface {
	// RenewSession replaces the secret of a session, in the transaction of ctx, which has locked
	// its user. It returns "" for a credential that is not a session.
	RenewSession(ctx context.Context, id uuid.UUID) (secret string, keep time.Duration, err error)
	// SessionUser returns a user as shown in the response to a login.
	SessionUser(ctx context.Context, id int64) (account.SessionUser, error)
}

// Audit records changes in the audit log.
type Audit interface {
	Record(ctx context.Context, e audit.Entry) error
}

// Deps holds the dependencies of the Service.
type Deps struct {
	DB       *sqldb.DB
	Clock    clock.Clock
	Accounts Accounts
	Audit    Audit
	// Lifetime is how long an impersonation lasts; 0 means an hour.
	Lifetime time.Duration
	// RequiresReason means that an impersonation needs a reason.
	RequiresReason bool
}

const (
	// defaultLifetime is how long an impersonation lasts by default.
	defaultLifetime = time.Hour
	// stopPeriod is how long an access token lives after its impersonation has ended, so that the
	// admin can stop it.
	stopPeriod = 10 * time.Minute

	kindAccess = "access" // of a credential that is an access token
)

// Service starts, ends and logs impersonations.
type Service struct {
	deps  Deps
	store store
	bus   Bus
}

// NewService returns a new Service, with the listeners that write its log.
func NewService(d Deps) *Service {
	s := &Service{deps: d, store: store{d.DB}}
	s.bus.Started.Listen(func(ctx context.Context, e StartEvent) error { return s.log(ctx, actionStarted, e.Facts) })
	s.bus.Ended.Listen(func(ctx context.Context, e EndEvent) error { return s.log(ctx, actionEnded, e.Facts) })
	return s
}

// Bus returns the event bus. Add listeners before the service is used.
func (s *Service) Bus() *Bus { return &s.bus }

// Target is the user to impersonate, and the tenant.
type Target struct {
	UserID   int64
	TenantID uuid.UUID
}

// Limits are the reason of an impersonation, and whether it only reads.
type Limits struct {
	Reason   *string
	ReadOnly bool
}

// RenewedSession is the new secret of the caller's session. The secret changes whenever the
// session's privileges change. Secret is "" for a token, which does not change.
type RenewedSession struct {
	Secret string
	Keep   time.Duration // lifetime of the cookie; 0 means until the browser closes
}

// Start makes the caller of ctx act as the target, with the same credential. It returns an error if
// a guard rail forbids it (rules: impersonation#guard-rails). An unknown user or tenant is a
// validation error.
//
// Invariant: Start locks all rows that it checks, in the order tenant, users, credential (rules:
// account#lock-order). Of two concurrent starts with one credential, the second sees the first.
// Between the checks and the start, the target can neither leave the tenant nor become a platform
// admin, and the caller cannot lose the permission.
func (s *Service) Start(ctx context.Context, target Target, limits Limits) (RenewedSession, error) {
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
		case admin.hasFactor && !credential.factorPassed:
			return errFactorNeeded
		case targetIsAdmin:
			return errAdmin
		case credential.target != nil:
			return errActive
		case !isMember:
			return errNotMember
		}
		until := s.deps.Clock.Now().Add(cmp.Or(s.deps.Lifetime, defaultLifetime))
		if err := s.store.start(ctx, credential, target, limits, until); err != nil {
			return err
		}
		if renewed.Secret, renewed.Keep, err = s.deps.Accounts.RenewSession(ctx, credential.id); err != nil {
			return err
		}
		return s.bus.Started.publish(ctx, StartEvent{factsOf(ctx, credential.userID, target, limits)})
	})
	return renewed, err
}

// Stop ends the impersonation by the caller of ctx and returns the admin.
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
		if !ended { // another request has already ended it
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

// lock locks the tenant of a target and both users. It returns the caller, and whether the target
// is a platform admin. An unknown tenant or target is a validation error.
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

// checkTarget returns a validation error if the user or tenant does not exist.
func (s *Service) checkTarget(ctx context.Context, target Target) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		_, _, err := s.lock(ctx, authz.FromContext(ctx).UserID, target)
		return err
	})
}

// checkReason rejects an impersonation without a reason if the settings require one.
func (s *Service) checkReason(l Limits) error {
	if s.deps.RequiresReason && l.Reason == nil {
		return errNoReason
	}
	return nil
}

func factsOf(ctx context.Context, impersonator int64, target Target, limits Limits) Facts {
	source := authz.SourceOf(ctx)
	return Facts{
		ImpersonatorID: impersonator, ImpersonatedID: target.UserID, TenantID: target.TenantID, Limits: limits,
		IPAddress: source.IP, UserAgent: source.UserAgent,
	}
}
