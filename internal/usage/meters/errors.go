package meters

import "github.com/tenantry/tenantry/internal/fault"

// What administrators can be refused for.
var (
	errNoSuchMeter = fault.New(fault.NotFound, "error.not_found")
	errCodeTaken   = fault.OnField("code", "validation.taken")
)
