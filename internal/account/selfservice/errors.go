package selfservice

import "github.com/tenantry/tenantry/internal/fault"

var (
	errToken           = fault.New(fault.Malformed, "error.verification_token")
	errLastLoginMethod = fault.NewCoded(fault.Conflict, fault.LastLoginMethod)
	errIdentityManaged = fault.NewCoded(fault.Conflict, fault.IdentityManaged)
	errNotFound        = fault.New(fault.NotFound, "error.not_found")
)
