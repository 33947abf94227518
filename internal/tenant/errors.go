package tenant

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	// ErrNotFound means that there is no tenant with the ID (404).
	ErrNotFound = fault.New(fault.NotFound, "error.not_found")
	// ErrInAnotherTenant means that the user already belongs to a tenant (409).
	ErrInAnotherTenant = fault.NewCoded(fault.Conflict, fault.UserInAnotherTenant)

	// ErrNotEmpty means that the tenant has members or records that must be retained (409).
	ErrNotEmpty = fault.NewCoded(fault.Conflict, fault.TenantNotEmpty)

	errNotOwner   = fault.New(fault.Forbidden, "error.owner_only")
	errSubscribed = fault.NewCoded(fault.Conflict, fault.SubscriptionRunning)
	errOwns       = fault.NewCoded(fault.Conflict, fault.OwnsTenant)
	errNotDeleted = fault.NewCoded(fault.Conflict, fault.TenantNotDeleted)

	errSlugTaken  = fault.OnField("slug", "validation.taken")
	errExternalID = fault.OnField("external_id", "validation.taken")
	errHasOwner   = fault.OnField("owner", "validation.has_owner")
	errVATNumber  = fault.OnField("vat_number", "validation.vat_number")

	errNoOwner = errors.New("tenant: no owner")

	errNotLocked = errors.New("tenant: lock outside of a transaction")
)
