package apikey

import (
	"errors"
	"strconv"
	"strings"

	"github.com/tenantry/tenantry/internal/fault"
)

var (
	errUnauthenticated = fault.New(fault.Unauthenticated, "error.unauthenticated")
	errRevoked         = fault.NewCoded(fault.Conflict, fault.APIKeyRevoked)
	errNotFound        = fault.New(fault.NotFound, "error.not_found")
	errNotHeld         = fault.New(fault.Forbidden, "error.grant_not_held")

	// ErrUnknownScope says that a list contains something that is not a scope. It is for
	// the command line; callers over HTTP are told which one it is.
	ErrUnknownScope = errors.New("unknown scope")
)

func errTooManyKeys(field string) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: field, Message: "validation.api_keys_limit", Args: map[string]any{"max": maxKeys},
	}}}
}

// errScopes says which scopes of a list are unknown.
func errScopes(indices []int, known []string) error {
	refusal := &fault.Error{Kind: fault.Invalid}
	for _, i := range indices {
		refusal.Fields = append(refusal.Fields, fault.Field{
			Path: "scopes." + strconv.Itoa(i), Message: "validation.enum", Args: map[string]any{"values": strings.Join(known, ", ")},
		})
	}
	return refusal.Wrap(ErrUnknownScope)
}
