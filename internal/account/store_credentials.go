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

// The kinds of credentials.
const (
	kindAccess  = "access"
	kindRefresh = "refresh"
	kindSession = "session"
)

// login holds the properties that all credentials of one login share.
type login struct {
	userID int64
	family uuid.UUID
	began  time.Time // time of the login; a refresh does not change it
	end    time.Time // of the family
	// identity is the provider identity of a delegated login; nil for other logins.
	identity *uuid.UUID
	// connection is the single sign-on connection of the login; nil for other logins.
	connection *uuid.UUID
	// methods are the methods of the login, separated by spaces. factorPassed means that it passed
	// two factors, or a passkey with user verification.
	methods      string
	factorPassed bool
}

// limit makes the family end at most life after the login. 0 sets no limit.
func (l *login) limit(life time.Duration) {
	if at := l.began.Add(life); life > 0 && at.Before(l.end) {
		l.end = at
	}
}

// expires returns the expiry of a credential issued now: after life, but not later than the end of
// the family.
func (l login) expires(now time.Time, life time.Duration) time.Time {
	if at := now.Add(life); at.Before(l.end) {
		return at
	}
	return l.end
}

// insertTokens stores the hashes of an access token and a refresh token.
func (s store) insertTokens(ctx context.Context, of login, t Tokens, now time.Time, l Lifetimes) error {
	source := authz.SourceOf(ctx)
	return sqldb.Wrap(s.q(ctx).InsertPair(sqldb.WithDeferred(ctx), accountsql.InsertPairParams{
		UserID: of.userID, Family: of.family, FamilyExpiresAt: of.end, LoginAt: of.began, CreatedAt: now, IdentityID: of.identity, ConnectionID: of.connection,
		Ip: source.IP, UserAgent: source.UserAgent, Methods: of.methods, MfaPassed: of.factorPassed,
		AccessID: sqldb.NewID(), AccessHash: hashToken(t.Access), AccessExpiresAt: of.expires(now, l.Access),
		RefreshID: sqldb.NewID(), RefreshHash: hashToken(t.Refresh), RefreshExpiresAt: of.expires(now, l.Refresh),
	}), "insert tokens")
}

// insertSession stores the hash of a session. life is the idle timeout.
func (s store) insertSession(ctx context.Context, of login, secret string, now time.Time, life time.Duration) error {
	source := authz.SourceOf(ctx)
	return sqldb.Wrap(s.q(ctx).InsertCredential(sqldb.WithDeferred(ctx), accountsql.InsertCredentialParams{
		ID: sqldb.NewID(), UserID: of.userID, Kind: kindSession, TokenHash: hashToken(secret),
		Family: of.family, FamilyExpiresAt: of.end, ExpiresAt: of.expires(now, life), IdleSeconds: int64(life / time.Second),
		LoginAt: of.began, CreatedAt: now, Ip: source.IP, UserAgent: source.UserAgent, IdentityID: of.identity, ConnectionID: of.connection,
		Methods: of.methods, MfaPassed: of.factorPassed,
	}), "insert session")
}

func (s store) setExpiry(ctx context.Context, id uuid.UUID, expires time.Time) error {
	err := s.q(ctx).MoveExpiry(ctx, accountsql.MoveExpiryParams{ID: id, ExpiresAt: expires})
	return sqldb.Wrap(err, "set expiry of credential")
}

// renewedSession holds the lifetimes of a session with a new secret.
type renewedSession struct {
	idle time.Duration // idle timeout
	end  time.Time     // expiry even if the session is in use
}

// renewSession replaces the secret of a session. It returns errNoSession if the credential is not
// an active session.
func (s store) renewSession(ctx context.Context, id uuid.UUID, secret string) (renewedSession, error) {
	row, err := s.q(ctx).RenewSession(ctx, accountsql.RenewSessionParams{ID: id, TokenHash: hashToken(secret)})
	return renewedSession{idle: time.Duration(row.IdleSeconds) * time.Second, end: row.FamilyExpiresAt},
		sqldb.WrapAbsent(err, "renew session", errNoSession)
}

// ownerOf returns the user who owns the credential with the kind and token. It returns
// errNoCredential if that credential does not exist.
func (s store) ownerOf(ctx context.Context, kind, token string) (int64, error) {
	id, err := s.q(ctx).OwnerOfCredential(ctx, accountsql.OwnerOfCredentialParams{TokenHash: hashToken(token), Kind: kind})
	return id, sqldb.WrapAbsent(err, "read owner of credential", errNoCredential)
}

// listOldLogins returns the families of a user's active logins except the newest ones.
func (s store) listOldLogins(ctx context.Context, userID int64, newest int32, now time.Time) ([]uuid.UUID, error) {
	families, err := s.q(ctx).OldLogins(ctx, accountsql.OldLoginsParams{UserID: userID, Now: now, Kept: newest})
	return families, sqldb.Wrap(err, "list old sessions")
}

// refreshToken is a stored refresh token.
type refreshToken struct {
	id      uuid.UUID
	of      login
	expires time.Time
	revoked bool
	// impersonating reports whether a credential of the login is impersonating a user.
	impersonating bool
}

// lockRefreshToken locks a refresh token and its user, the user first, and returns both. It returns
// errRefreshToken if the token is unknown or the user has deleted the account. The user is locked
// before the token is read: the owner of a token never changes, and starting an impersonation needs
// the user's lock. So impersonating stays correct until the transaction ends.
func (s store) lockRefreshToken(ctx context.Context, token string) (user User, t refreshToken, err error) {
	hash := []any{hashToken(token)}
	users, tokens := 0, 0
	err = s.db.QueryAll(ctx, sqldb.Query{
		Doing: "lock user of refresh token",
		Text: `SELECT u.id, u.name, u.email, u.is_platform_admin, u.locale
FROM users u
WHERE u.id = (SELECT c.user_id FROM credentials c WHERE c.token_hash = $1::text AND c.kind = 'refresh') AND u.deleted_at IS NULL
FOR UPDATE`,
		Args: hash,
		Row: func(scan func(...any) error) error {
			users++
			return scan(&user.ID, &user.Name, &user.Email, &user.IsPlatformAdmin, &user.Locale)
		},
	}, sqldb.Query{
		Doing: "lock refresh token",
		Text: `SELECT c.id, c.user_id, c.family, c.family_expires_at, c.expires_at, c.login_at, c.identity_id, c.connection_id, c.methods, c.mfa_passed, c.revoked_at IS NOT NULL,
    EXISTS (SELECT 1 FROM credentials i WHERE i.user_id = c.user_id AND i.family = c.family AND i.impersonated_user_id IS NOT NULL)
FROM credentials c
WHERE c.token_hash = $1::text AND c.kind = 'refresh'
FOR UPDATE`,
		Args: hash,
		Row: func(scan func(...any) error) error {
			tokens++
			return scan(&t.id, &t.of.userID, &t.of.family, &t.of.end, &t.expires, &t.of.began, &t.of.identity, &t.of.connection, &t.of.methods, &t.of.factorPassed, &t.revoked, &t.impersonating)
		},
	})
	if err == nil && (users == 0 || tokens == 0) {
		err = errRefreshToken
	}
	return user, t, err
}

// extendSession moves both expiry times of an active session by d.
func (s store) extendSession(ctx context.Context, token string, now time.Time, d time.Duration) error {
	row, err := s.q(ctx).LiveSession(ctx, accountsql.LiveSessionParams{TokenHash: hashToken(token), Now: now})
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil
	}
	if err != nil {
		return sqldb.Wrap(err, "read session")
	}
	return sqldb.Wrap(s.q(ctx).ExtendSession(ctx, accountsql.ExtendSessionParams{
		ID: row.ID, ExpiresAt: row.ExpiresAt.Add(d), FamilyExpiresAt: row.FamilyExpiresAt.Add(d),
	}), "extend session")
}

func (s store) revokeSession(ctx context.Context, token string, now time.Time) error {
	err := s.q(ctx).RevokeSession(ctx, accountsql.RevokeSessionParams{TokenHash: hashToken(token), RevokedAt: &now})
	return sqldb.Wrap(err, "revoke session")
}

func (s store) revoke(ctx context.Context, id uuid.UUID, now time.Time) error {
	err := s.q(ctx).RevokeCredential(sqldb.WithDeferred(ctx), accountsql.RevokeCredentialParams{ID: id, RevokedAt: &now})
	return sqldb.Wrap(err, "revoke credential")
}

func (s store) revokeRefreshTokens(ctx context.Context, userID int64, now time.Time) error {
	err := s.q(ctx).RevokeRefreshTokensOfUser(ctx, accountsql.RevokeRefreshTokensOfUserParams{UserID: userID, RevokedAt: &now})
	return sqldb.Wrap(err, "revoke refresh tokens")
}

// revokeAll revokes all credentials of a user.
func (s store) revokeAll(ctx context.Context, userID int64, now time.Time) error {
	err := s.q(ctx).RevokeCredentialsOfUser(ctx, accountsql.RevokeCredentialsOfUserParams{UserID: userID, RevokedAt: &now})
	return sqldb.Wrap(err, "revoke credentials of user")
}

// deleteCodes ends the one-time codes of delegated logins, the email codes and the login challenges
// of a user.
func (s store) deleteCodes(ctx context.Context, userID int64) error {
	if err := s.q(ctx).DeleteLoginChallenges(ctx, userID); err != nil {
		return sqldb.Wrap(err, "delete login challenges")
	}
	if err := s.q(ctx).EndEmailCodes(ctx, &userID); err != nil {
		return sqldb.Wrap(err, "end email codes")
	}
	return sqldb.Wrap(s.q(ctx).DeleteOneTimeCodes(ctx, userID), "delete one-time codes")
}

// listUsersWithExpired returns the IDs of up to 500 users with credentials that expired before the
// given time.
func (s store) listUsersWithExpired(ctx context.Context, before time.Time) ([]int64, error) {
	ids, err := s.q(ctx).UsersWithExpiredCredentials(ctx, before)
	return ids, sqldb.Wrap(err, "list users with expired credentials")
}

func (s store) deleteExpired(ctx context.Context, userID int64, before time.Time) error {
	err := s.q(ctx).DeleteExpiredCredentialsOfUser(ctx, accountsql.DeleteExpiredCredentialsOfUserParams{UserID: userID, Before: before})
	return sqldb.Wrap(err, "delete expired credentials")
}
