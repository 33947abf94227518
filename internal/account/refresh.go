package account

import (
	"context"
	"errors"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// Refresh trades a refresh token for a new pair of the same family.
//
// Invariant: a refresh token works once. The row is locked while it is judged,
// so that of several uses at once one wins; every other finds it revoked, which
// means that it was stolen or sent twice, and ends the whole family, the
// winner's new pair included. That is committed although the request fails
// (spec: Authentication and account endpoints, rule 4).
func (s *Service) Refresh(ctx context.Context, token string) (User, Tokens, error) {
	var (
		user    User
		tokens  Tokens
		refused error
	)
	err := s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		user, tokens, refused = User{}, Tokens{}, nil // anew each time: Tx may repeat
		row, err := s.store.q(ctx).LockRefreshToken(ctx, hashToken(token))
		if errors.Is(err, sqldb.ErrNoRows) {
			refused = errRefreshToken
			return nil
		}
		if err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		switch {
		case row.RevokedAt != nil:
			refused = errRefreshToken
			if err := s.store.q(ctx).RevokeFamily(ctx, accountsql.RevokeFamilyParams{Family: row.Family, RevokedAt: &now}); err != nil {
				return err
			}
			return s.deps.Impersonations.EndDead(ctx, row.UserID)
		case !row.ExpiresAt.After(now):
			refused = errRefreshExpired
			return nil
		}
		if err := s.store.q(ctx).RevokeCredential(ctx, accountsql.RevokeCredentialParams{ID: row.ID, RevokedAt: &now}); err != nil {
			return err
		}
		// The new tokens are the admin's own (spec: Impersonation session).
		if err := s.deps.Impersonations.EndFamily(ctx, row.UserID, row.Family); err != nil {
			return err
		}
		tokens = Tokens{Access: newAccessToken(), Refresh: newRefreshToken()}
		of := login{userID: row.UserID, family: row.Family, end: row.FamilyExpiresAt}
		if err := s.store.insertTokens(ctx, of, tokens, now, s.deps.Lifetimes); err != nil {
			return err
		}
		user, err = s.store.user(ctx, row.UserID)
		return err
	})
	if err == nil {
		err = refused
	}
	return user, tokens, err
}

// Logout ends the credential that the caller used and every refresh token of
// the user (spec: rule 5). While impersonating that is the admin; the target's
// logins stay.
func (s *Service) Logout(ctx context.Context, caller *authz.Caller) error {
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		if err := s.store.q(ctx).RevokeCredential(ctx, accountsql.RevokeCredentialParams{ID: caller.TokenID, RevokedAt: &now}); err != nil {
			return err
		}
		owner := ownerOf(caller)
		if err := s.store.q(ctx).RevokeRefreshTokensOfUser(ctx, accountsql.RevokeRefreshTokensOfUserParams{UserID: owner, RevokedAt: &now}); err != nil {
			return err
		}
		return s.deps.Impersonations.EndDead(ctx, owner)
	})
}
