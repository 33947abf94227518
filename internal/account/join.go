package account

import "context"

// NewSecret returns 64 random letters and digits, for a link in a mail.
func NewSecret() string { return newRefreshToken() }

// HashSecret returns the form in which a random secret is stored: its SHA-256, in hex.
func HashSecret(secret string) string { return hashToken(secret) }

// GrantOf returns what a login is to hand out to whoever made the request of ctx: a
// session in cookie mode, else tokens.
func GrantOf(ctx context.Context) Grant { return grantOf(ctx, false) }

// SessionOf returns the answer of a login, with the tokens in it. In cookie mode there
// are none, and the session is set as a cookie of the browser behind ctx.
func (h *HTTP) SessionOf(ctx context.Context, user User, tokens Tokens, grant Grant) (Session, error) {
	shown, err := h.svc.sessionUser(ctx, user)
	if err != nil {
		return Session{}, err
	}
	h.startSession(ctx, tokens, grant)
	return Session{User: shown, AccessToken: tokens.Access, RefreshToken: tokens.Refresh}, nil
}

// StartSession sets the session among tokens, if there is one, as a cookie of the
// browser behind ctx. It is for logins that another domain answers.
func (h *HTTP) StartSession(ctx context.Context, tokens Tokens, grant Grant) {
	h.startSession(ctx, tokens, grant)
}
