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

	// ErrUnknownScope means that a list contains an unknown scope. The CLI checks for it. Over
	// HTTP, errScopes also reports which scopes are unknown.
	ErrUnknownScope = errors.New("unknown scope")
)

func errTooManyKeys(field string) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: field, Message: "validation.api_keys_limit", Args: map[string]any{"max": maxKeys},
	}}}
}

// errPlatformScopes returns an error for a tenant key with a scope that only platform keys can have.
func errPlatformScopes(known []string) error {
	return &fault.Error{Kind: fault.Invalid, Fields: []fault.Field{{
		Path: "scopes", Message: "validation.enum", Args: map[string]any{"values": strings.Join(known, ", ")},
	}}}
}

// errScopes returns an error that marks the scopes at the given indices as unknown.
func errScopes(indices []int, known []string) error {
	refusal := &fault.Error{Kind: fault.Invalid}
	for _, i := range indices {
		refusal.Fields = append(refusal.Fields, fault.Field{
			Path: "scopes." + strconv.Itoa(i), Message: "validation.enum", Args: map[string]any{"values": strings.Join(known, ", ")},
		})
	}
	return refusal.Wrap(ErrUnknownScope)
}
