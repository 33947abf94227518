package entitlement

import "errors"

// ErrNone means that neither a subscription nor the default plan grants a tenant features.
var ErrNone = errors.New("no subscription and no default plan grants features")
