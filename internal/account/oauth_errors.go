package account

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/oauth2"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errUnknownProvider = fault.New(fault.NotFound, "error.not_found")
	errOAuthCode       = fault.Coded(fault.Malformed, fault.OAuthCodeExpired)
)

// oauthError is why a login at a provider failed, as the frontend is told in the
// query parameter error of its callback page.
type oauthError string

// Error gives the reason.
func (e oauthError) Error() string { return string(e) }

// Why a login at a provider failed.
const (
	// errAccessDenied: the person refused.
	errAccessDenied oauthError = "access_denied"
	// errInvalidState: the login was begun in another browser, more than ten
	// minutes ago or not at all, or it was finished before.
	errInvalidState oauthError = "invalid_state"
	// errEmailUnverified: the provider does not vouch for the person's email, or
	// it is none that the service accepts.
	errEmailUnverified oauthError = "email_unverified"
	// errProvider: the provider cannot be reached, or what it says cannot be
	// believed.
	errProvider oauthError = "provider_error"
	// errServer: the fault is here.
	errServer oauthError = "server_error"
)

// longestReason bounds what the log repeats of a provider's words, in bytes.
const longestReason = 300

// describeOAuth is what the log says of an error. Of a provider's refusal to
// hand out tokens it has the code alone: the rest of that answer may be anything.
func describeOAuth(err error) string {
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
