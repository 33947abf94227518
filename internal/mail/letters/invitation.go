package letters

import (
	"context"
	"time"
)

// Invitation is the content of the invitation mail.
type Invitation struct {
	Token     string
	Tenant    string // name
	Inviter   string // name; can be empty
	Role      string // name; built-in names are translated
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
