package oauth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/account/oauth/oauthsql"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// store stores secrets as hashes only, unless they must be sent to a provider later.
type store struct{ db *sqldb.DB }

func (s store) q(ctx context.Context) *oauthsql.Queries { return oauthsql.New(s.db.Conn(ctx)) }

// insertFlow stores the start of a login at a provider. key identifies the browser.
func (s store) insertFlow(ctx context.Context, provider string, f flow, key string, now time.Time) error {
	err := s.q(ctx).InsertOAuthFlow(ctx, oauthsql.InsertOAuthFlowParams{
		StateHash: account.HashSecret(f.state), BrowserHash: account.HashSecret(key), Provider: provider,
		Verifier: f.verifier, Nonce: f.nonce, ExpiresAt: now.Add(flowLifetime), CreatedAt: now,
		ConnectionID: f.connection, IsTest: f.isTest,
	})
	return sqldb.Wrap(err, "insert login flow")
}

// takeFlow deletes and returns the flow with a state. It returns errInvalidState unless the flow
// was started in the browser with this key, at this provider, and has not expired.
func (s store) takeFlow(ctx context.Context, provider, state, key string, now time.Time) (flow, error) {
	row, err := s.q(ctx).TakeOAuthFlow(ctx, oauthsql.TakeOAuthFlowParams{
		StateHash: account.HashSecret(state), BrowserHash: account.HashSecret(key), Provider: provider, Now: now,
	})
	return flow{state: state, nonce: row.Nonce, verifier: row.Verifier, connection: row.ConnectionID, isTest: row.IsTest},
		sqldb.WrapAbsent(err, "take login flow", errInvalidState)
}

// linkedIdentity returns an identity and the user that it is linked to. It returns errNotLinked if the
// identity does not exist.
func (s store) linkedIdentity(ctx context.Context, provider, subject string) (id uuid.UUID, userID int64, err error) {
	row, err := s.q(ctx).UserByOAuthIdentity(ctx, oauthsql.UserByOAuthIdentityParams{Provider: provider, Subject: subject})
	return row.ID, row.UserID, sqldb.WrapAbsent(err, "read linked identity", errNotLinked)
}

// link links an identity to a user and returns its ID. It returns errIdentityTaken if the identity
// is already linked.
func (s store) link(ctx context.Context, provider, subject, email string, userID int64, now time.Time) (uuid.UUID, error) {
	id := sqldb.NewID()
	added, err := s.q(ctx).InsertOAuthIdentity(ctx, oauthsql.InsertOAuthIdentityParams{
		ID: id, Provider: provider, Subject: subject, UserID: userID, Email: email, CreatedAt: now,
	})
	if err == nil && added == 0 {
		return id, errIdentityTaken
	}
	return id, sqldb.Wrap(err, "link identity")
}

func (s store) setEmail(ctx context.Context, id uuid.UUID, email string) error {
	err := s.q(ctx).SetIdentityEmail(ctx, oauthsql.SetIdentityEmailParams{ID: id, Email: email})
	return sqldb.Wrap(err, "set email of identity")
}

// providerOf returns the provider of an identity. It returns errCode if the identity was removed,
// along with its codes.
func (s store) providerOf(ctx context.Context, id uuid.UUID) (provider string, err error) {
	provider, err = s.q(ctx).ProviderOfIdentity(ctx, id)
	return provider, sqldb.WrapAbsent(err, "read provider of identity", errCode)
}

// codeSubject describes the user that a one-time code logs in.
type codeSubject struct {
	userID   int64
	identity uuid.UUID
	// connection is the single sign-on connection that the identity belongs to; nil for other
	// identities.
	connection *uuid.UUID
	isNew      bool // this login created the account
	// browserHash is the hash of the key of the browser that started the login.
	browserHash string
}

func (s store) insertCode(ctx context.Context, code string, a codeSubject, now time.Time) error {
	err := s.q(ctx).InsertOAuthCode(ctx, oauthsql.InsertOAuthCodeParams{
		CodeHash: account.HashSecret(code), UserID: a.userID, IsNewUser: a.isNew, BrowserHash: a.browserHash, IdentityID: a.identity, ConnectionID: a.connection,
		ExpiresAt: now.Add(codeLifetime), CreatedAt: now,
	})
	return sqldb.Wrap(err, "insert login code")
}

// code returns the user that a code logs in. It returns errCode if the code is unknown or has
// expired.
func (s store) code(ctx context.Context, code string, now time.Time) (codeSubject, error) {
	row, err := s.q(ctx).OAuthCode(ctx, oauthsql.OAuthCodeParams{CodeHash: account.HashSecret(code), Now: now})
	return codeSubject{userID: row.UserID, identity: row.IdentityID, connection: row.ConnectionID, isNew: row.IsNewUser, browserHash: row.BrowserHash},
		sqldb.WrapAbsent(err, "read login code", errCode)
}

// isConnectionCode reports whether a code, expired or not, belongs to a login through a connection.
func (s store) isConnectionCode(ctx context.Context, code string) (bool, error) {
	is, err := s.q(ctx).IsConnectionCode(ctx, account.HashSecret(code))
	return is, sqldb.Wrap(err, "read login code")
}

// takeCode deletes a code. It returns errCode if the code no longer exists.
func (s store) takeCode(ctx context.Context, code string) error {
	n, err := s.q(ctx).DeleteOAuthCode(ctx, account.HashSecret(code))
	if err == nil && n == 0 {
		return errCode
	}
	return sqldb.Wrap(err, "take login code")
}

// deleteExpired deletes flows and codes that have expired.
func (s store) deleteExpired(ctx context.Context, now time.Time) error {
	if err := s.q(ctx).DeleteExpiredOAuthFlows(ctx, now); err != nil {
		return sqldb.Wrap(err, "delete expired login flows")
	}
	return sqldb.Wrap(s.q(ctx).DeleteExpiredOAuthCodes(ctx, now), "delete expired login codes")
}
