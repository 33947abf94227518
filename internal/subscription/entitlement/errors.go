package entitlement

import "errors"

var (
	// ErrNone means that the tenant has no subscription that grants features.
	ErrNone = errors.New("the tenant has no subscription that grants features")
	// errNoQuota means that the tenant's plan does not limit the feature.
	errNoQuota = errors.New("the plan has no quota of the feature")
)
