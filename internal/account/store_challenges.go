package account

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// factors returns the factors of a user that can complete a login, sorted.
func (s store) factors(ctx context.Context, userID int64) ([]string, error) {
	row, err := s.q(ctx).CountFactors(ctx, userID)
	factors := []string{}
	for _, f := range []struct {
		name  string
		count int64
	}{{factorPasskey, row.Passkeys}, {factorRecovery, row.RecoveryCodes}, {factorTOTP, row.Totp}} {
		if f.count > 0 {
			factors = append(factors, f.name)
		}
	}
	return factors, sqldb.Wrap(err, "count factors of user")
}

// browserHash returns the hash under which the browser of a login is stored, or "".
func browserHash(grant Grant) string {
	if !grant.Session {
		return ""
	}
	return hashToken(grant.Browser)
}

// insertChallenge stores a challenge under the hash of its secret.
func (s store) insertChallenge(ctx context.Context, c *Challenge, now time.Time) error {
	g := c.grant
	return sqldb.Wrap(s.q(ctx).InsertLoginChallenge(ctx, accountsql.InsertLoginChallengeParams{
		ChallengeHash: hashToken(c.Secret), UserID: c.UserID, BrowserHash: browserHash(g), Remember: g.Remember, RevokePrevious: g.RevokePrevious,
		Methods: strings.Join(g.Methods, " "), Provider: g.Provider, IdentityID: g.Identity, IsNewUser: g.IsNewUser,
		ExpiresAt: c.ExpiresAt, CreatedAt: now,
	}), "insert login challenge")
}

// loginChallenge returns an open challenge for the browser of grant. It returns errChallenge for an
// unknown, expired or used-up challenge.
func (s store) loginChallenge(ctx context.Context, secret string, grant Grant, now time.Time) (Challenge, error) {
	row, err := s.q(ctx).LoginChallenge(ctx, accountsql.LoginChallengeParams{
		ChallengeHash: hashToken(secret), BrowserHash: browserHash(grant), Most: maxAttempts, Now: now,
	})
	return challengeOf(accountsql.ReserveAttemptRow(row)), sqldb.WrapAbsent(err, "read login challenge", errChallenge)
}

// reserveAttempt is like loginChallenge, and also counts an attempt.
func (s store) reserveAttempt(ctx context.Context, secret string, grant Grant, now time.Time) (Challenge, error) {
	row, err := s.q(ctx).ReserveAttempt(ctx, accountsql.ReserveAttemptParams{
		ChallengeHash: hashToken(secret), BrowserHash: browserHash(grant), Most: maxAttempts, Now: now,
	})
	return challengeOf(row), sqldb.WrapAbsent(err, "reserve attempt of login challenge", errChallenge)
}

func challengeOf(row accountsql.ReserveAttemptRow) Challenge {
	return Challenge{
		UserID: row.UserID, Provider: row.Provider, IsNew: row.IsNewUser, Remember: row.Remember, PasskeySession: row.PasskeySession, ExpiresAt: row.ExpiresAt,
		grant: Grant{
			RevokePrevious: row.RevokePrevious, Methods: strings.Fields(row.Methods),
			Provider: row.Provider, Identity: row.IdentityID, IsNewUser: row.IsNewUser,
		},
	}
}

// takeChallenge deletes a challenge. It returns errChallenge if it no longer exists.
func (s store) takeChallenge(ctx context.Context, secret string) error {
	n, err := s.q(ctx).DeleteLoginChallenge(ctx, hashToken(secret))
	if err == nil && n == 0 {
		return errChallenge
	}
	return sqldb.Wrap(err, "take login challenge")
}

// setPasskeySession stores the challenge data of a passkey. It returns errChallenge if the
// challenge no longer exists.
func (s store) setPasskeySession(ctx context.Context, secret string, session []byte) error {
	n, err := s.q(ctx).SetPasskeySession(ctx, accountsql.SetPasskeySessionParams{ChallengeHash: hashToken(secret), PasskeySession: session})
	if err == nil && n == 0 {
		return errChallenge
	}
	return sqldb.Wrap(err, "store passkey challenge of login")
}

func (s store) deleteChallenges(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeleteLoginChallenges(ctx, userID), "delete login challenges")
}

func (s store) deleteOldChallenges(ctx context.Context, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).DeleteOldLoginChallenges(ctx, now), "delete expired login challenges")
}

func (s store) markFactorPassed(ctx context.Context, userID int64, family uuid.UUID) error {
	err := s.q(ctx).MarkFactorPassed(ctx, accountsql.MarkFactorPassedParams{UserID: userID, Family: family})
	return sqldb.Wrap(err, "mark second factor of login")
}

func (s store) markIdentityUsed(ctx context.Context, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).MarkIdentityUsed(ctx, accountsql.MarkIdentityUsedParams{ID: id, LastUsedAt: &now})
	return sqldb.Wrap(err, "mark identity as used")
}
