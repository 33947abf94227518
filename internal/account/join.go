package account

import (
	"context"
	"errors"
)

// IsEmailTaken tells whether a registration failed because the email has an
// account already.
func IsEmailTaken(err error) bool { return errors.Is(err, errEmailTaken) }

// NewSecret returns 64 random letters and digits, for a link that is mailed.
func NewSecret() string { return newRefreshToken() }

// HashSecret is the form in which a secret is stored: the hex SHA-256.
func HashSecret(secret string) string { return hashToken(secret) }

// GrantOf is what a login hands out to whoever made the request of ctx: a
// session in cookie mode, else tokens.
func GrantOf(ctx context.Context) Grant { return grantOf(ctx, false) }

// SessionOf is the answer of a login: in cookie mode the browser behind ctx gets
// the session as a cookie, else the tokens are in it.
func (h *HTTP) SessionOf(ctx context.Context, user User, tokens Tokens, grant Grant) (Session, error) {
	shown, err := h.sessionUser(ctx, user)
	if err != nil {
		return Session{}, err
	}
	h.startSession(ctx, tokens, grant)
	return Session{User: shown, AccessToken: tokens.Access, RefreshToken: tokens.Refresh}, nil
}

// StartSession gives the browser behind ctx the session among tokens, if there is
// one. It is for logins that another domain answers.
func (h *HTTP) StartSession(ctx context.Context, tokens Tokens, grant Grant) {
	h.startSession(ctx, tokens, grant)
}
