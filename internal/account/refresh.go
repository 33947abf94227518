package account

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
)

// Refresh trades a refresh token for a new pair of the same family.
//
// Invariant: a refresh token works once. Its user is locked, so that of several uses
// at the same time one wins, and that a logout or a reset at the same time ends the new
// pair too. Every other finds it revoked, which means that it was
// stolen or sent twice, and revokes the whole family, the winner's new pair
// included. Other logins and one-time codes of the user stay: otherwise the holder of an
// old token could lock the owner out of delegated login. That is committed although the request is refused (rules:
// account#refresh-tokens).
func (s *Service) Refresh(ctx context.Context, token string) (User, Tokens, error) {
	var (
		user    User
		tokens  Tokens
		refused error
	)
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		user, tokens, refused = User{}, Tokens{}, nil // again at each try of Tx
		owner, t, err := s.store.lockRefreshToken(ctx, token)
		if err != nil {
			return err
		}
		user = owner
		now := s.deps.Clock.Now()
		switch {
		case t.revoked:
			refused = errRefreshToken
			if _, err := s.store.revokeLogin(ctx, t.of.userID, t.of.family, now); err != nil {
				return err
			}
			return s.deps.Impersonations.EndOrphaned(ctx, t.of.userID)
		case !t.expires.After(now):
			refused = errRefreshExpired
			return nil
		}
		if err := s.store.revoke(ctx, t.id, now); err != nil {
			return err
		}
		// The new tokens do not impersonate anybody (rules: impersonation#sessions).
		if t.impersonating {
			if err := s.deps.Impersonations.EndFamily(ctx, t.of.userID, t.of.family); err != nil {
				return err
			}
		}
		tokens = Tokens{Access: newAccessToken(), Refresh: newRefreshToken()}
		return s.store.insertTokens(ctx, t.of, tokens, now, s.deps.Lifetimes)
	})
	if err == nil {
		err = refused
	}
	return user, tokens, err
}

// Logout ends the login that the caller used, and every refresh token and one-time code
// of the user. While impersonating that user is the admin; the target stays logged in.
func (s *Service) Logout(ctx context.Context, caller *authz.Caller) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		owner := ownerOf(caller)
		if err := s.LockExisting(ctx, owner); err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		// A refresh may have given the login a newer access token than the caller's.
		if _, err := s.store.revokeLogin(ctx, owner, caller.Family, now); err != nil {
			return err
		}
		if err := s.store.revokeRefreshTokens(ctx, owner, now); err != nil {
			return err
		}
		return s.endCodes(ctx, owner)
	})
}
