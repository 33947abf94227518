package letters

import "context"

// PasswordReset sends the link with which a user chooses a new password. The mail says
// that the link works for 60 minutes (rules: account#password-reset).
func (l *Letters) PasswordReset(ctx context.Context, locale, to, name, token string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "password_reset", to: to, link: l.link("/reset-password", "token", token, "email", to),
		theirs: map[string]string{"name": name},
	})
}

// PasswordChanged tells a user that their password was just changed, that all sessions
// have ended, and what to do if they did not change it.
func (l *Letters) PasswordChanged(ctx context.Context, locale, to, name string) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "password_changed", to: to, link: l.link("/forgot-password"),
		ours:   map[string]string{"time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": name},
	})
}
