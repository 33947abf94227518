package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

func (s store) markUsed(ctx context.Context, id uuid.UUID, at time.Time) error {
	err := s.q(ctx).MarkCredentialUsed(ctx, accountsql.MarkCredentialUsedParams{ID: id, LastUsedAt: &at})
	return sqldb.Wrap(err, "mark credential as used")
}

// markLogin stores the time of a user's last login.
func (s store) markLogin(ctx context.Context, userID int64, now time.Time) error {
	return sqldb.Wrap(s.q(ctx).MarkLogin(ctx, accountsql.MarkLoginParams{ID: userID, LastLoginAt: &now}), "store last login")
}

// passwordOf returns the password hash of a user, or nil for a user without a password.
func (s store) passwordOf(ctx context.Context, userID int64) (*string, error) {
	hash, err := s.q(ctx).PasswordOf(ctx, userID)
	return hash, sqldb.WrapAbsent(err, "read password", errUnauthenticated)
}

// isCredentialActive reports whether the user has the credential and it is not revoked.
func (s store) isCredentialActive(ctx context.Context, id uuid.UUID, userID int64) (bool, error) {
	n, err := s.q(ctx).CredentialLives(ctx, accountsql.CredentialLivesParams{ID: id, UserID: userID})
	return n > 0, sqldb.Wrap(err, "read credential")
}

// revokeOtherCredentials revokes all credentials of a user except the credentials of one login.
func (s store) revokeOtherCredentials(ctx context.Context, userID int64, family uuid.UUID, now time.Time) error {
	err := s.q(ctx).RevokeOtherLogins(ctx, accountsql.RevokeOtherLoginsParams{UserID: userID, Family: family, Now: &now})
	return sqldb.Wrap(err, "revoke other sessions")
}

// revokeLogin revokes the credentials of one login of a user. It reports whether there were any.
func (s store) revokeLogin(ctx context.Context, userID int64, family uuid.UUID, now time.Time) (bool, error) {
	n, err := s.q(ctx).RevokeLogin(ctx, accountsql.RevokeLoginParams{UserID: userID, Family: family, Now: &now})
	return n > 0, sqldb.Wrap(err, "revoke session")
}

func (s store) deleteVerifications(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeleteEmailVerifications(ctx, userID), "delete verifications of email")
}
