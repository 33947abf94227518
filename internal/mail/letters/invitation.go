package letters

import (
	"context"
	"time"
)

// Invitation is the content of the mail for an invitation.
type Invitation struct {
	Token     string
	Tenant    string // its name
	Inviter   string // the name of the inviter; may be empty
	Role      string // its name; the built-in ones are translated
	ExpiresAt time.Time
}

// Invitation sends an invitation to join a tenant.
func (l *Letters) Invitation(ctx context.Context, locale, to string, i Invitation) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "invitation", to: to, link: l.pages().Invitation(i.Token),
		ours:   map[string]string{"expires": in.Instant(i.ExpiresAt)},
		theirs: map[string]string{"tenant": i.Tenant, "inviter": i.Inviter, "role": in.role(i.Role)},
	})
}
