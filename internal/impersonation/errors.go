package impersonation

import "github.com/tenantry/tenantry/internal/fault"

// The guard rails of start, in the order in which they are checked (spec:
// Impersonation endpoints). All answer 400.
var (
	errSelf      = fault.New(fault.Malformed, "error.impersonate_self")
	errNotAdmin  = fault.New(fault.Malformed, "error.impersonate_not_admin")
	errAdmin     = fault.New(fault.Malformed, "error.impersonate_admin")
	errActive    = fault.New(fault.Malformed, "error.impersonate_active")
	errNotMember = fault.New(fault.Malformed, "error.impersonate_not_member")
)

var (
	errUnauthenticated  = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errNotImpersonating = fault.New(fault.Malformed, "error.not_impersonating")
)
