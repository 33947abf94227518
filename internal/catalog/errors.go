package catalog

import "github.com/tenantry/tenantry/internal/fault"

// ErrNotFound says that there is no such product, plan, price, feature or
// currency. A caller to whom it is a field of a body makes it a refusal of that
// field.
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// ErrInUse refuses to delete what a subscription that is not over depends on, or
// to change it in a way that would change what such a subscription pays for.
var ErrInUse = fault.Coded(fault.Conflict, fault.CatalogInUse)

// ErrSystemFeature refuses to delete a feature that the service relies on (spec:
// Other error statuses).
var ErrSystemFeature = fault.New(fault.Forbidden, "error.system_feature")
