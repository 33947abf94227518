package account

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *accountsql.Queries { return accountsql.New(s.db.Conn(ctx)) }

// newUser is a row to insert; permissions is null for a platform admin with all.
type newUser struct {
	name, email, passwordHash string
	platformAdmin             bool
	permissions               sqldb.JSON
	verified                  bool // the email is known to be the user's
}

// insertUser fails with errEmailTaken when the email has an account.
func (s store) insertUser(ctx context.Context, u newUser, now time.Time) (int64, error) {
	row := accountsql.InsertUserParams{
		Name: u.name, Email: u.email, PasswordHash: &u.passwordHash,
		IsPlatformAdmin: u.platformAdmin, PlatformPermissions: u.permissions, CreatedAt: now,
	}
	if u.verified {
		row.EmailVerifiedAt = &now
	}
	id, err := s.q(ctx).InsertUser(ctx, row)
	if errors.Is(err, sqldb.ErrNoRows) {
		return 0, errEmailTaken
	}
	return id, err
}

// credentials gives the account of an email and its password hash; both are nil
// when there is none.
func (s store) credentials(ctx context.Context, email string) (*User, *string, error) {
	row, err := s.q(ctx).UserByEmail(ctx, email)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	user := &User{ID: row.ID, Name: row.Name, Email: row.Email, IsPlatformAdmin: row.IsPlatformAdmin}
	return user, row.PasswordHash, nil
}

// The kinds of credentials.
const (
	kindAccess  = "access"
	kindRefresh = "refresh"
	kindSession = "session"
)

// login is what the credentials of one login have in common.
type login struct {
	userID int64
	family uuid.UUID
	end    time.Time // of the family
}

// insertTokens stores the hashes of a new pair.
func (s store) insertTokens(ctx context.Context, of login, t Tokens, now time.Time, l Lifetimes) error {
	if err := s.insertCredential(ctx, of, kindAccess, t.Access, now, l.Access); err != nil {
		return err
	}
	return s.insertCredential(ctx, of, kindRefresh, t.Refresh, now, l.Refresh)
}

// insertCredential stores the hash of a token that lives for a while, but no
// longer than its family. A session lives so long from each use on.
func (s store) insertCredential(ctx context.Context, of login, kind, token string, now time.Time, life time.Duration) error {
	row := accountsql.InsertCredentialParams{
		ID: sqldb.NewID(), UserID: of.userID, Kind: kind, TokenHash: hashToken(token),
		Family: of.family, FamilyExpiresAt: of.end, ExpiresAt: now.Add(life), CreatedAt: now,
	}
	if row.ExpiresAt.After(of.end) {
		row.ExpiresAt = of.end
	}
	if kind == kindSession {
		row.IdleSeconds = int64(life / time.Second)
	}
	return s.q(ctx).InsertCredential(ctx, row)
}

func (s store) moveExpiry(ctx context.Context, id uuid.UUID, expires time.Time) error {
	return s.q(ctx).MoveExpiry(ctx, accountsql.MoveExpiryParams{ID: id, ExpiresAt: expires})
}

func (s store) revokeSession(ctx context.Context, token string, now time.Time) error {
	return s.q(ctx).RevokeSession(ctx, accountsql.RevokeSessionParams{TokenHash: hashToken(token), RevokedAt: &now})
}

// revokeAll ends every credential of a user.
func (s store) revokeAll(ctx context.Context, userID int64, now time.Time) error {
	return s.q(ctx).RevokeCredentialsOfUser(ctx, accountsql.RevokeCredentialsOfUserParams{UserID: userID, RevokedAt: &now})
}

func (s store) updatePassword(ctx context.Context, userID int64, hash string, now time.Time) error {
	return s.q(ctx).UpdatePassword(ctx, accountsql.UpdatePasswordParams{ID: userID, PasswordHash: &hash, UpdatedAt: now})
}

func (s store) deleteExpired(ctx context.Context, before time.Time) error {
	return s.q(ctx).DeleteExpiredCredentials(ctx, before)
}

func (s store) user(ctx context.Context, id int64) (User, error) {
	row, err := s.q(ctx).UserByID(ctx, id)
	return User{ID: row.ID, Name: row.Name, Email: row.Email, IsPlatformAdmin: row.IsPlatformAdmin}, err
}
