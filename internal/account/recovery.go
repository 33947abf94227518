package account

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/limit"
	"github.com/tenantry/tenantry/internal/mail"
)

// resetLifetime is how long a reset token works.
const resetLifetime = 60 * time.Minute

// JobForgot is the kind of the jobs that mail a link for a forgotten password (see
// Service.HandleForgot).
const JobForgot = "account.forgot-password"

// noticeMailer sends the mails about accounts, in the locale of the reader.
type noticeMailer interface {
	// PasswordReset mails the link with the token.
	PasswordReset(ctx context.Context, locale, to, name, token string) error
	// PasswordChanged tells the owner of an account that its password was changed.
	PasswordChanged(ctx context.Context, locale, to, name string) error
	// Welcome greets a new user, where the operator asks for it.
	Welcome(ctx context.Context, locale, to, name string) error
}

type forgotten struct {
	Email  string `json:"email"`
	Locale string `json:"locale"` // that the request asked for; "" for none
}

// ForgotPassword has a reset link mailed to an email, if it has an account. The
// caller cannot tell whether it has one: that is looked up in the background, so that
// both cases take the same time.
func (s *Service) ForgotPassword(ctx context.Context, email string) error {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		return nil //nolint:nilerr // no account has such an email, which is no error here
	}
	if s.deps.Limiter != nil && !s.deps.Limiter.Allow(ctx, limit.AccountMail, normalized).Allowed {
		return nil // the answer stays the same
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.deps.Jobs.Enqueue(ctx, JobForgot, forgotten{Email: normalized, Locale: i18n.RequestedLocale(ctx)})
	})
}

// HandleForgot is the handler of JobForgot: it creates a reset token and mails it.
// If it runs again it creates another token, and only the newest is valid.
func (s *Service) HandleForgot(ctx context.Context, job jobs.Job) error {
	var f forgotten
	if err := job.Decode(&f); err != nil {
		return err
	}
	user, _, err := s.store.userByEmail(ctx, f.Email)
	if errors.Is(err, errNoUser) {
		return nil
	}
	if err != nil {
		return err
	}
	token := newRefreshToken()
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		if _, err := s.lock(ctx, user.ID); err != nil {
			return err
		}
		if err := s.store.putReset(ctx, user.ID, token, s.deps.Clock.Now()); err != nil {
			return err
		}
		locale, err := s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, cmp.Or(f.Locale, i18n.Default))
		if err != nil {
			return err
		}
		return s.deps.Notices.PasswordReset(ctx, locale, user.Email, user.Name, token)
	})
}

// passwordReset is what somebody sends who has got the mail.
type passwordReset struct {
	Email, Token, Password string
	// KeepTenant says that the tenant of an account whose email was never verified is the
	// person's own. Nobody but the person knows.
	KeepTenant bool
}

// ResetPassword sets a new password with the token from a mail and ends every
// credential and provider identity of the user. Where the email was not verified before, it also takes the
// account from whoever registered it (see claim). A token works once. Unknown, used and expired tokens and
// those for another email get the same refusal (400).
func (s *Service) ResetPassword(ctx context.Context, r passwordReset) error {
	normalized, err := mail.NormalizeAddress(r.Email)
	if err != nil {
		return errResetToken
	}
	hash, err := s.deps.Passwords.HashNew(ctx, r.Password)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		user, err := s.lockByVerifiedEmail(ctx, normalized)
		if errors.Is(err, errNoUser) {
			return errResetToken
		}
		if err != nil {
			return err
		}
		now := s.deps.Clock.Now()
		if err := s.store.takeReset(ctx, user.ID, r.Token, now); err != nil {
			return err
		}
		if err := s.replacePassword(ctx, user.ID, hash, now); err != nil {
			return err
		}
		if err := s.store.clearGuesses(ctx, normalized); err != nil {
			return err
		}
		// A former owner of the address may have linked an identity of their own.
		if err := s.removeIdentities(ctx, user.ID); err != nil {
			return err
		}
		if !user.verified {
			if err := s.claim(ctx, user.ID, r.KeepTenant, now); err != nil {
				return err
			}
		}
		if err := s.Record(ctx, user.ID, "password.reset", nil, nil); err != nil {
			return err
		}
		return s.mailPasswordChanged(ctx, user.User)
	})
}

// mailPasswordChanged mails a user that their password has changed.
func (s *Service) mailPasswordChanged(ctx context.Context, user User) error {
	locale, err := s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, i18n.Locale(ctx))
	if err != nil {
		return err
	}
	return s.deps.Notices.PasswordChanged(ctx, locale, user.Email, user.Name)
}
