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

// StartSession gives the browser behind ctx the session among tokens, if there is
// one. It is for logins that another domain answers.
func (h *HTTP) StartSession(ctx context.Context, tokens Tokens, grant Grant) {
	h.startSession(ctx, tokens, grant)
}
