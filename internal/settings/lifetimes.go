package settings

import (
	"strconv"
	"time"

	"github.com/tenantry/tenantry/internal/account"
)

// lifetimes reads the lifetimes of tokens, sessions and invitations.
func (p *parser) lifetimes(f LifetimeFlags, s *Settings) {
	l := account.DefaultLifetimes()
	for _, d := range []struct {
		name, given string
		to          *time.Duration
	}{
		{"TENANTRY_ACCESS_TOKEN_LIFETIME", f.AccessTokenLifetime, &l.Access},
		{"TENANTRY_REFRESH_TOKEN_LIFETIME", f.RefreshTokenLifetime, &l.Refresh},
		{"TENANTRY_REFRESH_FAMILY_LIFETIME", f.RefreshFamilyLifetime, &l.Family},
		{"TENANTRY_SESSION_LIFETIME", f.SessionLifetime, &l.Session},
		{"TENANTRY_REMEMBERED_SESSION_LIFETIME", f.RememberedSessionLifetime, &l.Remembered},
	} {
		if d.given == "" {
			continue
		}
		parsed, err := time.ParseDuration(d.given)
		if err != nil || parsed < time.Second || parsed > maxLifetime {
			p.fail(d.name, "%q is not a duration from 1s to %s, such as 90m or 720h", d.given, maxLifetime)
			continue
		}
		*d.to = parsed
	}
	// The absolute lifetime of a session must not be shorter than its idle timeout.
	l.SessionEnd, l.RememberedEnd = max(l.SessionEnd, l.Session), max(l.RememberedEnd, l.Remembered)
	s.Lifetimes = l

	if f.InvitationLifetime != "" {
		days, err := strconv.Atoi(f.InvitationLifetime)
		if err != nil || days < 1 || days > maxInvitationDays {
			p.fail("TENANTRY_INVITATION_LIFETIME", "%q is not a number of days from 1 to %d", f.InvitationLifetime, maxInvitationDays)
			return
		}
		s.InvitationDays = days
	}
}

const (
	maxLifetime       = 10 * 365 * 24 * time.Hour
	maxInvitationDays = 30 // rules: team#invitations
)
