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
}

// insertUser fails with errEmailTaken when the email has an account.
func (s store) insertUser(ctx context.Context, u newUser, now time.Time) (int64, error) {
	id, err := s.q(ctx).InsertUser(ctx, accountsql.InsertUserParams{
		Name: u.name, Email: u.email, PasswordHash: &u.passwordHash,
		IsPlatformAdmin: u.platformAdmin, PlatformPermissions: u.permissions, CreatedAt: now,
	})
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

// insertTokens stores the hashes of a new pair.
func (s store) insertTokens(ctx context.Context, userID int64, t Tokens, family uuid.UUID, familyEnd, now time.Time, l Lifetimes) error {
	err := s.q(ctx).InsertAccessToken(ctx, accountsql.InsertAccessTokenParams{
		ID: sqldb.NewID(), UserID: userID, TokenHash: hashToken(t.Access), Family: family,
		ExpiresAt: now.Add(l.Access), CreatedAt: now,
	})
	if err != nil {
		return err
	}
	expires := now.Add(l.Refresh)
	if expires.After(familyEnd) {
		expires = familyEnd
	}
	return s.q(ctx).InsertRefreshToken(ctx, accountsql.InsertRefreshTokenParams{
		ID: sqldb.NewID(), UserID: userID, TokenHash: hashToken(t.Refresh), Family: family,
		FamilyExpiresAt: familyEnd, ExpiresAt: expires, CreatedAt: now,
	})
}

// revokeAll ends every token of a user.
func (s store) revokeAll(ctx context.Context, userID int64, now time.Time) error {
	if err := s.q(ctx).DeleteAccessTokensOfUser(ctx, userID); err != nil {
		return err
	}
	return s.q(ctx).RevokeRefreshTokensOfUser(ctx, accountsql.RevokeRefreshTokensOfUserParams{UserID: userID, RevokedAt: &now})
}

func (s store) updatePassword(ctx context.Context, userID int64, hash string, now time.Time) error {
	return s.q(ctx).UpdatePassword(ctx, accountsql.UpdatePasswordParams{ID: userID, PasswordHash: &hash, UpdatedAt: now})
}

func (s store) deleteExpired(ctx context.Context, now time.Time) error {
	if err := s.q(ctx).DeleteExpiredAccessTokens(ctx, now); err != nil {
		return err
	}
	return s.q(ctx).DeleteExpiredRefreshTokens(ctx, now)
}
