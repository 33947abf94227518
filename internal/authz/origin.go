package authz

import (
	"context"

	"github.com/google/uuid"
)

// Origin identifies the caller and the source of a request. It is stored with deferred work, and
// holds only the data that an audit log needs.
type Origin struct {
	UserID int64 `json:"user_id,omitzero"` // 0 for background jobs
	// ImpersonatorID is the platform admin who impersonated the user, or 0.
	ImpersonatorID int64 `json:"impersonator_id,omitzero"`
	// KeyID is the API key of the request, or Nil for a user.
	KeyID     uuid.UUID `json:"key_id,omitzero"`
	IP        string    `json:"ip,omitzero"`
	UserAgent string    `json:"user_agent,omitzero"`
}

// OriginOf returns the origin of the work done in ctx.
func OriginOf(ctx context.Context) Origin {
	source := SourceOf(ctx)
	o := Origin{IP: source.IP, UserAgent: source.UserAgent}
	if c := FromContext(ctx); c != nil {
		o.UserID = c.UserID
		if c.Key != nil {
			o.KeyID = c.Key.ID
		}
		if c.Impersonator != nil {
			o.ImpersonatorID = c.Impersonator.UserID
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
		c.Impersonator = &Impersonator{UserID: o.ImpersonatorID}
	}
	return With(ctx, c)
}
