package impersonation

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// The errors of Start, in the order in which they are checked (rules: impersonation#guard-rails).
// All of them return 400.
var (
	errSelf      = fault.New(fault.Malformed, "error.impersonate_self")
	errNotAdmin  = fault.New(fault.Malformed, "error.impersonate_not_admin")
	errAdmin     = fault.New(fault.Malformed, "error.impersonate_admin")
	errActive    = fault.New(fault.Malformed, "error.impersonate_active")
	errNotMember = fault.New(fault.Malformed, "error.impersonate_not_member")
)

var (
	errNoReason = fault.OnField("reason", "validation.required")
	// errFactorNeeded means that the admin has a second factor that the login has not passed.
	errFactorNeeded     = fault.NewCoded(fault.Forbidden, fault.MFARequired)
	errForbidden        = fault.New(fault.Forbidden, "error.forbidden")
	errUnauthenticated  = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errNotImpersonating = fault.New(fault.Malformed, "error.not_impersonating")

	errNoCredential = errors.New("the credential does not exist")
	errNoTenant     = errors.New("the tenant does not exist")
	errNoUser       = errors.New("the user does not exist")
)
