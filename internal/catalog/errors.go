package catalog

import "github.com/tenantry/tenantry/internal/fault"

// ErrNotFound means that the product, plan, price, feature or currency does not exist. If a field
// of the request body referred to it, callers report that field as invalid instead.
var ErrNotFound = fault.New(fault.NotFound, "error.not_found")

// errForbidden means that the admin lacks a permission for part of a change.
var errForbidden = fault.New(fault.Forbidden, "error.forbidden")

// errInUse means that an active subscription depends on the record, which therefore cannot be
// deleted or changed in a way that alters the subscription's price.
var errInUse = fault.NewCoded(fault.Conflict, fault.CatalogInUse)

// errDefaultPlan is errInUse for the default plan, which applies to tenants without a subscription.
var errDefaultPlan = func() *fault.Error {
	e := fault.NewCoded(fault.Conflict, fault.CatalogInUse)
	e.Message = "error.default_plan_in_use"
	return e
}()

// errSystemFeature means that the feature is required by the service and cannot be deleted
// (rules: catalog#features).
var errSystemFeature = fault.New(fault.Forbidden, "error.system_feature")
