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

// resetLifetime is how long a password reset token is valid.
const resetLifetime = 60 * time.Minute

// The kinds of jobs.
const (
	JobForgot    = "account.forgot-password" // mails a password reset link (see Service.HandleForgot)
	JobEmailCode = "account.email-code"      // mails a login code (see Service.HandleEmailCode)
)

// noticeMailer sends mail about accounts, in the language of the recipient.
type noticeMailer interface {
	// PasswordReset mails a reset link with the token.
	PasswordReset(ctx context.Context, locale, to, name, token string) error
	// NewOwner mails the link with which the owner of a new tenant sets their first password.
	NewOwner(ctx context.Context, locale, to, name, tenant, token string, expires time.Time) error
	// EmailCode mails a code to log in with.
	EmailCode(ctx context.Context, locale, to, name, code string) error
	// PasswordChanged notifies the user that their password was changed.
	PasswordChanged(ctx context.Context, locale, to, name string) error
	// NewLogin notifies the user of a login from a new browser or network, if the operator has
	// enabled that mail.
	NewLogin(ctx context.Context, locale, to, name, browser, ip string) error
	// Welcome welcomes a new user, if the operator has enabled that mail.
	Welcome(ctx context.Context, locale, to, name string) error
}

type forgotRequest struct {
	Email  string `json:"email"`
	Locale string `json:"locale"` // requested language; "" if none
}

// ForgotPassword mails a reset link if an account uses the email. The response does not reveal
// whether there is such an account: the lookup runs in the background, so both cases take the same
// time.
func (s *Service) ForgotPassword(ctx context.Context, email string) error {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		return nil //nolint:nilerr // treated like an unknown email
	}
	if s.deps.Limiter != nil && !s.deps.Limiter.Allow(ctx, limit.AccountMail, normalized).Allowed {
		return nil // the response stays the same
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.deps.Jobs.Enqueue(ctx, JobForgot, forgotRequest{Email: normalized, Locale: i18n.RequestedLocale(ctx)})
	})
}

// HandleForgot handles JobForgot. It creates a reset token and mails it. A retry creates another
// token, and only the newest token is valid.
func (s *Service) HandleForgot(ctx context.Context, job jobs.Job) error {
	var f forgotRequest
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
		present, err := s.lock(ctx, user.ID)
		if errors.Is(err, errNoUser) || err == nil && present.Email != f.Email { // deleted or changed since
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.store.putReset(ctx, user.ID, token, s.deps.Clock.Now(), resetLifetime); err != nil {
			return err
		}
		locale, err := s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, cmp.Or(f.Locale, i18n.Default))
		if err != nil {
			return err
		}
		return s.deps.Notices.PasswordReset(ctx, locale, user.Email, user.Name, token)
	})
}

// passwordReset is a request to set a new password with a token from a mail.
type passwordReset struct {
	Email, Token, Password string
	// KeepTenant means that an account whose email was never verified keeps its tenant. Only the
	// user knows whether the tenant is theirs.
	KeepTenant bool
}

// ResetPassword sets a new password with the token from a mail. It ends all credentials of the user
// and removes all provider identities. If the email was not verified before, it also removes the
// access of the person who registered it (see claim). A token works once. Unknown, used and expired
// tokens, and tokens for another email, return the same error (400).
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
		// A former owner of the address may have linked their own identity.
		if err := s.removeIdentities(ctx, user.ID); err != nil {
			return err
		}
		if !user.verified {
			if err := s.transferToEmailOwner(ctx, user.ID, r.KeepTenant, now); err != nil {
				return err
			}
		}
		if err := s.Record(ctx, user.ID, "password.reset", nil, nil); err != nil {
			return err
		}
		return s.mailPasswordChanged(ctx, user.User)
	})
}

// mailPasswordChanged notifies a user that their password has changed.
func (s *Service) mailPasswordChanged(ctx context.Context, user User) error {
	locale, err := s.deps.Tenants.LocaleOf(ctx, user.ID, user.Locale, i18n.Locale(ctx))
	if err != nil {
		return err
	}
	return s.deps.Notices.PasswordChanged(ctx, locale, user.Email, user.Name)
}
