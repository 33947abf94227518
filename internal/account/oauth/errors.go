package oauth

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errUnknownProvider = fault.New(fault.NotFound, "error.not_found")
	errCode            = fault.NewCoded(fault.Malformed, fault.OAuthCodeExpired)

	// errNotLinked means that no user has the identity.
	errNotLinked = errors.New("the identity is not linked to a user")
	// errIdentityTaken means that another callback has just linked the identity.
	errIdentityTaken = errors.New("the identity was linked meanwhile")
)

// loginError is why a login at a provider failed, as the frontend is told in the
// query parameter error of its callback page.
type loginError string

// Error returns the reason.
func (e loginError) Error() string { return string(e) }

// Why a login at a provider failed (rules: account#delegated-login).
const (
	// errAccessDenied: the person refused.
	errAccessDenied loginError = "access_denied"
	// errInvalidState: the login was not begun, or was begun in another browser or
	// too long ago, or was finished before.
	errInvalidState loginError = "invalid_state"
	// errEmailUnverified: the provider does not confirm that the email is the
	// person's, or the service does not accept it.
	errEmailUnverified loginError = "email_unverified"
	// errLinkRefused: the email is that of an account to which no identity is ever
	// linked by its email.
	errLinkRefused loginError = "link_refused"
	// errProvider: the provider cannot be reached, or its answer failed a check.
	errProvider loginError = "provider_error"
	// errServer: this service failed.
	errServer loginError = "server_error"
)

// providerError marks an error in what a provider answered as errProvider. The
// frontend is told no more than that; the log has the text.
func providerError(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", errProvider, what, err)
}

// longestReason limits how much of a provider's text the log repeats, in bytes.
const longestReason = 300

// describe returns what the log says of an error. Where a provider refused to hand
// out tokens that is only its error code: the rest of its answer may contain
// anything.
func describe(err error) string {
	var refusal *oauth2.RetrieveError
	if errors.As(err, &refusal) {
		return fmt.Sprintf("%s: the token endpoint answered %q %q", errProvider, refusal.Response.Status, shorten(refusal.ErrorCode))
	}
	return shorten(err.Error())
}

func shorten(text string) string {
	if len(text) > longestReason {
		text = text[:longestReason] + "…"
	}
	return strings.ToValidUTF8(text, "�")
}
