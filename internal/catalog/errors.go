package catalog

import "github.com/tenantry/tenantry/internal/fault"

// ErrNotFound says that there is no such product, plan, price, feature or
// currency. A caller to whom it is a field of a body makes it a refusal of that
// field.
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")
