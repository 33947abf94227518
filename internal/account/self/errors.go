package self

import "github.com/tenantry/tenantry/internal/fault"

var (
	errToken    = fault.New(fault.Malformed, "error.verification_token")
	errNotFound = fault.New(fault.NotFound, "error.not_found")
)
