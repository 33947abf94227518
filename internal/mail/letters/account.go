package letters

import (
	"context"
	"strconv"
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

// EmailCode sends a code to log in with. The mail contains no link, so that users get used to entering
// the code where they requested it, and says that the code is valid for 10 minutes (rules:
// account#email-codes).
func (l *Letters) EmailCode(ctx context.Context, locale, to, name, code string) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "email_code", to: to,
		theirs: map[string]string{"name": name, "code": code}, // never in the subject, which lock screens show
	})
}

// NewOwner sends the link to choose a first password to the owner of a tenant that the platform has
// created (rules: tenant#provisioning). Without password logins, the link leads to the sign-in page
// and does not expire.
func (l *Letters) NewOwner(ctx context.Context, locale, to, name, tenant, token string, expires time.Time) error {
	in := l.locale(locale)
	until := in.Instant(expires)
	if l.config.Passwordless { // the mail contains no token
		until = ""
	}
	return l.send(ctx, in, letter{
		key: "new_owner", to: to, link: l.passwordURL(frontend.ResetPassword, "token", token, "email", to),
		ours:   map[string]string{"expires": until},
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
		key: "email_change", to: to, link: l.passwordURL(frontend.ForgotPassword),
		theirs: map[string]string{"name": name},
	})
}

// PasswordChanged notifies a user that their password was changed and that other sessions have ended,
// and explains what to do if they did not change it.
func (l *Letters) PasswordChanged(ctx context.Context, locale, to, name string) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "password_changed", to: to, link: l.passwordURL(frontend.ForgotPassword),
		ours:   map[string]string{"time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": name},
	})
}

// SSOExemptLogin is the content of the mail about a login of an owner without single sign-on.
type SSOExemptLogin struct {
	Name   string // of the owner
	Tenant string // name
	At     time.Time
	IP     string // can be empty
}

// SSOExemptLogin notifies an owner that they have logged in without the single sign-on that their
// organization requires, and explains what to do if they did not.
func (l *Letters) SSOExemptLogin(ctx context.Context, locale, to string, e SSOExemptLogin) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "sso_exempt_login", to: to, link: l.passwordURL(frontend.ForgotPassword),
		ours:   map[string]string{"time": in.Instant(e.At), "ip": e.IP},
		theirs: map[string]string{"name": e.Name, "tenant": e.Tenant},
	})
}

// DomainLost is the content of the mail about a lost domain.
type DomainLost struct {
	Tenant        string // name
	Domain        string
	Record, Value string // the DNS record that was not found
}

// DomainLost notifies an owner that the organization lost a verified domain.
func (l *Letters) DomainLost(ctx context.Context, locale, to string, d DomainLost) error {
	return l.send(ctx, l.locale(locale), letter{
		key: "domain_lost", to: to, link: l.config.FrontendURL + "/",
		ours:   map[string]string{"value": d.Value},
		theirs: map[string]string{"tenant": d.Tenant},
		// The tenant controlled the domain, so it is shown unchanged.
		addresses: map[string]string{"domain": d.Domain, "record": d.Record},
	})
}

// FactorAdded notifies a user of a new second factor. kind is totp or passkey; for a passkey,
// passkey is its name.
func (l *Letters) FactorAdded(ctx context.Context, locale, to, name, kind, passkey string) error {
	return l.factor(ctx, "factor_added", locale, to, name, kind, passkey)
}

// FactorRemoved notifies a user that a second factor was removed. kind is totp, passkey, or all if
// an administrator has removed all factors.
func (l *Letters) FactorRemoved(ctx context.Context, locale, to, name, kind, passkey string) error {
	return l.factor(ctx, "factor_removed", locale, to, name, kind, passkey)
}

func (l *Letters) factor(ctx context.Context, key, locale, to, name, kind, passkey string) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: key, to: to, link: l.passwordURL(frontend.ForgotPassword),
		ours:   map[string]string{"factor": in.Factors[kind], "time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": name, "passkey": passkey},
	})
}

// RecoveryCodesGenerated notifies a user that new recovery codes have replaced the old ones.
func (l *Letters) RecoveryCodesGenerated(ctx context.Context, locale, to, name string) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "recovery_codes_generated", to: to, link: l.passwordURL(frontend.ForgotPassword),
		ours:   map[string]string{"time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": name},
	})
}

// RecoveryCodesLow notifies a user that they have used a recovery code and that few unused codes
// are left.
func (l *Letters) RecoveryCodesLow(ctx context.Context, locale, to, name string, remaining int64) error {
	in := l.locale(locale)
	return l.send(ctx, in, letter{
		key: "recovery_codes_low", to: to, link: l.passwordURL(frontend.ForgotPassword),
		ours:   map[string]string{"remaining": strconv.FormatInt(remaining, 10), "time": in.Instant(l.config.Clock.Now())},
		theirs: map[string]string{"name": name},
	})
}
