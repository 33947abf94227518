package account

import (
	"context"

	"github.com/tenantry/tenantry/internal/authz"
)

// Refresh exchanges a refresh token for a new pair of tokens of the same family.
//
// Invariant: a refresh token works once. Refresh locks the user, so that only one concurrent use
// succeeds, and a concurrent logout or reset also ends the new pair. Any other use finds the token
// revoked, which means that the token was stolen or sent twice. Refresh then revokes the whole
// family, including the new pair. The revocation is committed although the request fails (rules:
// account#refresh-tokens). The user's other logins and one-time codes remain valid: otherwise the
// holder of an old token could lock the user out of delegated login.
func (s *Service) Refresh(ctx context.Context, token string) (User, Tokens, error) {
	var (
		user    User
		tokens  Tokens
		refused error
	)
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		user, tokens, refused = User{}, Tokens{}, nil // reset at each retry of Tx
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
		// The new tokens do not impersonate a user (rules: impersonation#sessions).
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

// Logout ends the caller's login, and all refresh tokens and one-time codes of the user. While
// impersonating, that user is the admin; the target stays logged in.
func (s *Service) Logout(ctx context.Context, caller *authz.Caller) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		owner := ownerOf(caller)
		if err := s.LockExisting(ctx, owner); err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		// A refresh may have issued a newer access token than the caller's.
		if _, err := s.store.revokeLogin(ctx, owner, caller.Family, now); err != nil {
			return err
		}
		if err := s.store.revokeRefreshTokens(ctx, owner, now); err != nil {
			return err
		}
		return s.endCodes(ctx, owner)
	})
}
