package entitlement

import "errors"

var (
	// ErrNone says that a tenant has no subscription that grants features.
	ErrNone = errors.New("the tenant has no subscription that grants features")
	// errNoQuota says that a tenant's plan has no quota of a feature.
	errNoQuota = errors.New("the plan has no quota of the feature")
)
