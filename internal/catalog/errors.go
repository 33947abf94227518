package catalog

import "github.com/tenantry/tenantry/internal/fault"

// ErrNotFound says that there is no such product, plan, price, feature or currency.
// When it was named by a field of a body, callers refuse that field instead.
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// errForbidden refuses an admin without the permission for a part of a change.
var errForbidden = fault.New(fault.Forbidden, "error.forbidden")

// errInUse refuses to delete what a subscription that has not ended depends on, or to
// change it so that such a subscription would pay for something else.
var errInUse = fault.NewCoded(fault.Conflict, fault.CatalogInUse)

// errSystemFeature refuses to delete a feature that the service itself needs
// (rules: catalog#features).
var errSystemFeature = fault.New(fault.Forbidden, "error.system_feature")
