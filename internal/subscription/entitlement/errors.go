package entitlement

import "errors"

var (
	// ErrNone says that neither a subscription nor the default plan grants a tenant features.
	ErrNone = errors.New("no subscription and no default plan grants features")
)
