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

	// errNotLinked means that the identity is not linked to a user.
	errNotLinked = errors.New("the identity is not linked to a user")
	// errIdentityTaken means that a concurrent callback has linked or changed the identity.
	errIdentityTaken = errors.New("the identity was linked concurrently")
)

// LoginError is the reason why a delegated login failed. The frontend receives it in the error
// parameter of its callback page.
type LoginError string

// Error returns the reason.
func (e LoginError) Error() string { return string(e) }

// The reasons why a delegated login fails (rules: account#delegated-login).
const (
	// errAccessDenied means that the user declined.
	errAccessDenied LoginError = "access_denied"
	// errInvalidState means that the login was started in another browser or too long ago, was
	// never started, or is already finished.
	errInvalidState LoginError = "invalid_state"
	// errEmailUnverified means that the provider does not confirm the user's email, or that this
	// service does not accept the address.
	errEmailUnverified LoginError = "email_unverified"
	// errLinkRefused means that the account with the email must not be linked by email.
	errLinkRefused LoginError = "link_refused"
	// errProvider means that the provider is unreachable or sent an invalid response.
	errProvider LoginError = "provider_error"
	// errServer means that this service failed.
	errServer LoginError = "server_error"
)

// providerError wraps an error about a provider's response in errProvider. Only the log contains
// the details, not the response to the frontend.
func providerError(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", errProvider, what, err)
}

// longestReason limits the length of a provider's text in the log, in bytes.
const longestReason = 300

// Describe returns the text of an error for the log. If the token endpoint returned an error, the
// text contains only the status and the error code of the response, because the rest may contain
// anything.
func Describe(err error) string {
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
