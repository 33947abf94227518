package domain

import "github.com/tenantry/tenantry/internal/fault"

var (
	errNotFound    = fault.New(fault.NotFound, "error.not_found")
	errTaken       = fault.NewCoded(fault.Conflict, fault.DomainTaken)
	errNotVerified = fault.NewCoded(fault.Invalid, fault.DomainNotVerified)
	errInvalid     = fault.OnField("domain", "validation.domain")
	errPresent     = fault.OnField("domain", "validation.taken")
	errTooMany     = error(&fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "domain", Message: "validation.domains_limit", Args: map[string]any{"max": maxDomains},
	}}})
)
