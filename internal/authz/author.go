package authz

import (
	"context"
	"strconv"

	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Author is the user or API key that made a change.
type Author struct {
	Type string   `json:"type" enum:"user,api_key"`
	ID   AuthorID `json:"id" doc:"ID of the user (an integer) or of the API key (a UUID)."`
	Name string   `json:"name" doc:"The name when the change was made."`
}

// ActingAs is the user that a platform admin impersonated during a change, and the reason.
type ActingAs struct {
	ID     int64   `json:"id"`
	Name   string  `json:"name"`
	Reason *string `json:"reason" doc:"Reason of the impersonation. Null if none was given."`
}

// AuthorID is the integer ID of a user, or the UUID of an API key.
type AuthorID string

// MarshalJSON writes an integer as a number, and a UUID as a string.
func (id AuthorID) MarshalJSON() ([]byte, error) {
	if _, err := strconv.ParseInt(string(id), 10, 64); err == nil {
		return []byte(id), nil
	}
	return strconv.AppendQuote(nil, string(id)), nil
}

// Schema returns the schema of the type.
func (AuthorID) Schema(*shape.Registry) *shape.Schema {
	return &shape.Schema{OneOf: []*shape.Schema{{Type: shape.TypeInteger}, {Type: shape.TypeString, Format: "uuid"}}}
}

// AuthorOf returns the caller of a request as the author of a change. It returns the zero Author on
// the command line.
func AuthorOf(ctx context.Context) Author {
	caller := FromContext(ctx)
	switch {
	case caller == nil:
		return Author{}
	case caller.Key != nil:
		return Author{Type: "api_key", ID: AuthorID(caller.Key.ID.String()), Name: caller.Name}
	case caller.Impersonator != nil:
		return Author{Type: "user", ID: AuthorID(strconv.FormatInt(caller.Impersonator.UserID, 10)), Name: caller.Impersonator.Name}
	default:
		return Author{Type: "user", ID: AuthorID(strconv.FormatInt(caller.UserID, 10)), Name: caller.Name}
	}
}
