package letters

import (
	"context"

	"github.com/tenantry/tenantry/internal/frontend"
)

// PasswordReset sends the link with which a user chooses a new password. The mail says
// that the link works for 60 minutes (rules: account#password-reset).
func (l *Letters) PasswordReset(ctx context.Context, locale, to, name, token string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "password_reset", to: to, link: l.pages().PageURL(frontend.ResetPassword, "token", token, "email", to),
		theirs: map[string]string{"name": name},
	})
}

// VerifyEmail sends the link with which a user proves that an email is theirs. The mail says
// which account asks, by its present email, and that the link works for 24 hours (rules:
// account#own-account).
func (l *Letters) VerifyEmail(ctx context.Context, locale, to, name, account, token string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "verify_email", to: to, link: l.pages().PageURL(frontend.VerifyEmail, "token", token),
		theirs:    map[string]string{"name": name},
		addresses: map[string]string{"account": account},
	})
}

// EmailChange tells a user at their present email that somebody has asked for another to
// take its place, and what to do if it was not them.
func (l *Letters) EmailChange(ctx context.Context, locale, to, name string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "email_change", to: to, link: l.pages().PageURL(frontend.ForgotPassword),
		theirs: map[string]string{"name": name},
	})
}

// PasswordChanged tells a user that their password was just changed, that all sessions
// have ended, and what to do if they did not change it.
func (l *Letters) PasswordChanged(ctx context.Context, locale, to, name string) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "password_changed", to: to, link: l.pages().PageURL(frontend.ForgotPassword),
		ours:   map[string]string{"time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": name},
	})
}
