package authz

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tenantry/tenantry/internal/rest/shape"
)

// Origin identifies the caller and the source of a request. It is stored with deferred work, and
// holds only the data that an audit log needs.
type Origin struct {
	UserID int64 `json:"user_id,omitzero"` // 0 for background jobs
	// ImpersonatorID is the platform admin who impersonated the user, or 0.
	ImpersonatorID int64 `json:"impersonator_id,omitzero"`
	// Reason is the reason of the impersonation, or nil.
	Reason *string `json:"impersonation_reason,omitempty"`
	// KeyID is the API key of the request, or Nil for a user.
	KeyID uuid.UUID `json:"key_id,omitzero"`
	// Name is the name of the key, the impersonator or the user. IsPlatform means that the caller is a
	// platform admin or a platform key.
	Name       string `json:"name,omitzero"`
	IsPlatform bool   `json:"is_platform,omitzero"`
	IP         string `json:"ip,omitzero"`
	UserAgent  string `json:"user_agent,omitzero"`
}

// OriginOf returns the origin of the work done in ctx.
func OriginOf(ctx context.Context) Origin {
	source := SourceOf(ctx)
	o := Origin{IP: source.IP, UserAgent: source.UserAgent}
	if c := FromContext(ctx); c != nil {
		o.UserID, o.Name, o.IsPlatform = c.UserID, AuthorOf(ctx).Name, c.ActsForPlatform()
		if c.Key != nil {
			o.KeyID = c.Key.ID
		}
		if c.Impersonator != nil {
			o.ImpersonatorID, o.Reason = c.Impersonator.UserID, c.Impersonator.Reason
		}
	}
	return o
}

// NewContext returns a context with this origin. The caller in it only identifies the origin and
// lacks all permissions.
func (o Origin) NewContext(ctx context.Context) context.Context {
	ctx = WithSource(ctx, Source{IP: o.IP, UserAgent: o.UserAgent})
	if o.UserID == 0 && o.KeyID == uuid.Nil {
		return With(ctx, nil)
	}
	c := &Caller{UserID: o.UserID}
	if o.KeyID != uuid.Nil {
		c.Key = &Key{ID: o.KeyID}
	}
	if o.ImpersonatorID != 0 {
		c.Impersonator = &Impersonator{UserID: o.ImpersonatorID, Reason: o.Reason}
	}
	return With(ctx, c)
}

// CallerOf returns the origin of the work done in ctx, without the source of its request, or nil
// without a caller. It is stored with objects that show their author.
func CallerOf(ctx context.Context) *Origin { return OriginOf(ctx).Caller() }

// Caller returns the origin without the source of the request, or nil without a caller.
func (o Origin) Caller() *Origin {
	if o.UserID == 0 && o.KeyID == uuid.Nil {
		return nil
	}
	o.IP, o.UserAgent, o.Reason = "", "", nil
	return &o
}

// Actor identifies the user or API key that made a change. During an impersonation, it identifies
// the admin. It is empty without a caller.
func (o Origin) Actor() string {
	switch {
	case o.KeyID != uuid.Nil:
		return "key:" + o.KeyID.String()
	case o.ImpersonatorID != 0:
		return "user:" + strconv.FormatInt(o.ImpersonatorID, 10)
	case o.UserID != 0:
		return "user:" + strconv.FormatInt(o.UserID, 10)
	}
	return ""
}

// ChangeAuthor is the author of a change as the API shows it.
type ChangeAuthor struct {
	Type string     `json:"type" enum:"user,api_key,platform" doc:"platform stands for a platform admin or a platform key, which are not named to tenants."`
	ID   OptionalID `json:"id" doc:"ID of the user (an integer) or of the API key (a UUID). Null for platform."`
	Name *string    `json:"name" doc:"The name when the change was made. Null for platform."`
}

// OptionalID is an AuthorID that can be missing.
type OptionalID string

// MarshalJSON writes an integer as a number, a UUID as a string, and a missing ID as null.
func (id OptionalID) MarshalJSON() ([]byte, error) {
	if id == "" {
		return []byte("null"), nil
	}
	return AuthorID(id).MarshalJSON()
}

// Schema returns the schema of the type.
func (OptionalID) Schema(*shape.Registry) *shape.Schema {
	return &shape.Schema{OneOf: []*shape.Schema{{Type: shape.TypeInteger}, {Type: shape.TypeString, Format: "uuid", Nullable: true}}}
}

// Author returns the caller as the author of a change, or nil without a caller. For tenants, it
// does not name admins and keys of the platform.
func (o *Origin) Author(forPlatform bool) *ChangeAuthor {
	if o == nil {
		return nil
	}
	if o.IsPlatform && !forPlatform {
		return &ChangeAuthor{Type: "platform"}
	}
	kind, id, _ := strings.Cut(o.Actor(), ":")
	if kind == "key" {
		kind = "api_key"
	}
	return &ChangeAuthor{Type: kind, ID: OptionalID(id), Name: &o.Name}
}
