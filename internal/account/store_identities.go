package account

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// removedIdentity is a deleted provider identity.
type removedIdentity struct {
	id       uuid.UUID
	provider string
}

func (s store) deleteIdentities(ctx context.Context, userID int64) ([]removedIdentity, error) {
	rows, err := s.q(ctx).DeleteIdentities(ctx, userID)
	removed := make([]removedIdentity, len(rows))
	for i, row := range rows {
		removed[i] = removedIdentity{row.ID, row.Provider}
	}
	return removed, sqldb.Wrap(err, "delete identities")
}

func (s store) deleteIdentitiesOfOtherEmails(ctx context.Context, userID int64, email string) ([]removedIdentity, error) {
	rows, err := s.q(ctx).DeleteIdentitiesOfOtherEmails(ctx, accountsql.DeleteIdentitiesOfOtherEmailsParams{UserID: userID, Email: email})
	removed := make([]removedIdentity, len(rows))
	for i, row := range rows {
		removed[i] = removedIdentity{row.ID, row.Provider}
	}
	return removed, sqldb.Wrap(err, "delete identities of other emails")
}

// revokeLoginsThrough revokes the credentials of a user's logins through an identity.
func (s store) revokeLoginsThrough(ctx context.Context, userID int64, identity uuid.UUID, now time.Time) error {
	err := s.q(ctx).RevokeLoginsThrough(ctx, accountsql.RevokeLoginsThroughParams{UserID: userID, IdentityID: &identity, Now: &now})
	return sqldb.Wrap(err, "revoke sessions of identity")
}

// loginStart returns the time of the login that a credential belongs to.
func (s store) loginStart(ctx context.Context, id uuid.UUID) (time.Time, error) {
	at, err := s.q(ctx).LoginBegan(ctx, id)
	return at, sqldb.WrapAbsent(err, "read login", errUnauthenticated)
}

// tenantOf returns the tenant of a user, or nil for a user without a tenant.
func (s store) tenantOf(ctx context.Context, userID int64) (*uuid.UUID, error) {
	id, err := s.q(ctx).TenantOf(ctx, userID)
	if errors.Is(err, sqldb.ErrNoRows) {
		return nil, nil //nolint:nilnil // the user is in no tenant
	}
	return &id, sqldb.Wrap(err, "read tenant of user")
}
