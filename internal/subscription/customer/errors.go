package customer

import "errors"

var (
	// ErrNone says that a tenant has no customer at the payment provider.
	ErrNone = errors.New("the tenant has no customer at the payment provider")
	// ErrForeign says that a customer of the payment provider is no tenant's.
	ErrForeign = errors.New("the customer of the payment provider belongs to no tenant")
)
