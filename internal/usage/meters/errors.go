package meters

import "github.com/tenantry/tenantry/internal/fault"

// Errors returned to administrators.
var (
	errNoSuchMeter = fault.New(fault.NotFound, "error.not_found")
	errSold        = fault.NewCoded(fault.Conflict, fault.CatalogInUse)
	errCodeTaken   = fault.OnField("code", "validation.taken")
)
