package account

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// impersonationStore is the part of the impersonation service that accounts use. An impersonation
// depends on a credential of the admin and ends with it (rules: impersonation#sessions). All
// methods run in the transaction of ctx.
type impersonationStore interface {
	// EndOrphaned ends the impersonations that depend on revoked or expired credentials of a user.
	EndOrphaned(ctx context.Context, userID int64) error
	// EndFamily ends the impersonations that depend on credentials of one login, and revokes those
	// credentials.
	EndFamily(ctx context.Context, userID int64, family uuid.UUID) error
	// EndForTarget ends the impersonations of a user. The caller has locked the user and the
	// impersonators.
	EndForTarget(ctx context.Context, targetID int64) error
	// Expire ends the impersonations by an admin. The impersonating credentials reject requests
	// until the admin stops impersonating. The caller has locked the admin.
	Expire(ctx context.Context, adminID int64) error
	// ImpersonatorsOf returns the users who impersonate a user.
	ImpersonatorsOf(ctx context.Context, targetID int64) ([]int64, error)
}

// noImpersonations implements impersonationStore for a service without impersonation.
type noImpersonations struct{}

func (noImpersonations) EndOrphaned(context.Context, int64) error          { return nil }
func (noImpersonations) EndFamily(context.Context, int64, uuid.UUID) error { return nil }
func (noImpersonations) EndForTarget(context.Context, int64) error         { return nil }
func (noImpersonations) Expire(context.Context, int64) error               { return nil }
func (noImpersonations) ImpersonatorsOf(context.Context, int64) ([]int64, error) {
	return nil, nil
}

// ownerOf returns the user who owns the credential of the caller. While impersonating, it is the
// admin.
func ownerOf(caller *authz.Caller) int64 {
	if caller.Impersonator != nil {
		return caller.Impersonator.UserID
	}
	return caller.UserID
}

// RenewSession replaces the secret of a session. Call it whenever the session's privileges change.
// It runs in the transaction of ctx, which has locked the user. keep is the lifetime of the cookie;
// 0 means until the browser closes. For a credential that is not a session, secret is "".
func (s *Service) RenewSession(ctx context.Context, id uuid.UUID) (secret string, keep time.Duration, err error) {
	secret = newAccessToken()
	renewed, err := s.store.renewSession(ctx, id, secret)
	if errors.Is(err, errNoSession) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	if renewed.idle > s.deps.Lifetimes.Session { // a remembered session
		keep = renewed.end.Sub(s.deps.Clock.Now())
	}
	return secret, keep, nil
}

// SessionUser returns a user as shown in the response to a login.
func (s *Service) SessionUser(ctx context.Context, id int64) (SessionUser, error) {
	user, err := s.store.user(ctx, id)
	if err != nil {
		return SessionUser{}, err
	}
	return s.sessionUser(ctx, user)
}
