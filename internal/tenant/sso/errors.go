package sso

import (
	"slices"

	"github.com/tenantry/tenantry/internal/account/oauth"
	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errNotFound     = fault.New(fault.NotFound, "error.not_found")
	errNotAvailable = fault.NewCoded(fault.NotFound, fault.SSONotAvailable)
	errEnded        = fault.New(fault.Unauthenticated, "error.unauthenticated") // the link was removed
	errNotInPlan    = fault.NewCoded(fault.Forbidden, fault.FeatureNotInPlan)

	errIssuer    = fault.OnField("issuer", "validation.issuer")
	errDiscovery = fault.OnField("issuer", "validation.issuer_discovery")
	errSecret    = fault.OnField("client_secret", "validation.required")
	errRequired  = fault.OnField("required", "validation.sso_required")
	errEmail     = fault.OnField("email", "validation.email")
)

// The reasons why a login fails.
const (
	errAccessDenied    oauth.LoginError = "access_denied"
	errInvalidState    oauth.LoginError = "invalid_state"
	errServer          oauth.LoginError = "server_error"
	errProvider        oauth.LoginError = "provider_error"
	errEmailUnverified oauth.LoginError = "email_unverified"
	errElsewhere       oauth.LoginError = "sso_account_elsewhere"
	errDomainMismatch  oauth.LoginError = "sso_domain_mismatch"
	errLinkRefused     oauth.LoginError = "sso_link_refused"
	errNotProvisioned  oauth.LoginError = "sso_not_provisioned"
	errSeatLimit       oauth.LoginError = "seat_limit_reached"
)

// isOfConnection reports whether a reason concerns the connection, and not the browser or this
// service.
func isOfConnection(reason oauth.LoginError) bool {
	return !slices.Contains([]oauth.LoginError{errAccessDenied, errInvalidState, errServer}, reason)
}
