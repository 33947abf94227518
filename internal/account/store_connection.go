package account

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// signOnOf returns the single sign-on of a user's tenant, or errNoSignOn.
func (s store) signOnOf(ctx context.Context, user User) (signOn, error) {
	row, err := s.q(ctx).LoginTenant(ctx, accountsql.LoginTenantParams{UserID: user.ID, Owner: ownerRole, Domain: domainOf(user.Email)})
	return signOn{tenant: row.TenantID, isExempt: row.IsExempt}, sqldb.WrapAbsent(err, "read single sign-on of user", errNoSignOn)
}

func (s store) usersOfConnection(ctx context.Context, connection uuid.UUID) ([]int64, error) {
	ids, err := s.q(ctx).UsersOfConnection(ctx, connection)
	return ids, sqldb.Wrap(err, "list users of connection")
}

func (s store) endConnection(ctx context.Context, connection uuid.UUID, now time.Time) error {
	q := s.q(ctx)
	if err := q.RevokeConnectionLogins(ctx, accountsql.RevokeConnectionLoginsParams{ConnectionID: &connection, Now: &now}); err != nil {
		return sqldb.Wrap(err, "revoke logins of connection")
	}
	if err := q.DeleteConnectionCodes(ctx, &connection); err != nil {
		return sqldb.Wrap(err, "delete codes of connection")
	}
	return sqldb.Wrap(q.DeleteConnectionFlows(ctx, &connection), "delete open logins of connection")
}

// deleteConnectionChallenges ends a user's logins through single sign-on that wait for a second factor.
func (s store) deleteConnectionChallenges(ctx context.Context, userID int64) error {
	err := s.q(ctx).DeleteConnectionChallengesOfUser(ctx, accountsql.DeleteConnectionChallengesOfUserParams{UserID: userID, Provider: authz.SSO})
	return sqldb.Wrap(err, "delete single sign-on challenges of user")
}

// endConnectionOfUser ends a user's logins through single sign-on and removes the link to it.
func (s store) endConnectionOfUser(ctx context.Context, userID int64, now time.Time) error {
	q := s.q(ctx)
	if err := q.RevokeConnectionLoginsOfUser(ctx, accountsql.RevokeConnectionLoginsOfUserParams{UserID: userID, Now: &now}); err != nil {
		return sqldb.Wrap(err, "revoke single sign-on logins of user")
	}
	return sqldb.Wrap(q.DeleteConnectionIdentitiesOfUser(ctx, userID), "delete single sign-on link of user")
}
