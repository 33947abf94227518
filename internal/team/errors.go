package team

import (
	"errors"

	"github.com/tenantry/tenantry/internal/fault"
)

// errInNoTenant means that no user with the email belongs to a tenant.
var errInNoTenant = errors.New("the email does not belong to a member of a tenant")

// Errors that reject a request.
var (
	// ErrNotMember means that the user is not in the tenant (404).
	ErrNotMember       = fault.New(fault.NotFound, "error.not_found")
	errNotPermitted    = fault.New(fault.Forbidden, "error.forbidden")
	errNotInScope      = fault.NewCoded(fault.Forbidden, fault.InsufficientScope)
	errOwnMembership   = fault.New(fault.Forbidden, "error.own_membership")
	errOwnerMembership = fault.New(fault.Forbidden, "error.owner_membership")

	errOwnerLeaves = fault.New(fault.Forbidden, "error.owner_leaves")
	errNotOwner    = fault.New(fault.Forbidden, "error.owner_only")
	errNoMember    = fault.OnField("user_id", "validation.exists")
	errOtherMember = fault.OnField("user_id", "validation.other_member")
	errNoOwner     = fault.OnField("user_id", "validation.first_owner")

	errNoRole       = fault.New(fault.NotFound, "error.not_found")
	errBuiltInRole  = fault.New(fault.Forbidden, "error.built_in_role")
	errStronger     = fault.New(fault.Forbidden, "error.stronger_role")
	errNotHeld      = fault.New(fault.Forbidden, "error.grant_not_held")
	errNameTaken    = fault.OnField("name", "validation.taken")
	errTooManyRoles = error(&fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "name", Message: "validation.roles_limit", Args: map[string]any{"max": maxRoles},
	}}})
	errUnknownID   = fault.OnField("role_id", "validation.exists")
	errUnknownRole = fault.OnField("role", "validation.exists")

	errMayNotInvite   = fault.NewCoded(fault.Forbidden, fault.InsufficientPermissions)
	errNoInvitation   = fault.NewCoded(fault.NotFound, fault.InvitationNotFound)
	errRevoked        = fault.NewCoded(fault.Gone, fault.InvitationRevoked)
	errAccepted       = fault.NewCoded(fault.Gone, fault.InvitationAlreadyAccepted)
	errExpired        = fault.NewCoded(fault.Gone, fault.InvitationExpired)
	errOtherEmail     = fault.NewCoded(fault.Forbidden, fault.EmailMismatch)
	errAlreadyMember  = fault.NewCoded(fault.Conflict, fault.AlreadyMember)
	errAlreadyInvited = fault.NewCoded(fault.Conflict, fault.AlreadyInvited)
	errAccountExists  = fault.NewCoded(fault.Conflict, fault.AccountAlreadyExists)
	errNoSeat         = fault.NewCoded(fault.Invalid, fault.SeatLimitReached)
)
