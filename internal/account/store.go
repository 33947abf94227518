package account

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/search"
	"github.com/tenantry/tenantry/internal/sqldb"
)

type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *accountsql.Queries { return accountsql.New(s.db.Conn(ctx)) }

// newUser holds the data of a user to insert.
type newUser struct {
	name, email   string
	passwordHash  *string // nil for a user without a password
	platformAdmin bool
	permissions   sqldb.JSON // of a platform admin; nil means all
	verified      bool       // the user has proved ownership of the email
	locale        *string    // nil if the request asked for none
	externalID    *string    // assigned by the operator's backend
}

// insertUser inserts a user and returns the ID. It returns errEmailTaken if an account uses the
// email.
func (s store) insertUser(ctx context.Context, u newUser, now time.Time) (int64, error) {
	row := accountsql.InsertUserParams{
		Name: u.name, Email: u.email, PasswordHash: u.passwordHash,
		IsPlatformAdmin: u.platformAdmin, PlatformPermissions: u.permissions, Locale: u.locale, CreatedAt: now, ExternalID: u.externalID,
	}
	if u.verified {
		row.EmailVerifiedAt = &now
	}
	id, err := s.q(ctx).InsertUser(ctx, row)
	if err != nil {
		return 0, sqldb.WrapAbsent(err, "insert user", errEmailTaken)
	}
	return id, search.NewIndex(s.db).PutUser(ctx, id, u.name, u.email)
}

// user returns a user. It returns errNoUser if the user does not exist.
func (s store) user(ctx context.Context, id int64) (User, error) {
	row, err := s.q(ctx).UserByID(ctx, id)
	return User{ID: row.ID, Name: row.Name, Email: row.Email, IsPlatformAdmin: row.IsPlatformAdmin, Locale: row.Locale},
		sqldb.WrapAbsent(err, "read user", errNoUser)
}

// userByEmail returns the user with an email and the password hash, which is nil for a user without
// a password. It returns errNoUser if the user does not exist.
func (s store) userByEmail(ctx context.Context, email string) (User, *string, error) {
	row, err := s.q(ctx).UserByEmail(ctx, email)
	return User{ID: row.ID, Name: row.Name, Email: row.Email, IsPlatformAdmin: row.IsPlatformAdmin, Locale: row.Locale},
		row.PasswordHash, sqldb.WrapAbsent(err, "read user by email", errNoUser)
}

// lockUser locks a user and returns it. It returns errNoUser if the user does not exist.
func (s store) lockUser(ctx context.Context, id int64) (lockedUser, error) {
	row, err := s.q(ctx).LockUserByID(ctx, id)
	return lockedUser{
		User:         User{ID: row.ID, Name: row.Name, Email: row.Email, IsPlatformAdmin: row.IsPlatformAdmin, Locale: row.Locale},
		passwordHash: row.PasswordHash, verified: row.EmailVerifiedAt != nil, hasFactor: row.MfaEnabled, permissions: row.PlatformPermissions,
	}, sqldb.WrapAbsent(err, "lock user", errNoUser)
}

// userOfEmail returns the ID of the user with an email, and whether the email is verified. It
// returns errNoUser if the user does not exist.
func (s store) userOfEmail(ctx context.Context, email string) (id int64, verified bool, err error) {
	row, err := s.q(ctx).UserByEmail(ctx, email)
	return row.ID, row.EmailVerifiedAt != nil, sqldb.WrapAbsent(err, "read user by email", errNoUser)
}

func (s store) updatePassword(ctx context.Context, userID int64, hash string, now time.Time) error {
	err := s.q(ctx).UpdatePassword(ctx, accountsql.UpdatePasswordParams{ID: userID, PasswordHash: &hash, UpdatedAt: now})
	return sqldb.Wrap(err, "update password")
}

func (s store) removePassword(ctx context.Context, userID int64, now time.Time) error {
	err := s.q(ctx).RemovePassword(ctx, accountsql.RemovePasswordParams{ID: userID, UpdatedAt: now})
	return sqldb.Wrap(err, "remove password")
}

func (s store) deletePushSubscriptions(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeletePushSubscriptions(ctx, userID), "delete push subscriptions")
}

// verifyEmail marks the email of a user as verified. It does not change a verified email.
func (s store) verifyEmail(ctx context.Context, userID int64, now time.Time) error {
	err := s.q(ctx).VerifyEmail(ctx, accountsql.VerifyEmailParams{ID: userID, EmailVerifiedAt: &now})
	return sqldb.Wrap(err, "verify email")
}

// setLocaleIfUnset stores the language of a user who has not chosen one yet.
func (s store) setLocaleIfUnset(ctx context.Context, userID int64, locale string) error {
	err := s.q(ctx).SetLocaleIfUnset(ctx, accountsql.SetLocaleIfUnsetParams{ID: userID, Locale: locale})
	return sqldb.Wrap(err, "store language of user")
}

func (s store) rename(ctx context.Context, userID int64, name string, now time.Time) error {
	email, err := s.q(ctx).RenameUser(ctx, accountsql.RenameUserParams{ID: userID, Name: name, UpdatedAt: now})
	if err != nil {
		return sqldb.Wrap(err, "rename user")
	}
	return search.NewIndex(s.db).PutUser(ctx, userID, name, email)
}

// emailOfExternalID returns the email of the user with an external ID, or errNoUser.
func (s store) emailOfExternalID(ctx context.Context, externalID string) (string, error) {
	email, err := s.q(ctx).EmailOfExternalID(ctx, externalID)
	return email, sqldb.WrapAbsent(err, "read user by external ID", errNoUser)
}

// setExternalID sets the external ID of a user. It fails if another user has it (sqldb.IsUnique).
func (s store) setExternalID(ctx context.Context, userID int64, externalID string, now time.Time) error {
	err := s.q(ctx).SetExternalID(ctx, accountsql.SetExternalIDParams{ID: userID, ExternalID: &externalID, UpdatedAt: now})
	return sqldb.Wrap(err, "set external ID of user")
}

func (s store) deleteUser(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeleteUser(ctx, userID), "delete user")
}

// putReset stores a password reset token, which replaces the previous token of the user.
func (s store) putReset(ctx context.Context, userID int64, token string, now time.Time, lifetime time.Duration) error {
	err := s.q(ctx).PutPasswordReset(ctx, accountsql.PutPasswordResetParams{
		UserID: userID, TokenHash: hashToken(token), ExpiresAt: now.Add(lifetime), CreatedAt: now,
	})
	return sqldb.Wrap(err, "store password reset")
}

// takeReset deletes a password reset token of a user. It returns errResetToken if the token is
// unknown or has expired.
func (s store) takeReset(ctx context.Context, userID int64, token string, now time.Time) error {
	n, err := s.q(ctx).TakePasswordReset(ctx, accountsql.TakePasswordResetParams{
		TokenHash: hashToken(token), Now: now, UserID: userID,
	})
	if err == nil && n == 0 {
		return errResetToken
	}
	return sqldb.Wrap(err, "take password reset")
}

func (s store) deleteReset(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeletePasswordReset(ctx, userID), "delete password reset")
}
