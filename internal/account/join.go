package account

import (
	"context"

	"github.com/tenantry/tenantry/internal/rest"
)

// NewSecret returns 64 random letters and digits for a link in a mail.
func NewSecret() string { return newRefreshToken() }

// HashSecret returns the SHA-256 hash, in hex, under which a random secret is stored.
func HashSecret(secret string) string { return hashToken(secret) }

// GrantOf returns the grant for a login by the request of ctx: a session in cookie mode, and tokens
// otherwise.
func GrantOf(ctx context.Context) Grant { return grantOf(ctx, false) }

// SessionOf returns the response of a login, including the tokens. In cookie mode it sets the
// session cookie instead.
//
// If the login needs a second factor, it returns an error with the challenge (MFA_REQUIRED). Commit
// the login before the call.
func (h *HTTP) SessionOf(ctx context.Context, user User, tokens Tokens, grant Grant) (Session, error) {
	if tokens.Challenge != nil {
		rest.RequestOf(ctx).KeepBrowserKey(grant.Browser, challengeLifetime)
		return Session{}, tokens.Challenge.refusal()
	}
	session, err := h.sessionOf(ctx, user, tokens, grant)
	if err == nil && len(session.User.Tenants) == 0 && h.svc.joinDomain(ctx, user.ID) {
		session.User, err = h.svc.sessionUser(ctx, user)
	}
	return session, err
}

// joinDomain adds a user without a tenant to the tenant that owns their email domain. It reports
// whether the user has joined. A user who cannot join now can join at the next login, so a failure
// does not fail the login.
func (s *Service) joinDomain(ctx context.Context, userID int64) (joined bool) {
	if s.deps.Domains == nil {
		return false
	}
	joined, err := s.deps.Domains.Join(ctx, userID)
	if err != nil && s.deps.Log != nil {
		s.deps.Log.WarnContext(ctx, "failed to join the tenant of the domain", "user", userID, "error", err)
	}
	return joined
}

// sessionOf returns the response of a login or a refresh.
func (h *HTTP) sessionOf(ctx context.Context, user User, tokens Tokens, grant Grant) (Session, error) {
	shown, err := h.svc.sessionUser(ctx, user)
	if err != nil {
		return Session{}, err
	}
	h.startSession(ctx, tokens, grant)
	return Session{User: shown, AccessToken: tokens.Access, RefreshToken: tokens.Refresh}, nil
}

// StartSession sets the session cookie if tokens has a session. It is for logins whose response
// another package writes.
func (h *HTTP) StartSession(ctx context.Context, tokens Tokens, grant Grant) {
	h.startSession(ctx, tokens, grant)
}
