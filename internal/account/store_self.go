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

// passwordOf returns the hash of a user's password, nil where they have none.
func (s store) passwordOf(ctx context.Context, userID int64) (*string, error) {
	hash, err := s.q(ctx).PasswordOf(ctx, userID)
	return hash, sqldb.WrapAbsent(err, "read password", errUnauthenticated)
}

// isCredentialActive reports whether a credential of a user is not revoked.
func (s store) isCredentialActive(ctx context.Context, id uuid.UUID, userID int64) (bool, error) {
	n, err := s.q(ctx).CredentialLives(ctx, accountsql.CredentialLivesParams{ID: id, UserID: userID})
	return n > 0, sqldb.Wrap(err, "read credential")
}

// revokeOtherCredentials revokes every credential of a user that does not descend from one login.
func (s store) revokeOtherCredentials(ctx context.Context, userID int64, family uuid.UUID, now time.Time) error {
	err := s.q(ctx).RevokeOtherLogins(ctx, accountsql.RevokeOtherLoginsParams{UserID: userID, Family: family, Now: &now})
	return sqldb.Wrap(err, "revoke other logins")
}

// revokeLogin revokes what descends from one login of a user, and reports whether there
// was something.
func (s store) revokeLogin(ctx context.Context, userID int64, family uuid.UUID, now time.Time) (bool, error) {
	n, err := s.q(ctx).RevokeLogin(ctx, accountsql.RevokeLoginParams{UserID: userID, Family: family, Now: &now})
	return n > 0, sqldb.Wrap(err, "revoke login")
}

func (s store) deleteVerifications(ctx context.Context, userID int64) error {
	return sqldb.Wrap(s.q(ctx).DeleteEmailVerifications(ctx, userID), "delete verifications of email")
}
