package authz

import "context"

// Origin is who asked for something and from where, kept with what is done later:
// no more than a trail needs.
type Origin struct {
	UserID int64 `json:"user_id,omitzero"` // 0 for background work
	// ImpersonatorID is the platform admin who acted as the user, 0 for none.
	ImpersonatorID int64  `json:"impersonator_id,omitzero"`
	IP             string `json:"ip,omitzero"`
	UserAgent      string `json:"user_agent,omitzero"`
}

// OriginOf is the origin of what ctx asks for.
func OriginOf(ctx context.Context) Origin {
	source := SourceOf(ctx)
	o := Origin{IP: source.IP, UserAgent: source.UserAgent}
	if c := From(ctx); c != nil {
		o.UserID = c.UserID
		if c.Impersonator != nil {
			o.ImpersonatorID = c.Impersonator.UserID
		}
	}
	return o
}

// In returns a context with the origin instead of its own. Its caller has no
// permissions: it is for naming who asked, not for letting them in.
func (o Origin) In(ctx context.Context) context.Context {
	ctx = WithSource(ctx, Source{IP: o.IP, UserAgent: o.UserAgent})
	if o.UserID == 0 {
		return With(ctx, nil)
	}
	c := &Caller{UserID: o.UserID}
	if o.ImpersonatorID != 0 {
		c.Impersonator = &Impersonator{UserID: o.ImpersonatorID}
	}
	return With(ctx, c)
}
