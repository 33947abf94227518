package account

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/authz"
)

// impersonationStore is what accounts need from impersonation: an impersonation depends
// on the credential of the admin and ends with it (rules: impersonation#sessions).
// All methods work in the transaction of ctx.
type impersonationStore interface {
	// EndOrphaned ends the impersonations that depend on credentials of a user that
	// were revoked or have expired.
	EndOrphaned(ctx context.Context, userID int64) error
	// EndFamily ends the impersonations that depend on credentials of one login, and
	// revokes those credentials.
	EndFamily(ctx context.Context, userID int64, family uuid.UUID) error
	// EndForTarget ends the impersonations whose target a user is. The target and the
	// impersonators are locked.
	EndForTarget(ctx context.Context, targetID int64) error
	// Expire ends the impersonations by an admin, whose credentials keep refusing requests
	// until they stop. The admin is locked.
	Expire(ctx context.Context, adminID int64) error
	// ImpersonatorsOf lists who impersonates a user.
	ImpersonatorsOf(ctx context.Context, targetID int64) ([]int64, error)
}

// noImpersonations is for a service in which nobody can impersonate.
type noImpersonations struct{}

func (noImpersonations) EndOrphaned(context.Context, int64) error          { return nil }
func (noImpersonations) EndFamily(context.Context, int64, uuid.UUID) error { return nil }
func (noImpersonations) EndForTarget(context.Context, int64) error         { return nil }
func (noImpersonations) Expire(context.Context, int64) error               { return nil }
func (noImpersonations) ImpersonatorsOf(context.Context, int64) ([]int64, error) {
	return nil, nil
}

// ownerOf returns who the credential of the caller belongs to: the admin while
// impersonating.
func ownerOf(caller *authz.Caller) int64 {
	if caller.Impersonator != nil {
		return caller.Impersonator.UserID
	}
	return caller.UserID
}

// RenewSession gives a session a new secret, which it needs whenever its privileges
// change, in the transaction of ctx, which has locked its user. keep is how long the browser is to keep it; 0 is
// until the browser is closed. For a credential that is not a session, secret is "".
func (s *Service) RenewSession(ctx context.Context, id uuid.UUID) (secret string, keep time.Duration, err error) {
	secret = newAccessToken()
	renewed, err := s.store.renewSession(ctx, id, secret)
	if errors.Is(err, errNoSession) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	if renewed.idle > s.deps.Lifetimes.Session { // it is remembered
		keep = renewed.end.Sub(s.deps.Clock.Now())
	}
	return secret, keep, nil
}

// SessionUser returns a user in the form in which the answer of a login shows them.
func (s *Service) SessionUser(ctx context.Context, id int64) (SessionUser, error) {
	user, err := s.store.user(ctx, id)
	if err != nil {
		return SessionUser{}, err
	}
	return s.sessionUser(ctx, user)
}
