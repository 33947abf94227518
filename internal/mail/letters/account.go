package letters

import (
	"context"
	"time"

	"github.com/tenantry/tenantry/internal/frontend"
)

// PasswordReset sends the link to choose a new password. The mail says that the link is valid for
// 60 minutes (rules: account#password-reset).
func (l *Letters) PasswordReset(ctx context.Context, locale, to, name, token string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "password_reset", to: to, link: l.pages().PageURL(frontend.ResetPassword, "token", token, "email", to),
		theirs: map[string]string{"name": name},
	})
}

// NewOwner sends the owner of a tenant that the platform created the link to choose a first password
// (rules: tenant#provisioning).
func (l *Letters) NewOwner(ctx context.Context, locale, to, name, tenant, token string, expires time.Time) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "new_owner", to: to, link: l.pages().PageURL(frontend.ResetPassword, "token", token, "email", to),
		ours:   map[string]string{"expires": in.Instant(expires)},
		theirs: map[string]string{"name": name, "tenant": tenant},
	})
}

// VerifyEmail sends the link that verifies an email address. The mail names the requesting account
// by its current email, and says that the link is valid for 24 hours (rules: account#own-account).
func (l *Letters) VerifyEmail(ctx context.Context, locale, to, name, account, token string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "verify_email", to: to, link: l.pages().PageURL(frontend.VerifyEmail, "token", token),
		theirs:    map[string]string{"name": name},
		addresses: map[string]string{"account": account},
	})
}

// EmailChange notifies a user, at their current email, of a request to change it, and explains what
// to do if they did not make the request.
func (l *Letters) EmailChange(ctx context.Context, locale, to, name string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "email_change", to: to, link: l.pages().PageURL(frontend.ForgotPassword),
		theirs: map[string]string{"name": name},
	})
}

// PasswordChanged notifies a user that their password was changed and that all sessions have ended,
// and explains what to do if they did not change it.
func (l *Letters) PasswordChanged(ctx context.Context, locale, to, name string) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "password_changed", to: to, link: l.pages().PageURL(frontend.ForgotPassword),
		ours:   map[string]string{"time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": name},
	})
}
