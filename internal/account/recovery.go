package account

import (
	"context"
	"errors"
	"time"

	"github.com/tenantry/tenantry/internal/account/accountsql"
	"github.com/tenantry/tenantry/internal/i18n"
	"github.com/tenantry/tenantry/internal/jobs"
	"github.com/tenantry/tenantry/internal/mail"
	"github.com/tenantry/tenantry/internal/sqldb"
)

// resetLifetime is how long a reset token works.
const resetLifetime = 60 * time.Minute

// jobForgot is the job behind "forgot password".
const jobForgot = "account.forgot-password"

// Notices are the mails that accounts send, written in the reader's locale.
type Notices interface {
	// PasswordReset has the link with the token.
	PasswordReset(ctx context.Context, locale, to, name, token string) error
	// PasswordChanged tells the owner of an account that its password is new.
	PasswordChanged(ctx context.Context, locale, to, name string) error
}

type forgotten struct {
	Email  string `json:"email"`
	Locale string `json:"locale"`
}

// ForgotPassword has a reset link mailed to an email, if it has an account. The
// caller cannot tell: whether it has is only looked up in the background, so
// that both cost the same time.
func (s *Service) ForgotPassword(ctx context.Context, email string) error {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		return nil //nolint:nilerr // no account has such an email, which is no error here
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		return s.deps.Jobs.Enqueue(ctx, jobForgot, forgotten{Email: normalized, Locale: i18n.Locale(ctx)})
	})
}

// sendReset makes the token of a reset and mails it. A repetition makes another
// token, of which the newest is valid.
func (s *Service) sendReset(ctx context.Context, job jobs.Job) error {
	var f forgotten
	if err := job.Decode(&f); err != nil {
		return err
	}
	user, _, err := s.store.credentials(ctx, f.Email)
	if err != nil || user == nil {
		return err
	}
	token := newRefreshToken()
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		err := s.store.q(ctx).PutPasswordReset(ctx, accountsql.PutPasswordResetParams{
			UserID: user.ID, TokenHash: hashToken(token), ExpiresAt: now.Add(resetLifetime), CreatedAt: now,
		})
		if err != nil {
			return err
		}
		return s.deps.Notices.PasswordReset(ctx, f.Locale, user.Email, user.Name, token)
	})
}

// ResetPassword sets a new password by the token of a mail and ends every
// credential of the user. A token works once; one that is unknown, used,
// expired or of another email is one refusal (400).
func (s *Service) ResetPassword(ctx context.Context, email, token, password string) error {
	normalized, err := mail.NormalizeAddress(email)
	if err != nil {
		return errResetToken
	}
	hash, err := s.deps.Passwords.Hash(ctx, password)
	if err != nil {
		return err
	}
	return s.deps.DB.Tx(ctx, func(ctx context.Context) error {
		now := s.deps.Clock.Now()
		id, err := s.store.q(ctx).TakePasswordReset(ctx, accountsql.TakePasswordResetParams{
			TokenHash: hashToken(token), Now: now, Email: normalized,
		})
		if errors.Is(err, sqldb.ErrNoRows) {
			return errResetToken
		}
		if err != nil {
			return err
		}
		if err := s.store.updatePassword(ctx, id, hash, now); err != nil {
			return err
		}
		if err := s.revokeAll(ctx, id, now); err != nil {
			return err
		}
		// Who has read the mail has the address.
		if err := s.store.q(ctx).VerifyEmail(ctx, accountsql.VerifyEmailParams{ID: id, EmailVerifiedAt: &now}); err != nil {
			return err
		}
		user, err := s.store.user(ctx, id)
		if err != nil {
			return err
		}
		return s.deps.Notices.PasswordChanged(ctx, i18n.Locale(ctx), user.Email, user.Name)
	})
}
