package account

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Impersonations is what accounts need of impersonation: it hangs on
// credentials, and what ends those ends it (spec: Impersonation session). All
// work in the transaction of ctx.
type Impersonations interface {
	// EndDead ends what hangs on credentials of a user that were revoked or have
	// expired.
	EndDead(ctx context.Context, userID int64) error
	// EndFamily ends what hangs on credentials of one login, and revokes these.
	EndFamily(ctx context.Context, userID int64, family uuid.UUID) error
	// EndOf ends the impersonations of a target.
	EndOf(ctx context.Context, targetID int64) error
}

// noImpersonations are those of a service in which nobody can impersonate.
type noImpersonations struct{}

func (noImpersonations) EndDead(context.Context, int64) error              { return nil }
func (noImpersonations) EndFamily(context.Context, int64, uuid.UUID) error { return nil }
func (noImpersonations) EndOf(context.Context, int64) error                { return nil }

// revokeAll ends every credential of a user, and what hangs on them, in the
// transaction of ctx.
func (s *Service) revokeAll(ctx context.Context, userID int64, now time.Time) error {
	if err := s.store.revokeAll(ctx, userID, now); err != nil {
		return err
	}
	return s.deps.Impersonations.EndDead(ctx, userID)
}

// ownerOf is whose credential the caller used: the admin's while impersonating.
func ownerOf(caller *authz.Caller) int64 {
	if caller.Impersonator != nil {
		return caller.Impersonator.UserID
	}
	return caller.UserID
}

// RenewSession gives a session a new secret, since its id changes at each
// privilege change, in the transaction of ctx. keep is how long the browser keeps
// it, 0 until it is closed. A credential that is no session gives "".
func (s *Service) RenewSession(ctx context.Context, id uuid.UUID) (secret string, keep time.Duration, err error) {
	secret = newAccessToken()
	row, err := s.store.q(ctx).RenewSession(ctx, accountsql.RenewSessionParams{ID: id, TokenHash: hashToken(secret)})
	if errors.Is(err, sqldb.ErrNoRows) {
		return "", 0, nil
	}
	if err != nil {
		return "", 0, err
	}
	if idle := time.Duration(row.IdleSeconds) * time.Second; idle > s.deps.Lifetimes.Session { // it is remembered
		keep = row.FamilyExpiresAt.Sub(s.deps.Clock.Now())
	}
	return secret, keep, nil
}

// SessionUser is a user as a login shows them.
func (s *Service) SessionUser(ctx context.Context, id int64) (SessionUser, error) {
	user, err := s.store.user(ctx, id)
	if err != nil {
		return SessionUser{}, err
	}
	return NewHTTP(s, nil).sessionUser(ctx, user)
}
