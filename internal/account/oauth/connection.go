package oauth

import (
	"context"
	"crypto/rand"

	"github.com/google/uuid"
	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/account"
	"github.com/tenantry/tenantry/internal/authz"
	"github.com/tenantry/tenantry/internal/rest"
)

// Connections completes logins through the single sign-on connections of tenants.
type Connections interface {
	// CountsAsMFA reports whether the logins of a connection count as a second factor. ok is false if
	// the identity no longer belongs to the connection. The user is locked.
	CountsAsMFA(ctx context.Context, connection, identity uuid.UUID) (counts, ok bool, err error)
}

// Flow is a login in progress through a connection.
type Flow struct {
	Connection             uuid.UUID
	IsTest                 bool
	State, Nonce, Verifier string
}

// NewFlow returns a login through a connection, with new secrets.
func NewFlow(connection uuid.UUID, isTest bool) Flow {
	return Flow{Connection: connection, IsTest: isTest, State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
}

// Begin stores the start of a login through a connection. It returns the key of the browser (see
// Start); known is the browser's existing key, or "".
func (s *Service) Begin(ctx context.Context, f Flow, known string) (key string, err error) {
	key = browserKey(known)
	return key, s.store.insertFlow(ctx, authz.SSO, flow{
		state: f.State, nonce: f.Nonce, verifier: f.Verifier, connection: &f.Connection, isTest: f.IsTest,
	}, key, s.deps.Clock.Now())
}

// Take deletes a login in progress and returns it. It returns a LoginError if the state is unknown
// or expired, or if another browser started the login.
func (s *Service) Take(ctx context.Context, state, key string) (Flow, error) {
	f, err := s.store.takeFlow(ctx, authz.SSO, state, key, s.deps.Clock.Now())
	if err != nil || f.connection == nil {
		return Flow{}, err
	}
	return Flow{Connection: *f.connection, IsTest: f.isTest, State: f.state, Nonce: f.nonce, Verifier: f.verifier}, nil
}

// Subject is the user whom a login through a connection logs in.
type Subject struct {
	UserID               int64
	Identity, Connection uuid.UUID
	IsNew                bool // the login created the account
}

// IssueCode returns a one-time code for a login through a connection, for the browser with the key.
// It runs in the transaction of ctx, which has locked the user.
func (s *Service) IssueCode(ctx context.Context, of Subject, key string) (code string, err error) {
	code = uuid.New().String() // all of it must be random (see findOrCreateUser)
	return code, s.store.insertCode(ctx, code, codeSubject{
		userID: of.UserID, identity: of.Identity, connection: &of.Connection, isNew: of.IsNew, browserHash: account.HashSecret(key),
	}, s.deps.Clock.Now())
}

func (s *Service) completeConnection(ctx context.Context, who codeSubject, grant *account.Grant) error {
	counts, ok, err := s.deps.Connections.CountsAsMFA(ctx, *who.connection, who.identity)
	if err == nil && !ok {
		err = errCode
	}
	grant.Provider, grant.Methods, grant.FactorPassed = authz.SSO, []string{authz.SSO}, counts
	return err
}

// Key returns the browser's key from one of the two cookies: plain for http, host for https.
func (h *HTTP) Key(plain, host string) string { return h.key(plain, host) }

// SetKey stores the browser's key in a cookie of the response of ctx.
func (h *HTTP) SetKey(ctx context.Context, key string) {
	if key != "" {
		rest.RequestOf(ctx).SetHeader("Set-Cookie", h.cookie(key))
	}
}
